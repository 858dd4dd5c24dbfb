#include "programs/program.hpp"

#include <stdexcept>
#include <string>

namespace tokamata {

using Op = Instruction::Op;

bool Instruction::has_target() const {
  return op == Op::Fork || op == Op::Jump || op == Op::Loop || op == Op::Again || op == Op::Look;
}

void check(const Program& program, const ProgramLimits& limits) {
  const auto refuse = [](const char* why) { throw std::invalid_argument(std::string("a program: ") + why); };
  if (program.empty() || program.back().op != Op::Accept) refuse("it does not end with Accept");
  for (std::size_t at = 0; at < program.size(); ++at) {
    const Instruction& one = program[at];
    if (!limits.knows(one.op)) refuse("an instruction that what runs it does not know");
    if (one.has_target() && one.target >= program.size()) refuse("a target is past its end");
    if ((one.op == Op::Read || one.op == Op::Run) && one.number >= limits.sets) refuse("there is no such set");
    if (one.op == Op::Part && one.number >= limits.leaves) refuse("there is no such leaf");
    if (one.op == Op::Again && program[one.target].op != (limits.knows(Op::Loop) ? Op::Loop : Op::Fork))
      refuse("Again leads to no repetition");
    if (one.op == Op::Look && one.target <= at + 1) refuse("a lookaround ends before it begins");
    if ((one.op == Op::Loop || one.op == Op::Run) && one.low > one.high)
      refuse("a repetition has its minimum above its maximum");
  }
}

}  // namespace tokamata
