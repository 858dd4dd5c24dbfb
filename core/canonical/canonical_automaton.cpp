#include "canonical/canonical_automaton.hpp"

#include <algorithm>
#include <bit>

namespace tokamata {

namespace {

constexpr std::size_t kMostWitnesses = 8;

bool has(const std::vector<std::uint32_t>& bits, TokenId token) { return bits[token.value / 32] >> (token.value % 32) & 1; }
void add(std::vector<std::uint32_t>& bits, std::uint32_t token) { bits[token / 32] |= 1u << (token % 32); }

}  // namespace

// ---- where tokens lead in the pattern -----------------------------------------------------------

// The first token of a text may lose its space to the decoder, and all of itself: then the text is still
// empty, but no longer at its start.
std::optional<StateId> CanonicalAutomaton::pattern_step(Place place, TokenId token, Budget& budget) {
  if (place.at_start && pattern_.vocabulary(true).bytes(token).empty() && !pattern_.vocabulary(false).bytes(token).empty())
    return pattern_.edge(place.state, budget);
  return pattern_.step(place, token, budget);
}

// The classes of bytes that a code point under way can go on with; all where none is.
std::vector<bool> CanonicalAutomaton::classes_that_go_on(std::uint16_t guess, std::uint16_t text_place) const {
  std::vector<bool> classes(pattern_.automaton().byte_classes().size(), false);
  for (unsigned value = 0; value < 256; ++value) {
    TextState text{.guess = guess, .place = text_place};
    const auto byte = static_cast<std::uint8_t>(value);
    if (tokenization_->rules().read_guess(text, byte)) classes[pattern_.automaton().byte_class(byte)] = true;
  }
  return classes;
}

// `first_classes`: of the first byte of a token; all where it is null.
template <class Visit>
void CanonicalAutomaton::walk(Place place, const std::vector<bool>* first_classes, Budget& budget, Visit&& visit) {
  struct Frame {
    std::uint32_t child, end;
    StateId state;
  };
  ClassTrie& trie = pattern_.kinds(place.at_start);
  ByteAutomaton& bytes = pattern_.automaton();
  const ClassTrie::Node root = trie.open(ClassTrie::root());
  std::vector<Frame> frames{{root.children_begin, root.children_end, place.state}};
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (frame.child == frame.end) {
      frames.pop_back();
      continue;
    }
    const std::uint32_t number = frame.child++;
    if (first_classes && frames.size() == 1 && !(*first_classes)[bytes.byte_class(trie.byte(number))]) continue;
    const StateId state = bytes.next(frame.state, trie.byte(number), budget);
    if (state == ByteAutomaton::kDead) continue;
    budget.step();
    const ClassTrie::Node node = trie.open(number);
    if (!node.tokens.empty()) {
      const StateId target = pattern_.edge(state, budget);
      if (pattern_.spellable(target, budget) && !visit(target, node.tokens)) return;
    }
    frames.push_back({node.children_begin, node.children_end, state});
  }
  if (!place.at_start) return;
  for (std::uint32_t token = 0; token < pattern_.vocabulary(true).token_count(); ++token)
    if (pattern_.vocabulary(true).bytes({token}).empty() && !pattern_.vocabulary(false).bytes({token}).empty())
      if (!visit(pattern_.edge(place.state, budget), std::span<const std::uint32_t>(&token, 1))) return;
}

// ---- masks --------------------------------------------------------------------------------------

std::size_t CanonicalAutomaton::MaskHash::operator()(const MaskKey& key) const {
  std::uint64_t hash = (std::uint64_t{key.state.value} << 1) | key.at_start;
  const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15u; hash ^= hash >> 32; };
  mix((std::uint64_t{key.canonical.last.value} << 32) | key.canonical.open);
  mix((std::uint64_t{key.canonical.starter} << 8) | key.canonical.marks);
  for (const Hypothesis& h : key.canonical.hypotheses) {
    mix((std::uint64_t{h.guess} << 32) | (std::uint64_t{h.place} << 8) | static_cast<std::uint64_t>(h.edge));
    mix(h.pieces);
  }
  return static_cast<std::size_t>(hash);
}

MaskPtr CanonicalAutomaton::known_mask(Place place, const CanonicalState& state) const {
  const auto known = masks_.find({place.state, place.at_start, state});
  return known == masks_.end() ? nullptr : known->second.mask;
}

MaskPtr CanonicalAutomaton::mask(Place place, const CanonicalState& state, Budget& budget) {
  return made_mask(place, state, budget).mask;
}

const CanonicalAutomaton::Made& CanonicalAutomaton::made_mask(Place place, const CanonicalState& state, Budget& budget) {
  if (const auto known = masks_.find(MaskKey{place.state, place.at_start, state}); known != masks_.end()) return known->second;
  TokenCount most = 0;
  std::shared_ptr<Mask> mask = spare_mask();
  mask->serial = pattern_.take_serial();
  Words& words = mask->words;
  words.assign(tokenization_->vocabulary().words(), 0);
  const Touch touch{state.starter, state.marks, state.open};
  // What the last token forbids concerns the hypotheses that are inside alone, and so they come first.
  for (const bool inside : {true, false}) {
    for (const Hypothesis& h : state.hypotheses) {
      if ((h.edge == Hypothesis::Edge::Inside) != inside || (inside && !tokenization_->pieces().may_go_on(h.pieces))) continue;
      most = std::max(most, add_part({place.state, place.at_start, h.guess, h.place, h.edge, tokenization_->pieces().alike(h.pieces)}, touch,
                                     words, budget));
    }
    if (inside && !state.hypotheses.empty()) most = std::max(most, forbid(place, state, words, budget));
  }
  if (tokenization_->may_end(state)) {
    const AddedWords& added = added_words(place, state.open, budget);
    for (std::size_t i = 0; i < added.words.size(); ++i) words[i] |= added.words[i];
    most = std::max(most, added.most);
  }
  mask->open_tokens = mask->set_bits = count_bits(words);
  if (accepting(place, state)) {
    for (const std::uint32_t stop : tokenization_->vocabulary().stop()) add(words, stop);
    mask->set_bits += tokenization_->vocabulary().stop().size();
  }
  budget.check();
  const auto [made, is_new] = masks_.try_emplace(MaskKey{place.state, place.at_start, state}, Made{std::move(mask), most});
  if (is_new) mask_order_.push_back(&made->first);
  return made->second;
}

