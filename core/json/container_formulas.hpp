// Formulas about what follows in an array or an object; their atoms are statements about it.
//
// An atom is known by its number.  Beside these, a formula may have conditions on the value that comes next
// (branches.hpp).
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/memoized.hpp"
#include "json/branches.hpp"

namespace tokamata::json {

template <class Tag, class Atom, class AtomHash>
class ContainerFormulas : public Formulas<Tag> {
 public:
  using FormulaId = Id<Tag>;
  using Branches = std::shared_ptr<const counted::vector<Branch<Tag>>>;
  using Formulas<Tag>::Formulas;

  // Of a number that is no condition.  Valid until another atom is made.
  const Atom& atom_at(std::uint32_t number) const { return atoms_[number]; }
  // Null where the formula is not one of the atoms.
  const Atom* atom_of(FormulaId f) const {
    const bool is_atom = this->operation(f) == Operation::Atom && !is_condition(this->atom(f));
    return is_atom ? &atoms_[this->atom(f)] : nullptr;
  }

 protected:
  FormulaId make(const Atom& atom) {
    return this->make_atom(numbered(index_, atom, [&](std::uint32_t number) { put_at(atoms_, number, atom); }));
  }
  // Says that the next value is in a set.
  FormulaId condition(SetId set) {
    if (set == Formulas<SetTag>::kTrue) return this->kTrue;
    if (set == Formulas<SetTag>::kFalse) return this->kFalse;
    return this->make_atom(condition_atom(set));
  }

 private:
  counted::vector<Atom> atoms_;
  counted::unordered_map<Atom, std::uint32_t, AtomHash> index_;
};

}  // namespace tokamata::json
