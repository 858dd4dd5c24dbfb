#include "json/element_place.hpp"

#include "json/canonical_value.hpp"
#include "json/leaves.hpp"

namespace tokamata::json {

namespace {

// Where the string that begins a text ends, its quote included; npos where it is under way.
std::size_t string_end(std::string_view text) {
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '"') return at + 1;
    if (text[at] == '\\') ++at;
  }
  return std::string_view::npos;
}

bool is_in_word(char c) { return c != ',' && c != ']' && c != '}' && !is_blank(c); }

std::string plain(std::string_view quoted) {
  return '"' + spelled_string(read_string(quoted.substr(1, quoted.size() - 2))) + '"';
}

}  // namespace

ElementPlace place_in(std::string_view begun) {
  using Kind = ElementPlace::Kind;
  ElementPlace place;
  std::vector<bool> in_object;  // by level
  for (std::size_t at = 0; at < begun.size();) {
    const char c = begun[at];
    if (is_blank(c)) {
      if (place.kind == Kind::Number || place.kind == Kind::Word) place.kind = Kind::Mark;
      ++at;
      continue;
    }
    switch (c) {
      case '{':
      case '[':
        in_object.push_back(c == '{');
        place.opened.push_back(at);
        if (c == '{') place.path.emplace_back(std::string());
        else place.path.emplace_back(std::size_t{0});
        place.is_name = c == '{';
        place.kind = Kind::Value;
        ++at;
        break;
      case '}':
      case ']':
        in_object.pop_back();
        place.opened.pop_back();
        place.path.pop_back();
        place.is_name = false;
        place.kind = Kind::Mark;
        ++at;
        break;
      case ',':
        place.is_name = in_object.back();
        if (!place.is_name) ++std::get<std::size_t>(place.path.back());
        place.kind = Kind::Value;
        ++at;
        break;
      case ':':
        place.is_name = false;
        place.kind = Kind::Value;
        ++at;
        break;
      case '"': {
        place.begun = begun.substr(at);
        const std::size_t end = string_end(place.begun);
        place.kind = end == std::string_view::npos ? Kind::String : Kind::Mark;
        if (end == std::string_view::npos) {
          at = begun.size();
        } else {
          if (place.is_name) place.path.back() = plain(place.begun.substr(0, end));
          at += end;
        }
        break;
      }
      default: {
        std::size_t end = at;
        while (end < begun.size() && is_in_word(begun[end])) ++end;
        place.begun = begun.substr(at, end - at);
        place.kind = c == '-' || (c >= '0' && c <= '9') ? Kind::Number : Kind::Word;
        at = end;
      }
    }
  }
  if (place.is_name) place.path.pop_back();  // the names are those of the object
  return place;
}

bool holds_complete_items(std::string_view begun) {
  const ElementPlace place = place_in(begun);
  return place.kind == ElementPlace::Kind::Mark && place.path.size() == 1 && !place.is_name;
}

void ElementPlace::add_from(std::string_view canonical, std::vector<std::string_view>& found) const {
  std::string_view at = canonical;
  for (const Step& step : path) {
    const auto* const item = std::get_if<std::size_t>(&step);
    if (at.front() != (item ? '[' : '{')) return;
    const std::vector<std::string_view> items = complete_items(at);
    if (item) {
      if (*item >= items.size()) return;
      at = items[*item];
      continue;
    }
    const std::string& name = std::get<std::string>(step);
    bool has_name = false;
    for (const std::string_view one : items)
      if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == ':') {
        at = one.substr(name.size() + 1);
        has_name = true;
        break;
      }
    if (!has_name) return;
  }
  if (!is_name) {
    found.push_back(at);
  } else if (at.front() == '{') {
    for (const std::string_view one : complete_items(at)) found.push_back(one.substr(0, string_end(one)));
  }
}

}  // namespace tokamata::json