// The oldest mask, where there are many; its memory is used again if nobody holds it.
std::shared_ptr<Mask> CanonicalAutomaton::spare_mask() {
  if (masks_.size() < kMostMasks) return std::make_shared<Mask>();
  auto oldest = masks_.extract(masks_.find(*mask_order_.front()));
  mask_order_.pop_front();
  oldest_serial_ = masks_.at(*mask_order_.front()).mask->serial;
  std::shared_ptr<Mask> mask = std::move(oldest.mapped().mask);
  return mask.use_count() == 1 ? mask : std::make_shared<Mask>();
}

TokenCount CanonicalAutomaton::add_part(const PartKey& key, const Touch& touch, Words& words, Budget& budget) {
  const Part& own = part(key, budget);
  const bool has_form = tokenization_->rules().has_normal_form();
  if (!has_form && touch.open == AddedTokens::kNothing) {
    for (std::size_t i = 0; i < words.size(); ++i) words[i] |= own.words[i];
    return own.most;
  }
  TokenCount most = own.most;
  scratch_ = own.words;
  if (own.has_meeting) {
    const Words& fitting = tokenization_->fitting(touch.starter, touch.marks);
    for (std::size_t i = 0; i < scratch_.size(); ++i) scratch_[i] &= fitting[i];
  }
  if (!own.asked.empty() || touch.open != AddedTokens::kNothing) {
    const Touched& changes = touched(key, touch, budget);
    for (const std::uint32_t token : changes.dead) scratch_[token / 32] &= ~(1u << (token % 32));
    for (const std::uint32_t token : changes.live) add(scratch_, token);
    most = std::max(most, changes.most);
  }
  for (std::size_t i = 0; i < words.size(); ++i) words[i] |= scratch_[i];
  return most;
}

// What the last token forbids, and what lives behind others like it but not behind this one.
TokenCount CanonicalAutomaton::forbid(Place place, const CanonicalState& state, Words& words, Budget& budget) {
  const auto inside = std::ranges::find(state.hypotheses, Hypothesis::Edge::Inside, &Hypothesis::edge);
  if (inside == state.hypotheses.end()) return 0;
  const Hypothesis& h = *inside;
  tokenization_->pieces().forbid(h.pieces, state.last, words);
  TokenCount most = 0;
  for (const std::uint32_t token : tokenization_->pieces().carried(h.pieces)) {
    if (!has(words, {token})) continue;
    const TokenCount count = bound_after({place.state, place.at_start, h.guess, h.place, h.edge, h.pieces},
                                         {state.starter, state.marks, state.open}, {token}, budget);
    if (count == kDead)
      words[token / 32] &= ~(1u << (token % 32));
    else
      most = std::max(most, count);
  }
  return most;
}

// The added tokens that live, where the text before them may end.
const CanonicalAutomaton::AddedWords& CanonicalAutomaton::added_words(Place place, AddedTokens::Open open, Budget& budget) {
  const auto key = std::tuple(place.state, place.at_start, open);
  if (const auto known = added_words_.find(key); known != added_words_.end()) return known->second;
  AddedWords added;
  for (const AddedStep& step : added_steps(place, budget)) {
    const TokenCount count = bound_behind(step, open, budget);
    if (count == kDead) continue;
    added.words.resize(tokenization_->vocabulary().words(), 0);
    add(added.words, tokenization_->added()[step.number]);
    added.most = std::max(added.most, count);
  }
  return added_words_.emplace(key, std::move(added)).first->second;
}

TokenCount CanonicalAutomaton::bound_behind(const AddedStep& added, AddedTokens::Open open, Budget& budget) {
  const AddedTokens::Open behind = tokenization_->rules().added().behind(open, added.number);
  if (behind == AddedTokens::kDead) return kDead;
  if (pattern_.automaton().accepting(added.target)) return 0;
  TokenCount least = kDead;
  for (const std::uint16_t guess : tokenization_->starts_behind(added.number))
    least = std::min(least, bound_by_text(added.target, {.guess = guess, .open = behind}, budget));
  return least;
}

const std::vector<CanonicalAutomaton::AddedStep>& CanonicalAutomaton::added_steps(Place place, Budget& budget) {
  const auto key = std::pair(place.state, place.at_start);
  if (const auto known = added_steps_.find(key); known != added_steps_.end()) return known->second;
  std::vector<AddedStep> steps;
  for (std::size_t i = 0; i < tokenization_->added().size(); ++i) {
    budget.step();
    const std::optional<StateId> target = pattern_step(place, {tokenization_->added()[i]}, budget);
    if (target) steps.push_back({i, *target});
  }
  return added_steps_.emplace(key, std::move(steps)).first->second;
}

