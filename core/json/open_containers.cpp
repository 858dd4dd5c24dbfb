#include "json/open_containers.hpp"

#include "common/hash.hpp"
#include "common/memoized.hpp"
#include "json/leaves.hpp"

namespace tokamata::json {

OpenContainers::OpenContainers(ValueSets& sets, TaggedMembers* tags) : sets_(sets), tags_(tags) {
  place_sets_.emplace_back();
  place_set_index_.emplace(PlaceSet(), PlaceSetId{0});
}

OpenArrayId OpenContainers::add(const OpenArray& array) {
  const std::uint64_t hash = mix(mix(1, array.rest.value), array.is_tagged ? ~array.seen.value : array.seen.value);
  return {number_in(now_.arrays, now_.array_index, array, hash)};
}

OpenObjectId OpenContainers::add(const OpenObject& object) {
  std::uint64_t hash = mix(mix(mix(1, object.rest.value), object.order.value), object.written.value);
  hash = mix(hash, object.is_tagged ? ~object.others.value : object.others.value);
  return {number_in(now_.objects, now_.object_index, object, hash)};
}

NameOrderId OpenContainers::add(const NameOrderPtr& order) {
  return numbered(order_index_, order.get(), [&](NameOrderId number) {
    TextSetId spelled;
    for (const NameId name : order->names) {
      std::string_view text = sets_.texts().spelled_name(name);
      text.remove_suffix(1);  // its quote
      spelled = text_sets_.with(spelled, texts_.extended(Texts::kEmpty, text));
    }
    put_at(now_.orders, number.value, Order{order, spelled});
  });
}

OpenObject OpenContainers::begun(SetId set, ObjectId members, bool is_tagged) {
  return {members, add(sets_.order(set)), {}, kNoTexts, is_tagged};
}

OpenObject OpenContainers::after_declared(OpenObject object, std::uint32_t place) {
  PlaceSet written = place_sets_[object.written.value];
  written.add(place);
  object.written =
      numbered(place_set_index_, written, [&](PlaceSetId number) { put_at(place_sets_, number.value, written); });
  return object;
}

OpenObject OpenContainers::after_undeclared(OpenObject object, TextId name) {
  object.others = text_sets_.with(object.others, name);
  return object;
}

Room OpenContainers::room(const OpenObject& object) const {
  return {&order(object),
          0,
          &place_sets_[object.written.value],
          {&text_sets_, object.others, nullptr},
          object.is_tagged ? tags_ : nullptr};
}

// ---- names that are taken ---------------------------------------------------------------------

bool OpenContainers::is_taken(const OpenObject& object, TextId spelled) const {
  return std::ranges::any_of(taken(object), [&](TextSetId set) { return text_sets_.contains(set, spelled); });
}

std::uint64_t OpenContainers::taken_count(const OpenObject& object) const {
  std::uint64_t count = 0;
  for (const TextSetId set : taken(object)) count += text_sets_.size(set);
  return count;
}

std::uint64_t OpenContainers::taken_count(const OpenObject& object, TextId begun) const {
  std::uint64_t count = 0;
  for (const TextSetId set : taken(object)) count += text_sets_.size(text_sets_.below(set, begun));
  return count;
}

std::vector<std::string> OpenContainers::taken_below(const OpenObject& object, TextId begun) const {
  std::vector<std::string> names;
  for (const TextSetId set : taken(object))
    for (const std::string& name : text_sets_.strings(text_sets_.below(set, begun))) names.push_back(read_string(name));
  return names;
}

// ---- compaction -------------------------------------------------------------------------------

// Texts that are in no container that is kept go.
void OpenContainers::begin_anew() {
  auto before = std::make_unique<Before>();
  before->contents.orders = now_.orders;
  before_ = std::move(before);
  swap_with_before();
  for (Order& order : now_.orders) order.spelled = moved(order.spelled);
}

void OpenContainers::keep_all() {
  if (!before_) return;
  swap_with_before();
  before_.reset();
}

void OpenContainers::swap_with_before() {
  std::swap(before_->contents, now_);
  std::swap(before_->texts, texts_);
  text_sets_.swap(before_->sets);
}

TextSetId OpenContainers::moved(TextSetId before) {
  return text_sets_.moved(before_->sets, before, before_->moved_sets, before_->moved_texts);
}

OpenArrayId OpenContainers::kept(OpenArrayId before) {
  OpenArray array = before_->contents.arrays[before.value];
  array.seen = moved(array.seen);
  return add(array);
}

OpenObjectId OpenContainers::kept(OpenObjectId before) {
  OpenObject object = before_->contents.objects[before.value];
  object.others = moved(object.others);
  return add(object);
}

TextId OpenContainers::kept(TextId before) { return texts_.moved(before_->texts, before, before_->moved_texts); }

}  // namespace tokamata::json
