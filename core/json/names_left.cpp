#include "json/names_left.hpp"

#include <algorithm>
#include <bit>

#include "expression/text_count.hpp"
#include "json/leaves.hpp"

namespace tokamata::json {

std::optional<std::string> NamesLeft::one(const NameClass& other, const Room& room,
                                          const std::vector<std::string>& further, const Work& work) {
  const ExpressionId names = room.texts ? room.texts->writable(other.names, work) : other.names;
  if (names == Pool::kEmpty) return std::nullopt;
  if (other.is_any) return "";
  const std::vector<std::string> written = room.other_names.strings();
  const auto is_taken = [&](const std::string& name) {
    const std::optional<NameId> declared = formulas_.table().find_name(name);
    return (declared && room.order->place_of(*declared)) || std::ranges::find(further, name) != further.end() ||
           std::ranges::find(written, spelled_string(name)) != written.end();
  };
  if (const auto known = known_.find(names.value); known != known_.end())
    for (const std::string& name : known->second)
      if (!is_taken(name)) return name;
  std::vector<std::string> taken = further;
  for (const std::string& name : written) taken.push_back(read_string(name));
  for (const NameId name : room.order->names) taken.push_back(formulas_.table().text(name));
  const std::optional<std::string> text =
      work.arena.derivatives().some_text(texts_.without(names, taken, work), work.budget);
  if (!text) return std::nullopt;
  return known_[names.value].emplace_back(read_string(*text));
}

// Of a class there is a name; and one of those that were found before is mostly left.
bool NamesLeft::has_one(const NameClass& other, const Room& room, const Work& work) {
  if (room.texts) return one(other, room, {}, work).has_value();
  return room.other_names.size() + room.order->names.size() == 0 || one(other, room, {}, work);
}

bool NamesLeft::has_more(const NameClass& other, const Room& room, std::uint64_t than, const Work& work) {
  if (other.is_any) return true;
  const std::uint64_t taken = room.other_names.size() + room.order->names.size() + than;
  const std::uint64_t most = std::bit_ceil(taken + 1);  // so that it is not counted for every name
  const ExpressionId names = room.texts ? room.texts->writable(other.names, work) : texts_.plain(other.names, work);
  return count(names, most, work) > taken;
}

std::uint64_t NamesLeft::count(ExpressionId names, std::uint64_t most, const Work& work) {
  Counted& known = counted_[names.value];
  if (known.most < most) known = {count_texts(work.arena, names, most, work.budget), most};
  return known.found;
}

std::optional<std::vector<std::string>> NamesLeft::all(const NameClass& other, const NameOrder& order,
                                                       std::uint64_t most, const Work& work) {
  if (other.is_any) return std::nullopt;
  std::vector<std::string> declared;
  for (const NameId name : order.names) declared.push_back(formulas_.table().text(name));
  const ExpressionId texts = texts_.plain(texts_.without(other.names, declared, work), work);
  const std::uint64_t found = count_texts(work.arena, texts, most, work.budget);
  if (found >= most) return std::nullopt;
  std::vector<std::string> names;
  for (const std::string& text : some_texts(work.arena, texts, found, work.budget)) names.push_back(read_string(text));
  return names;
}

}  // namespace tokamata::json