const CanonicalAutomaton::Part& CanonicalAutomaton::part(const PartKey& key, Budget& budget) {
  if (const auto known = parts_.find(key); known != parts_.end()) return known->second;
  Part made = make_part(key, budget);
  return parts_.insert_or_assign(key, std::move(made)).first->second;
}

// Adds to a part each token that lives, one by one.  What lands alike in the text and in the pattern lives alike,
// if it does so by the border.
class CanonicalAutomaton::Judge {
 public:
  Judge(CanonicalAutomaton& automaton, Part& part, const PartKey& key, Budget& budget)
      : automaton_(automaton), tokenization_(*automaton.tokenization_), part_(part), key_(key), budget_(budget),
        landing_(tokenization_.landing(key.guess, key.place)), is_border_(key.edge == Hypothesis::Edge::Border),
        allowed_(is_border_ ? tokenization_.pieces().beginning() : tokenization_.pieces().following()) {}

  const Landing& landing() const { return *landing_; }
  bool may_stand(TokenId token) const {
    return has(allowed_, token) && landing_->target_of(token.value) != 0 &&
           !(key_.at_start && tokenization_.is_never_first(token));
  }
  std::optional<Pieces::State> pieces_after(TokenId token) const {
    return is_border_ ? tokenization_.pieces().begin(token) : tokenization_.pieces().extend(key_.pieces, token);
  }
  // How many tokens suffice behind those that land there, by the border, in a state of the pattern.
  TokenCount at_border(StateId target, std::uint16_t number, TokenId token, Pieces::State pieces) {
    std::vector<TokenCount>& by_target = by_state_[target.value];
    by_target.resize(landing_->targets().size(), kNotAsked);
    if (by_target[number - 1] == kNotAsked) {
      const Landing::Target& place = landing_->targets()[number - 1];
      const TextState any{place.guess, place.place, TextState::kAnyStarter, 0, AddedTokens::kNothing};
      const TokenCount count = automaton_.bound_at_border({target, token, pieces, any}, budget_);
      by_state_[target.value][number - 1] = count;
      return count;
    }
    return by_target[number - 1];
  }

  void judge(TokenId token, StateId target) {
    if (!may_stand(token)) return;
    const std::optional<Pieces::State> after = pieces_after(token);
    if (!after) return;
    const bool is_meeting = has(tokenization_.meeting(), token);
    const bool is_plain = !has(tokenization_.opening(), token) && (!is_meeting || key_.place == CodePoints::kBetween);
    if (is_plain && tokenization_.pieces().may_finish(*after)) {
      const TokenCount count = at_border(target, landing_->target_of(token.value), token, *after);
      if (count != kDead) return take(token, count, is_meeting);
    }
    if (is_meeting) {
      part_.asked.push_back(token.value);
      return;
    }
    TextState text{.guess = key_.guess, .place = key_.place};
    if (!tokenization_.read(text, token)) return;
    const TokenCount count = automaton_.bound({target, token, *after, text}, budget_);
    if (count != kDead) take(token, count, false);
  }

 private:
  static constexpr TokenCount kNotAsked = kEndless - 1;

  void take(TokenId token, TokenCount count, bool is_meeting) {
    add(part_.words, token.value);
    part_.most = std::max(part_.most, count);
    part_.has_meeting |= is_meeting;
  }

  CanonicalAutomaton& automaton_;
  const Tokenization& tokenization_;
  Part& part_;
  PartKey key_;
  Budget& budget_;
  LandingPtr landing_;
  bool is_border_;
  const Words& allowed_;
  std::unordered_map<std::uint32_t, std::vector<TokenCount>> by_state_;
};

// The tokens that live behind one hypothesis, whatever the last token was, where no added token is under way
// and the normal form lets them stand.
CanonicalAutomaton::Part CanonicalAutomaton::make_part(const PartKey& key, Budget& budget) {
  Part part;
  part.words.assign(tokenization_->vocabulary().words(), 0);
  const bool is_simple = !key.at_start && key.place == CodePoints::kBetween && key.pieces == 0;
  if (!is_simple || !make_by_factors(part, key, budget)) make_by_kinds(part, key, budget);
  return part;
}

void CanonicalAutomaton::make_by_kinds(Part& part, const PartKey& key, Budget& budget) {
  Judge judge(*this, part, key, budget);
  const std::vector<bool> firsts = classes_that_go_on(key.guess, key.place);
  walk({key.state, key.at_start}, key.at_start ? nullptr : &firsts, budget, [&](StateId target, std::span<const std::uint32_t> tokens) {
    for (const std::uint32_t token : tokens) judge.judge({token}, target);
    return true;
  });
}

