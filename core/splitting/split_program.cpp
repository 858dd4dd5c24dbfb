#include "splitting/split_program.hpp"

#include <stdexcept>
#include <string>

namespace tokamata {

void SplitProgram::check() const {
  using Op = SplitInstruction::Op;
  const auto refuse = [](const char* why) {
    throw std::invalid_argument(std::string("a program that splits texts: ") + why);
  };
  if (code.empty() || code.back().op != Op::Accept) refuse("it does not end with Accept");
  for (const SplitInstruction& one : code) {
    const bool jumps =
        one.op == Op::Fork || one.op == Op::Jump || one.op == Op::Loop || one.op == Op::Again || one.op == Op::Look;
    if (jumps && one.target >= code.size()) refuse("a target is past its end");
    if (one.op == Op::Part && one.number >= leaves.size()) refuse("there is no such leaf");
    if (one.op == Op::Again && code[one.target].op != Op::Loop) refuse("Again leads to no Loop");
    if (one.op == Op::Loop && one.low > one.high) refuse("a repetition has its minimum above its maximum");
  }
}

}  // namespace tokamata
