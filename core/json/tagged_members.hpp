// Members between tags: the texts of their values, and how long these are.  The style: tag_style.hpp.  Their rules:
// member_values.hpp.
//
// A set of values has an alternative for some of its types together.  Each has attributes, which follow the name; a
// string is its own text with the closing, any other value is JSON, or stands between tags of its own.
// Which values can be written is a least fixed point (recursion.hpp), as in ValueSets::some_length.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/memory_account.hpp"
#include "json/raw_strings.hpp"
#include "json/tag_style.hpp"
#include "json/value_sets.hpp"

namespace tokamata::json {

class TaggedMembers final : public MemberTexts, public CountedObject {
 public:
  TaggedMembers(std::shared_ptr<const TagStyle> style, ValueSets& sets)
      : style_(std::move(style)), sets_(sets), strings_(sets) {}

  struct Pieces {
    ExpressionId opening, closing, between, before, after;
    counted::vector<ExpressionId> attributes, of_elements;  // by type of the style
  };
  const Pieces& pieces(const Work& work);
  std::uint8_t name_end() const { return style_->name_end; }
  // The bytes of all that is read before the first name.
  std::uint32_t opening_length(const Work& work) { return work.arena.pool().node(pieces(work).opening).spelled; }
  bool has_controls() const { return has_controls_; }
  const ByteSet& first_bytes() const { return first_bytes_; }

  // A declared name as it is written, with the byte that ends it; nothing if it cannot be written.
  std::optional<std::string_view> written(NameId name);
  // What follows the closing of a member of some name.
  ExpressionId after_closing(std::string_view written_name, const Work& work) {
    return style_->after_name.empty() ? Pool::kEpsilon : literal(std::string(written_name) + style_->after_name, work);
  }
  // The same where the name is not known.
  ExpressionId after_closing(const Work& work);
  bool closes_by_name() const { return !style_->after_name.empty(); }
  static constexpr std::string_view kElement = "item";  // the name of elements, where a closing has a name

  // Values of some types of a set.
  struct Alternative {
    std::uint32_t type;  // of the style
    TagStyle::Form form;
    ExpressionId text;  // strings, with the closing
    SetId values;
  };
  using Alternatives = counted::vector<Alternative>;
  // Those of a set that can be written.  Valid until the expressions are forgotten.
  const Alternatives& alternatives(SetId set, const Work& work);

  std::optional<std::uint32_t> length(NameId name, SetId value, const Work& work) override;
  std::optional<std::uint32_t> length_of_other(SetId value, const Work& work) override;
  std::uint32_t least_length(std::optional<NameId> name, const Work& work) override;
  ExpressionId writable(ExpressionId names, const Work& work) override;
  std::uint32_t least_closing(const Work& work) { return work.arena.pool().node(pieces(work).closing).shortest; }
  // Of an element of an array, tags included.
  std::optional<std::uint32_t> element_length(SetId value, const Work& work);

  void forget_expressions();

 private:
  // Of a value with its closing, and the attributes of a member or an element.
  std::optional<std::uint32_t> value_length(SetId value, bool is_element, const Work& work);
  std::optional<std::uint32_t> find_length(SetId value, bool is_element, const Work& work);
  std::optional<std::uint32_t> length_of(const Alternative& one, const Work& work);
  ExpressionId add(const ExpressionPtr& expression, const Work& work) {
    return work.arena.add(*expression, work.budget);
  }
  ExpressionId text(SetId set, std::uint8_t present, const Work& work);
  ExpressionId untrimmed(ExpressionId texts, const Work& work);

  std::shared_ptr<const TagStyle> style_;
  ValueSets& sets_;
  RawStrings strings_;
  bool has_controls_ = false;
  ByteSet first_bytes_;
  std::optional<Pieces> pieces_;
  counted::unordered_map<std::uint32_t, std::optional<std::string>> written_;  // by name
  counted::unordered_map<std::uint32_t, Alternatives> alternatives_;           // by set
  Recursion recursion_;
  FixedPoint<std::uint64_t, std::optional<std::uint32_t>> lengths_{recursion_};  // by set, and whether of an element
  counted::unordered_map<std::uint32_t, ExpressionId> writable_;                 // by names
};

}  // namespace tokamata::json