// As masks are put together from loops over classes of code points (composition/factored_mask.hpp), so are
// these: what stays inside a class is shared by all constraints, and what leaves it is walked.
bool CanonicalAutomaton::make_by_factors(Part& part, const PartKey& key, Budget& budget) {
  std::optional<Factors> factors = pattern_.factors(key.state);
  if (!factors) return false;
  const TokenTrie& trie = tokenization_->vocabulary().trie();
  Judge judge(*this, part, key, budget);
  // Judges all tokens below a node, from the state that the way to it has led to.
  struct Below {
    CanonicalAutomaton& automaton;
    const TokenTrie& trie;
    Judge& judge;
    Budget& budget;

    void enter(NodeId from, StateId state) {
      if (state == ByteAutomaton::kDead) return;
      std::vector<std::pair<NodeId, StateId>> open{{from, state}};
      while (!open.empty()) {
        const auto [node, at] = open.back();
        open.pop_back();
        budget.step();
        for (std::uint32_t i = trie.node(node).tokens_begin; i < trie.own_end(node); ++i) judge.judge({trie.order()[i]}, at);
        for (std::uint32_t child = trie.children_begin(node); child < trie.children_end(node); ++child) {
          const StateId next = automaton.pattern_.automaton().next(at, trie.byte(child), budget);
          if (next != ByteAutomaton::kDead) open.emplace_back(NodeId{child}, next);
        }
      }
    }
    void count_node() {}
  } below{*this, trie, judge, budget};
  for (const ClassLoop& loop : factors->loops) {
    add_loop(part, judge, key, loop, budget);
    if (loop.tail == Arena::kEpsilon) continue;
    const LeavingWalk leaving(pattern_.automaton().arena(), loop);
    if (!leaving.is_idle()) walk_leaving(trie, pattern_.automaton(), loop, leaving, budget, below);
  }
  if (!factors->others.empty()) below.enter(TokenTrie::root(), pattern_.automaton().state_of_any(factors->others, budget));
  return true;
}

// The tokens inside the class live if the loop, after them, can go on at a border from wherever they land.
// Where it cannot, those that some token may follow are sought, and the rest are judged one by one.
void CanonicalAutomaton::add_loop(Part& part, Judge& judge, const PartKey& key, const ClassLoop& loop, Budget& budget) {
  const Tokenization::WithinPtr inside = within(key, loop, budget);
  Arena& arena = pattern_.automaton().arena();
  const ExpressionNode head = arena.node(loop.repetition);  // a copy: the arena grows
  const bool is_repetition = head.kind == Kind::Repetition;
  const ExpressionId body = is_repetition ? head.body() : loop.repetition;
  const Count least = is_repetition ? head.minimum : 1, most = loop.rounds;
  const Vocabulary& vocabulary = tokenization_->vocabulary();
  const bool is_endless = most == kUnbounded && least <= 1;
  const std::size_t lengths = is_endless ? 1 : std::min<std::size_t>(inside->longest, most);
  Words group = inside->words;
  for (std::size_t rounds = 1; rounds <= lengths; ++rounds) {
    if (!is_endless) {
      const MaskCache::TokensPtr fitting = vocabulary.short_tokens(rounds), shorter = vocabulary.short_tokens(rounds - 1);
      for (std::size_t i = 0; i < group.size(); ++i) group[i] = inside->words[i] & fitting->words[i] & ~shorter->words[i];
    }
    const Count used = is_endless ? 1 : static_cast<Count>(rounds);
    const ExpressionId rest = arena.concatenate(
        arena.repeat(body, least > used ? least - used : 0, most == kUnbounded ? kUnbounded : most - used), loop.tail);
    const StateId state = pattern_.automaton().state_of(rest, budget);
    TokenCount needed = 0;
    for (const std::uint16_t guess : inside->guesses) {
      const TextState any{guess, CodePoints::kBetween, TextState::kAnyStarter, 0, AddedTokens::kNothing};
      needed = std::max(needed, bound_at_border({state, {}, 0, any}, budget));
      if (needed == kDead) break;
    }
    if (needed != kDead) {
      for (std::size_t i = 0; i < group.size(); ++i) part.words[i] |= group[i];
      part.most = std::max(part.most, more(needed, 3));  // a code point may have to be ended byte by byte
      part.has_meeting |= inside->has_meeting;
      continue;
    }
    judge_group(part, judge, key, state, group, budget);
  }
  for (const std::uint32_t token : inside->doubtful) judge_alone(judge, key, {token}, budget);
  // So are tokens that leave an added token under way, whatever the loop is.
  const MaskCache::TokensPtr all = pattern_.inside(loop, budget);
  for (std::uint32_t word = 0; word < group.size(); ++word)
    for (std::uint32_t bits = all->words[word] & tokenization_->opening()[word]; bits != 0; bits &= bits - 1)
      judge_alone(judge, key, {32 * word + static_cast<std::uint32_t>(std::countr_zero(bits))}, budget);
}

void CanonicalAutomaton::judge_alone(Judge& judge, const PartKey& key, TokenId token, Budget& budget) {
  if (!judge.may_stand(token)) return;
  if (const std::optional<StateId> target = pattern_step({key.state, false}, token, budget)) judge.judge(token, *target);
}

void CanonicalAutomaton::judge_group(Part& part, Judge& judge, const PartKey& key, StateId state, Words& group, Budget& budget) {
  const Words& following = tokenization_->pieces().following();
  // A witness is one for all tokens that land alike and that it may follow.
  const Words& together = judge.landing().together();
  if (!together.empty() && !tokenization_->rules().has_normal_form() && tokenization_->pieces().told_by_last()) {
    const TextState text{.guess = judge.landing().only_target().guess};
    for (std::size_t tries = 0; tries < kMostWitnesses; ++tries) {
      std::size_t at = 0;
      while (at < group.size() && (group[at] & together[at]) == 0) ++at;
      if (at == group.size()) break;
      const auto word = group.begin() + static_cast<std::ptrdiff_t>(at);
      const TokenId token{static_cast<std::uint32_t>(32 * at) + static_cast<std::uint32_t>(std::countr_zero(*word & together[at]))};
      const TokenCount count = has(following, token) ? bound_inside({state, token, 0, text}, budget) : kDead;
      if (count == kDead) {
        *word &= ~(1u << (token.value % 32));
        judge_alone(judge, key, token, budget);
        continue;
      }
      for (const auto& [witness, needed] : witnesses_[{state, text}]) {
        const auto before = tokenization_->before(witness);
        for (std::size_t i = 0; i < group.size(); ++i) {
          const std::uint32_t behind = group[i] & together[i] & (*before)[i];
          part.words[i] |= behind;
          group[i] &= ~behind;
        }
        part.most = std::max(part.most, more(needed, 1));
      }
    }
  }
  for (std::uint32_t word = 0; word < group.size(); ++word)
    for (std::uint32_t bits = group[word]; bits != 0; bits &= bits - 1)
      judge_alone(judge, key, {32 * word + static_cast<std::uint32_t>(std::countr_zero(bits))}, budget);
}

