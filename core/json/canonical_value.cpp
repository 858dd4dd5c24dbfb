#include "json/canonical_value.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "expression/expression.hpp"
#include "json/leaves.hpp"

namespace tokamata::json {

namespace {

// Decimal digits without zeros at either end, and a power of ten.
std::string canonical_number(std::string_view text) {
  std::string digits;
  std::int64_t exponent = 0;
  std::size_t at = text[0] == '-' ? 1 : 0;
  bool in_fraction = false;
  for (; at < text.size() && text[at] != 'e' && text[at] != 'E'; ++at) {
    if (text[at] == '.') {
      in_fraction = true;
      continue;
    }
    digits.push_back(text[at]);
    exponent -= in_fraction ? 1 : 0;
  }
  if (at < text.size()) {
    std::int64_t written = 0;
    const bool is_negative = text[at + 1] == '-';
    for (const char c : text.substr(at + 1))
      if (c >= '0' && c <= '9' && written < 1'000'000'000) written = 10 * written + (c - '0');
    exponent += is_negative ? -written : written;
  }
  const std::size_t first = digits.find_first_not_of('0');
  if (first == std::string::npos) return "0e0";
  const std::size_t last = digits.find_last_not_of('0');
  exponent += static_cast<std::int64_t>(digits.size() - 1 - last);
  return (text[0] == '-' ? "-" : "") + digits.substr(first, last - first + 1) + "e" + std::to_string(exponent);
}

// Containers under way are kept on a stack of their own: values may be deep.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::string read() {
    while (true) {
      skip_blanks();
      const char c = text_[at_];
      if (c == '{' || c == '[') {
        open_.push_back({c == '{', {}, {}});
        ++at_;
        skip_blanks();
        if (text_[at_] != '}' && text_[at_] != ']') {
          read_name();
          continue;
        }
        if (ends(closed())) return result_;
      } else if (ends(scalar())) {
        return result_;
      }
    }
  }

 private:
  struct Container {
    bool is_object;
    std::vector<std::string> items;
    std::string name;
  };

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  std::string string() {
    const std::size_t begin = ++at_;
    while (text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    return '"' + spelled_string(read_string(text_.substr(begin, at_++ - begin))) + '"';
  }

  void read_name() {
    if (!open_.back().is_object) return;
    skip_blanks();
    open_.back().name = string();
    skip_blanks();
    ++at_;  // the colon
  }

  std::string scalar() {
    if (text_[at_] == '"') return string();
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ']' && text_[at_] != '}' && !is_blank(text_[at_]))
      ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    return word[0] == '-' || (word[0] >= '0' && word[0] <= '9') ? canonical_number(word) : std::string(word);
  }

  std::string closed() {
    ++at_;
    Container container = std::move(open_.back());
    open_.pop_back();
    if (container.is_object) std::ranges::sort(container.items);
    std::string text(1, container.is_object ? '{' : '[');
    for (std::size_t i = 0; i < container.items.size(); ++i) text += (i ? "," : "") + container.items[i];
    text.push_back(container.is_object ? '}' : ']');
    return text;
  }

  // Puts a value into what is around it, which may end with it; whether it was the whole.
  bool ends(std::string value) {
    while (!open_.empty()) {
      Container& around = open_.back();
      around.items.push_back(around.is_object ? around.name + ":" + value : value);
      skip_blanks();
      if (text_[at_] == ',') {
        ++at_;
        read_name();
        return false;
      }
      value = closed();
    }
    result_ = std::move(value);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Container> open_;
  std::string result_;
};

}  // namespace

std::string canonical_value(std::string_view text) { return Reader(text).read(); }

Type type_of(std::string_view canonical) {
  switch (canonical[0]) {
    case 'n': return kNull;
    case 'f': return kFalse;
    case 't': return kTrue;
    case '"': return kString;
    case '[': return kArray;
    case '{': return kObject;
    default: return kNumber;
  }
}

std::vector<std::string_view> complete_items(std::string_view begun) {
  std::vector<std::string_view> items;
  std::size_t depth = 0, begin = 1;
  bool in_string = false;
  for (std::size_t at = 0; at < begun.size(); ++at) {
    const char c = begun[at];
    if (in_string) {
      if (c == '\\') ++at;
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > 1 || (depth == 1 && c != ',') || at == begin) continue;  // "[]" has none
    items.push_back(begun.substr(begin, at - begin));
    begin = at + 1;
  }
  return items;
}

namespace {

ValueNode add_value(std::string_view canonical, ValueTable& table) {
  const Type type = type_of(canonical);
  const auto of_type = [&](std::vector<ValueNode> nodes) {
    nodes.push_back(table.add(ValueTable::Types{type}));
    return table.add(ValueTable::AllOf{std::move(nodes)});
  };
  switch (type) {
    case kNull:
    case kFalse:
    case kTrue: return table.add(ValueTable::Types{type});
    case kString: {
      const std::string text = read_string(canonical.substr(1, canonical.size() - 2));
      return of_type({table.add(ValueTable::String{table.language(Expression::literal(text))})});
    }
    case kArray: {
      std::vector<ValueNode> elements;
      for (const std::string_view item : complete_items(canonical)) elements.push_back(add_constant(item, table));
      const Count count = elements.size();
      return of_type({table.add(ValueTable::Items{std::move(elements), ValueTable::kNone}),
                      table.add(ValueTable::ArrayLength{count, count})});
    }
    case kObject: {
      std::vector<ValueNode> members;
      const auto items = complete_items(canonical);
      for (const std::string_view item : items) {
        std::size_t end = 1;
        while (item[end] != '"') end += item[end] == '\\' ? 2 : 1;
        const NameId name = table.name(read_string(item.substr(1, end - 1)));
        members.push_back(table.add(ValueTable::Property{name, add_constant(item.substr(end + 2), table)}));
        members.push_back(table.add(ValueTable::Has{name}));
      }
      members.push_back(table.add(ValueTable::PropertyCount{items.size(), items.size()}));
      return of_type(std::move(members));
    }
    case kNumber: break;
  }
  NumberRange range;
  range.minimum = range.maximum = std::string(canonical);
  return of_type({table.add(ValueTable::Number{std::move(range)})});
}

}  // namespace

ValueNode add_constant(std::string_view canonical, ValueTable& table) {
  const ValueNode node = add_value(canonical, table);
  table.note_values(node, {std::string(canonical)});
  return node;
}

std::uint8_t width_of_indents(std::string_view text, std::uint32_t depth) {
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == '\n') {
      const std::size_t end = std::min(text.find_first_not_of(" \t", at + 1), text.size());
      if (end == text.size()) return 0;  // the indent is under way
      const std::uint32_t lines_depth = text[end] == ']' || text[end] == '}' ? depth - 1 : depth;
      if (end == at + 1 || lines_depth == 0) continue;
      return text[at + 1] == '\t' ? std::uint8_t{9} : static_cast<std::uint8_t>((end - at - 1) / lines_depth);
    }
  }
  return 0;
}

}  // namespace tokamata::json
