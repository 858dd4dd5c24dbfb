#include "json/tag_style.hpp"

#include "expression/expression.hpp"

namespace tokamata::json {

ByteSet TagStyle::class_borders() const {
  ByteSet borders;
  for (const ExpressionPtr& piece : pieces()) borders |= piece->class_borders();
  for (const ExpressionPtr& texts : {strings, closed_strings, trimmed, between, before, after, names})
    if (texts) borders |= texts->class_borders();
  for (const auto& [mask, texts] : misread) borders |= texts->class_borders();
  for (const char end : after_name + static_cast<char>(name_end)) {
    borders.add(static_cast<std::uint8_t>(end));
    borders.add(static_cast<std::uint8_t>(end + 1));
  }
  return borders;
}

std::set<std::string> TagStyle::control_tokens() const {
  std::set<std::string> all;
  for (const ExpressionPtr& piece : pieces())
    all.insert(piece->control_tokens().begin(), piece->control_tokens().end());
  return all;
}

std::vector<ExpressionPtr> TagStyle::pieces() const {
  std::vector<ExpressionPtr> all{opening, closing};
  if (named_closing) all.push_back(named_closing);
  for (const Type& type : types) {
    all.push_back(type.attributes);
    if (type.of_element) all.push_back(type.of_element);
  }
  return all;
}

}  // namespace tokamata::json