// The tokens of a class behind a hypothesis: those that end between code points, and of the others those that
// some token can go on from inside the class.
Tokenization::WithinPtr CanonicalAutomaton::within(const PartKey& key, const ClassLoop& loop, Budget& budget) {
  std::string name = loop.key;
  for (const std::uint32_t number : {std::uint32_t{key.guess}, std::uint32_t{key.edge == Hypothesis::Edge::Border}})
    name.append(reinterpret_cast<const char*>(&number), sizeof number);
  if (Tokenization::WithinPtr known = tokenization_->find_within(name)) return known;
  auto result = std::make_shared<Tokenization::Within>();
  const MaskCache::TokensPtr inside = pattern_.inside(loop, budget);
  result->words.assign(inside->words.size(), 0);
  Part unused;
  Judge judge(*this, unused, key, budget);
  const StateId whole = pattern_.automaton().unbounded(loop.repetition, budget);
  std::vector<bool> lands(tokenization_->rules().guess_count(), false);
  for (std::uint32_t word = 0; word < inside->words.size(); ++word)
    for (std::uint32_t bits = inside->words[word] & ~tokenization_->opening()[word]; bits != 0; bits &= bits - 1) {
      const TokenId token{32 * word + static_cast<std::uint32_t>(std::countr_zero(bits))};
      if (!judge.may_stand(token)) continue;
      budget.step();
      const Landing::Target& target = judge.landing().targets()[judge.landing().target_of(token.value) - 1];
      if (target.place != CodePoints::kBetween) {
        if (!has(tokenization_->pieces().following(), token)) continue;
        const std::optional<StateId> state = pattern_.step({whole, false}, token, budget);
        const TextState text{target.guess, target.place, TextState::kAnyStarter, 0, AddedTokens::kNothing};
        if (!state || !ends_code_point({*state, token, 0, text}, lands, 3, budget)) {
          result->doubtful.push_back(token.value);
          continue;
        }
      } else {
        lands[target.guess] = true;
      }
      add(result->words, token.value);
      result->has_meeting |= has(tokenization_->meeting(), token);
      result->longest = std::max<std::size_t>(result->longest, tokenization_->vocabulary().code_points_begun(token));
    }
  for (std::uint16_t guess = 0; guess < lands.size(); ++guess)
    if (lands[guess]) result->guesses.push_back(guess);
  tokenization_->keep_within(name, result);
  return result;
}

// Whether tokens of single bytes can end the code point that is open, without leaving the class; notes where
// that leads.
bool CanonicalAutomaton::ends_code_point(const Node& node, std::vector<bool>& lands, int most, Budget& budget) {
  if (most == 0) return false;
  for (unsigned value = 0x80; value < 0xC0; ++value) {
    const auto byte = static_cast<std::uint8_t>(value);
    const std::optional<TokenId> token = tokenization_->byte_token(byte);
    if (!token || !tokenization_->pieces().follow(node.pieces, node.last, *token)) continue;
    const StateId state = pattern_.automaton().next(node.state, byte, budget);
    TextState text = node.text;
    if (state == ByteAutomaton::kDead || !tokenization_->read(text, *token)) continue;
    if (text.place == CodePoints::kBetween) {
      lands[text.guess] = true;
      return true;
    }
    if (ends_code_point({state, *token, 0, text}, lands, most - 1, budget)) return true;
  }
  return false;
}

const CanonicalAutomaton::Touched& CanonicalAutomaton::touched(const PartKey& key, const Touch& touch, Budget& budget) {
  const auto full = std::pair(key, touch);
  if (const auto known = touched_.find(full); known != touched_.end()) return known->second;
  Touched changes;
  const auto judge = [&](std::uint32_t token) {
    const TokenCount count = bound_after(key, touch, {token}, budget);
    (count == kDead ? changes.dead : changes.live).push_back(token);
    if (count != kDead) changes.most = std::max(changes.most, count);
  };
  const std::vector<std::uint32_t> asked = part(key, budget).asked;
  for (const std::uint32_t token : asked) judge(token);
  if (touch.open != AddedTokens::kNothing) {
    const std::span<const std::uint32_t> order = tokenization_->vocabulary().trie().order();
    const TokenTrie& trie = tokenization_->vocabulary().trie();
    for (std::uint32_t child = trie.children_begin(TokenTrie::root()); child < trie.children_end(TokenTrie::root()); ++child)
      if (tokenization_->rules().added().may_extend(touch.open, trie.byte(child)))
        for (std::uint32_t i = trie.node({child}).tokens_begin; i < trie.node({child}).tokens_end; ++i)
          judge(order[i]);
  }
  return touched_.emplace(full, std::move(changes)).first->second;
}

