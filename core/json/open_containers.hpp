// Arrays and objects whose texts are under way: what may follow in each, and what was written that must not come again.
//
// Problem.  A push-down automaton cannot require that names, or elements, differ: its states must keep what was
// written.
// How.  Rules refer to an open array or object by number, and equal ones have equal numbers.  It is the formula that
// remains and the set of the texts that were written (texts.hpp): undeclared names in plain spelling, elements in
// canonical form.  Of declared names their places in the order of the schema are enough.
// Example.  {"type": "object", "properties": {"a": …, "b": …}}, after {"b":1,"x":2 : the formula of the object, the
// place 1 of b, and the set {x}.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/memory_account.hpp"
#include "common/number_table.hpp"
#include "json/tagged_members.hpp"
#include "json/texts.hpp"
#include "json/value_sets.hpp"

namespace tokamata::json {

using OpenArrayId = Id<struct OpenArrayTag>;
using OpenObjectId = Id<struct OpenObjectTag>;
using NameOrderId = Id<struct NameOrderTag>;
using PlaceSetId = Id<struct PlaceSetTag>;

struct OpenArray {
  ArrayId rest;
  TextSetId seen = kNoTexts;  // the elements so far in canonical form, if they must differ
  bool is_tagged = false;     // its elements stand between tags
  bool operator==(const OpenArray&) const = default;
};

struct OpenObject {
  ObjectId rest;
  NameOrderId order;
  PlaceSetId written;           // declared names
  TextSetId others = kNoTexts;  // undeclared names, in plain spelling
  bool is_tagged = false;       // its members stand between tags
  bool operator==(const OpenObject&) const = default;
};

class OpenContainers {
 public:
  // `tags`: how members between tags are written; null: all is JSON.
  OpenContainers(ValueSets& sets, TaggedMembers* tags);

  OpenArrayId add(const OpenArray& array);
  OpenObjectId add(const OpenObject& object);
  const OpenArray& operator[](OpenArrayId array) const { return now_.arrays[array.value]; }
  const OpenObject& operator[](OpenObjectId object) const { return now_.objects[object.value]; }
  // An object of a set, after its brace.
  OpenObject begun(SetId set, ObjectId members, bool is_tagged);
  const NameOrder& order(const OpenObject& object) const { return *now_.orders[object.order.value].names; }

  WrittenTexts seen(const OpenArray& array) const { return {&text_sets_, array.seen, nullptr}; }
  OpenObject after_declared(OpenObject object, std::uint32_t place);
  OpenObject after_undeclared(OpenObject object, TextId name);
  // The names that may still follow.
  Room room(const OpenObject& object) const;

  // ---- the names that an undeclared one must not become ----
  std::array<TextSetId, 2> taken(const OpenObject& object) const {
    return {object.others, now_.orders[object.order.value].spelled};
  }
  bool is_taken(const OpenObject& object, TextId spelled) const;
  // Of all, and of those that begin so.
  std::uint64_t taken_count(const OpenObject& object) const;
  std::uint64_t taken_count(const OpenObject& object, TextId begun) const;
  // Those that begin so, as they are.
  std::vector<std::string> taken_below(const OpenObject& object, TextId begun) const;

  Texts& texts() { return texts_; }
  TextSets& text_sets() { return text_sets_; }

  // ---- compaction: Rules::begin_anew ----
  void begin_anew();
  OpenArrayId kept(OpenArrayId before);
  OpenObjectId kept(OpenObjectId before);
  TextId kept(TextId before);
  void all_kept() { before_.reset(); }
  void keep_all();

 private:
  struct Order {
    NameOrderPtr names;
    TextSetId spelled;
  };
  struct Contents {
    counted::vector<OpenArray> arrays;
    counted::vector<OpenObject> objects;
    counted::vector<Order> orders;
    NumberTable array_index, object_index;
  };
  // What there was before the rules began again, as long as some of them are to be kept.
  struct Before {
    Contents contents;
    Texts texts;
    TextSets sets{texts};
    Texts::Moved moved_texts = {};
    TextSets::Moved moved_sets = {};
  };
  NameOrderId add(const NameOrderPtr& order);
  TextSetId moved(TextSetId before);
  void swap_with_before();

  ValueSets& sets_;
  TaggedMembers* tags_;
  Contents now_;
  Texts texts_;  // names and elements, under way and written
  TextSets text_sets_{texts_};
  counted::unordered_map<const NameOrder*, NameOrderId> order_index_;
  counted::vector<PlaceSet> place_sets_;
  counted::map<PlaceSet, PlaceSetId> place_set_index_;
  std::unique_ptr<Before> before_;
};

}  // namespace tokamata::json
