// The names that may come next in an object: which declared ones, in which order, and which classes of undeclared ones.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "json/rule_references.hpp"

namespace tokamata::json {

// The declared names as they are spelled, sorted; and the least text that follows each.
//
// Where a required name is due (ObjectEnds::Next), a late name is refused at the byte where it leaves the due one:
// the text that is accepted then may still become the due name, which every value has.  But where a name that may come
// has that byte too, the text could become that name alone, and a value without it would be lost.  So after that byte
// late names and undeclared ones may come as well.
// Example.  Due `temp`; `tag` may come, `tact` and undeclared names are late.  After `t` there is `e` for temp and `a`;
// after `ta` every name may go on.  `x` is refused.
struct NameChoice {
  struct Name {
    std::string_view spelled;  // with the byte that ends it
    NameId name;
    std::uint32_t place;
    std::uint32_t length;
    bool is_late;
  };
  // Where plain spellings of names that may come leave the due one: after so many bytes, by a byte.
  struct Fork {
    std::uint32_t shared;
    char byte;
    auto operator<=>(const Fork&) const = default;
  };
  counted::vector<Name> names;
  std::optional<std::uint32_t> due;       // of these names
  counted::vector<Fork> forks;            // sorted
  counted::vector<std::uint32_t> listed;  // where a name is due: those that may be read whole in plain spelling
  // classes of other names that may come, and lengths
  counted::vector<std::pair<std::uint32_t, std::uint32_t>> others;
  bool are_escaped;  // whether they may be spelled in any way, or plainly alone
  // With some name of a class.
  std::uint32_t length_of(std::uint32_t name_class) const {
    for (const auto& [number, length] : others)
      if (number == name_class) return length;
    return 0;
  }
};

// The choices of open objects, each found once.
class NameChoices {
 public:
  explicit NameChoices(RuleContext& context)
      : style_(context.style), sets_(context.sets), tags_(context.tags.get()), open_(context.open) {}

  // Valid until the expressions are forgotten.
  const NameChoice& of(OpenObjectId object, const Work& work);
  // Null if it was not found since.
  const NameChoice* known(OpenObjectId object) const {
    const auto found = choices_.find(object.value);
    return found == choices_.end() ? nullptr : &found->second;
  }
  // Whether what is read may still become the name that is due.
  bool awaits(const DeclaredNameRule& rule, const NameChoice& choice) const;
  void forget_expressions() { release(choices_); }

 private:
  NameChoice find(const OpenObject& object, const Work& work);
  static void set_due(NameChoice& choice, std::uint32_t place);
  // In natural spelling: where one of the names that may come next is escaped by some writer.
  bool are_escaped(const OpenObject& object, const NameChoice& next, const Work& work);

  const Style& style_;
  ValueSets& sets_;
  TaggedMembers* tags_;
  OpenContainers& open_;
  counted::unordered_map<std::uint32_t, NameChoice> choices_;  // by object
};

}  // namespace tokamata::json