TokenCount CanonicalAutomaton::bound_after(const PartKey& key, const Touch& touch, TokenId token, Budget& budget) {
  const Pieces& pieces = tokenization_->pieces();
  if (!has(tokenization_->possible(), token) || (key.at_start && tokenization_->is_never_first(token))) return kDead;
  budget.step();
  const std::optional<Pieces::State> after =
      key.edge == Hypothesis::Edge::Border ? pieces.begin(token) : pieces.extend(key.pieces, token);
  TextState text{key.guess, key.place, touch.starter, touch.marks, touch.open};
  if (!after || !tokenization_->read(text, token)) return kDead;
  const std::optional<StateId> target = pattern_step({key.state, key.at_start}, token, budget);
  return target ? bound({*target, token, *after, text}, budget) : kDead;
}

std::optional<CanonicalAutomaton::Target> CanonicalAutomaton::step(Place place, const CanonicalState& state, TokenId token,
                                                                   Budget& budget) {
  std::optional<CanonicalState> canonical = tokenization_->step(state, token);
  if (!canonical) return std::nullopt;
  const std::optional<StateId> target = pattern_step(place, token, budget);
  if (!target || !lives({*target, false}, *canonical, budget)) return std::nullopt;
  return Target{*target, std::move(*canonical)};
}

// ---- liveness -----------------------------------------------------------------------------------

bool CanonicalAutomaton::lives(Place place, const CanonicalState& state, Budget& budget) {
  if (accepting(place, state)) return true;
  if (place.at_start) return bound(place, state, budget) != kDead;
  // Behind a border first: it is known sooner.
  for (const Hypothesis& h : state.hypotheses)
    if (h.edge == Hypothesis::Edge::Border &&
        bound_by_text(place.state, {h.guess, h.place, state.starter, state.marks, state.open}, budget) != kDead)
      return true;
  return bound(place, state, budget) != kDead;
}

TokenCount CanonicalAutomaton::bound(Place place, const CanonicalState& state, Budget& budget) {
  if (accepting(place, state)) return 0;
  if (place.at_start) {
    const Made& first = made_mask(place, state, budget);
    return first.mask->open_tokens > 0 ? more(first.most, 1) : kDead;
  }
  TokenCount least = kDead;
  for (const Hypothesis& h : state.hypotheses) {
    const TextState text{h.guess, h.place, state.starter, state.marks, state.open};
    least = std::min(least, h.edge == Hypothesis::Edge::Border ? bound_by_text(place.state, text, budget)
                                                               : bound({place.state, state.last, h.pieces, text}, budget));
  }
  return least;
}

// What is found first is good enough: a bound on the tokens is wanted, and that there are any.
TokenCount CanonicalAutomaton::bound(const Node& node, Budget& budget) {
  const TokenCount at_border = bound_at_border(node, budget);
  return at_border != kDead ? at_border : bound_inside(node, budget);
}

TokenCount CanonicalAutomaton::bound_at_border(const Node& node, Budget& budget) {
  const TextRules& rules = tokenization_->rules();
  if (node.text.place != CodePoints::kBetween || !tokenization_->pieces().may_finish(node.pieces)) return kDead;
  const bool may_end = rules.may_end(node.text);
  if (may_end && pattern_.automaton().accepting(node.state)) return 0;
  TokenCount least = kDead;
  for (const std::uint16_t guess : rules.ends(node.text.guess)) {
    TextState text = node.text;
    text.guess = guess;
    least = std::min(least, bound_by_text(node.state, text, budget));
  }
  if (least != kDead || !may_end) return least;
  for (const AddedStep& added : added_steps({node.state, false}, budget))
    if (const TokenCount count = bound_behind(added, node.text.open, budget); count != kDead) return more(count, 1);
  return kDead;
}

// In bytes.
TokenCount CanonicalAutomaton::shortest_of(StateId state) const {
  const std::uint32_t bytes = pattern_.automaton().node(state).shortest;
  return bytes + 1 >= ExpressionNode::kUnspelled ? kEndless : bytes;
}

// Whether nothing that the rules ask of a text can keep it from going on as the pattern asks: the guess is
// free, and the pattern reads nothing that meets a mark or begins an added token.
bool CanonicalAutomaton::is_unbound(StateId state, const TextState& text) {
  const TextRules& rules = tokenization_->rules();
  if (text.place != CodePoints::kBetween || !rules.is_free(text.guess)) return false;
  if (text.open != AddedTokens::kNothing) return false;
  ByteAutomaton& bytes = pattern_.automaton();
  if (bytes.node(state).constrained || bytes.node(state).nullable) return false;
  return bytes.arena().first_bytes_within(bytes.expression(state)).is_subset_of(rules.calm());
}

// Whether some text follows that the pattern accepts and the hypothesis allows: a search of the pairs of states,
// by bytes, by ends of pre-tokens that are guessed between them, and by added tokens.  These are many and
// seldom needed, so that only every so often a pair has its turn with them.
TokenCount CanonicalAutomaton::bound_by_text(StateId state, const TextState& text, Budget& budget) {
  using Pair = std::pair<StateId, TextState>;
  constexpr std::size_t kTurn = 32;
  struct Came {
    Pair from;
    TokenCount by;  // tokens, at most
  };
  const Pair start(state, text);
  if (const auto known = by_text_.find(start); known != by_text_.end()) return known->second;
  const TextRules& rules = tokenization_->rules();
  ByteAutomaton& bytes = pattern_.automaton();
  std::unordered_map<Pair, Came, PairHash> from{{start, {start, 0}}};
  std::deque<Pair> open{start}, late;
  const auto found = [&](const Pair& at, TokenCount count) {
    for (Pair back = at;;) {
      const auto [known, is_new] = by_text_.try_emplace(back, count);
      if (!is_new) known->second = std::min(known->second, count);
      if (back == start) return known->second;
      const Came& came = from.at(back);
      count = more(count, came.by);
      back = came.from;
    }
  };
  for (std::size_t turn = 1; !open.empty() || !late.empty(); ++turn) {
    const bool is_late = open.empty() || (!late.empty() && turn % kTurn == 0);
    std::deque<Pair>& queue = is_late ? late : open;
    const Pair here = queue.front();
    queue.pop_front();
    budget.step();
    const auto& [at, rest] = here;
    const auto offer = [&](StateId target, const TextState& after, TokenCount by) {
      if (from.emplace(Pair(target, after), Came{here, by}).second) open.emplace_back(target, after);
    };
    if (is_late) {
      for (const AddedStep& added : added_steps({at, false}, budget)) {
        const AddedTokens::Open behind = rules.added().behind(rest.open, added.number);
        if (behind == AddedTokens::kDead) continue;
        if (bytes.accepting(added.target)) return found(here, 1);
        for (const std::uint16_t guess : tokenization_->starts_behind(added.number))
          offer(added.target, {.guess = guess, .open = behind}, 1);
      }
      continue;
    }
    if (const auto known = by_text_.find(here); known != by_text_.end()) {
      if (known->second != kDead) return found(here, known->second);
      continue;
    }
    if (rules.may_end(rest)) {
      if (bytes.accepting(at)) return found(here, 0);
      if (!rules.added().empty()) late.push_back(here);
    }
    if (is_unbound(at, rest)) return found(here, shortest_of(at));
    if (rest.place == CodePoints::kBetween) {
      for (const std::uint16_t guess : rules.ends(rest.guess)) {
        TextState after = rest;
        after.guess = guess;
        offer(at, after, 0);
      }
    }
    std::vector<Pair> next;
    for (unsigned value = 0; value < 256; ++value) {
      const auto byte = static_cast<std::uint8_t>(value);
      const StateId target = bytes.next(at, byte, budget);
      if (target == ByteAutomaton::kDead) continue;
      TextState after = rest;
      if (!rules.read(after, byte)) continue;
      if (bytes.accepting(target) && rules.may_end(after)) return found(here, 1);
      next.emplace_back(target, after);
    }
    for (const Pair& pair : next) offer(pair.first, pair.second, 1);
  }
  for (const auto& [dead, back] : from) by_text_.emplace(dead, kDead);
  return kDead;
}

TokenCount CanonicalAutomaton::bound_inside(const Node& node, Budget& budget) {
  if (!tokenization_->pieces().may_go_on(node.pieces)) return kDead;
  if (const auto known = inside_.find(node); known != inside_.end()) return known->second;
  if (const TokenCount count = witness(node); count != kDead) return count;
  const TokenCount count = search_inside(node, false, budget);
  return count != kDead ? count : search_inside(node, true, budget);
}

// Whether a token that was found to live in this pair of states may stand here.
TokenCount CanonicalAutomaton::witness(const Node& node) const {
  if (node.pieces != 0) return kDead;
  const auto known = witnesses_.find({node.state, node.text});
  if (known == witnesses_.end()) return kDead;
  for (const auto& [token, count] : known->second)
    if (tokenization_->pieces().follow(node.pieces, node.last, token)) return more(count, 1);
  return kDead;
}

// Any way out is a witness, so that the search goes deep.  First with two tokens of each kind alone, and only
// where that fails with all of them.
TokenCount CanonicalAutomaton::search_inside(const Node& start, bool all, Budget& budget) {
  const Pieces& pieces = tokenization_->pieces();
  std::map<Node, Node> from{{start, start}};
  std::vector<Node> open{start};
  const auto found = [&](Node at, TokenCount count) {
    while (at != start) {
      const Node before = from.at(at);
      std::vector<std::pair<TokenId, TokenCount>>& known = witnesses_[{before.state, before.text}];
      if (known.size() < kMostWitnesses && before.pieces == 0 && at.pieces == 0) known.emplace_back(at.last, count);
      count = more(count, 1);
      inside_[before] = count;
      at = before;
    }
    return count;
  };
  while (!open.empty()) {
    const Node node = open.back();
    open.pop_back();
    budget.step();
    if (node != start) {
      if (const auto known = inside_.find(node); known != inside_.end()) {
        if (known->second != kDead) return found(node, known->second);
        continue;
      }
      if (const TokenCount count = witness(node); count != kDead) {
        inside_[node] = count;
        return found(node, count);
      }
    }
    const LandingPtr landing = tokenization_->landing(node.text.guess, node.text.place);
    std::vector<Node> next;
    std::optional<std::pair<Node, TokenCount>> out;
    const std::vector<bool> firsts = classes_that_go_on(node.text.guess, node.text.place);
    walk({node.state, false}, &firsts, budget, [&](StateId target, std::span<const std::uint32_t> tokens) {
      std::size_t taken = 0;
      for (const std::uint32_t value : tokens) {
        const TokenId token{value};
        if (landing->target_of(value) == 0) continue;
        const std::optional<Pieces::State> after = pieces.follow(node.pieces, node.last, token);
        if (!after) continue;
        TextState text = node.text;
        if (!tokenization_->read(text, token)) continue;
        budget.step();
        const Node reached{target, token, *after, text};
        if (const TokenCount count = bound_at_border(reached, budget); count != kDead) {
          from.emplace(reached, node);
          out = {reached, count};
          return false;
        }
        if (!pieces.may_go_on(*after)) continue;
        if (from.emplace(reached, node).second) next.push_back(reached);
        if (!all && ++taken == 2) break;
      }
      return true;
    });
    if (out) return found(out->first, out->second);
    // Those that need least are searched first.
    std::ranges::stable_sort(next, std::greater(), [&](const Node& n) { return pattern_.automaton().node(n.state).shortest; });
    open.insert(open.end(), next.begin(), next.end());
  }
  if (!all) return kDead;
  for (const auto& [dead, back] : from) inside_.emplace(dead, kDead);
  return kDead;
}

bool CanonicalAutomaton::lives_somewhere(StateId state, Budget& budget) {
  for (std::uint16_t guess = 0; guess < tokenization_->rules().guess_count(); ++guess)
    if (bound_by_text(state, {.guess = guess}, budget) != kDead) return true;
  return false;
}

// ---- budgets ------------------------------------------------------------------------------------

MaskPtr CanonicalAutomaton::mask_within(Place place, const CanonicalState& state, TokenCount left, Budget& budget) {
  const Made& whole = made_mask(place, state, budget);
  if (left > 0 && whole.most <= left - 1) return whole.mask;
  const MaskPtr all = whole.mask;
  auto mask = std::make_shared<Mask>();
  mask->serial = pattern_.take_serial();
  mask->words.assign(all->words.size(), 0);
  const Vocabulary& vocabulary = tokenization_->vocabulary();
  for (std::uint32_t token = 0; left > 0 && token < 32 * all->words.size(); ++token) {
    if (!has(all->words, {token}) || vocabulary.is_stop({token})) continue;
    const std::optional<Target> target = step(place, state, {token}, budget);
    if (target && is_within({target->state, false}, target->canonical, left - 1, nullptr, budget)) add(mask->words, token);
  }
  mask->open_tokens = mask->set_bits = count_bits(mask->words);
  if (accepting(place, state)) {
    for (const std::uint32_t stop : vocabulary.stop()) add(mask->words, stop);
    mask->set_bits += vocabulary.stop().size();
  }
  return mask;
}

// Whether so many tokens suffice.  With `route`, which they are; else what is known may do.
bool CanonicalAutomaton::is_within(Place place, const CanonicalState& state, TokenCount tokens, std::vector<TokenId>* route,
                                   Budget& budget) {
  if (accepting(place, state)) return true;
  const auto at_least = [&](StateId at) { return pattern_.room(at).at_least; };
  if (tokens == 0 || (!place.at_start && at_least(place.state) > tokens)) return false;
  const auto key = std::tuple(place.state, place.at_start, state);
  if (const auto known = at_least_.find(key); known != at_least_.end() && known->second > tokens) return false;
  const TokenCount enough = bound(place, state, budget);
  if (enough == kDead || (!route && enough <= tokens)) return enough != kDead;
  bool is_found = false;
  const auto visit = [&](TokenId token, StateId target) {
    std::optional<CanonicalState> after = tokenization_->step(state, token);
    if (!after) return;
    budget.step();
    if (route) route->push_back(token);
    is_found = is_within({target, false}, *after, tokens - 1, route, budget);
    if (!is_found && route) route->pop_back();
  };
  // What leads on is listed first: the walk must not be entered twice at once.
  std::vector<std::pair<TokenId, StateId>> ways;
  walk(place, nullptr, budget, [&](StateId target, std::span<const std::uint32_t> kind) {
    if (at_least(target) <= tokens - 1)
      for (const std::uint32_t token : kind) ways.emplace_back(TokenId{token}, target);
    return true;
  });
  for (const AddedStep& added : added_steps(place, budget)) ways.emplace_back(TokenId{tokenization_->added()[added.number]}, added.target);
  for (const auto& [token, target] : ways) {
    visit(token, target);
    if (is_found) return true;
  }
  TokenCount& known = at_least_[key];
  known = std::max(known, tokens + 1);
  return false;
}

std::vector<TokenId> CanonicalAutomaton::shortest(Place place, const CanonicalState& state, Budget& budget) {
  std::vector<TokenId> route;
  for (TokenCount tokens = 0; !is_within(place, state, tokens, &route, budget); ++tokens) route.clear();
  return route;
}

// ---- memory -------------------------------------------------------------------------------------

void CanonicalAutomaton::clear() {
  parts_.clear();
  masks_.clear();
  mask_order_.clear();
  by_text_.clear();
  added_steps_.clear();
  added_words_.clear();
  touched_.clear();
  inside_.clear();
  witnesses_.clear();
  at_least_.clear();
}

std::size_t CanonicalAutomaton::reclaim(std::size_t limit) {
  const std::size_t words = tokenization_->vocabulary().words() * sizeof(std::uint32_t);
  const std::size_t fixed = by_text_.size() * 80 + inside_.size() * 88 + witnesses_.size() * 160 +
                            (parts_.size() + added_words_.size()) * (words + 96);
  while (masks_.size() > 1 && fixed + masks_.size() * (words + 256) > limit) {
    masks_.erase(masks_.find(*mask_order_.front()));
    mask_order_.pop_front();
    oldest_serial_ = masks_.at(*mask_order_.front()).mask->serial;
  }
  return fixed + masks_.size() * (words + 256);
}

}  // namespace tokamata
