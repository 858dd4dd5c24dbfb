#include "canonical/tokenization.hpp"
#include "common/memoized.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "common/sort_unique.hpp"

namespace tokamata {

Tokenization::Tokenization(std::shared_ptr<const Vocabulary> vocabulary, TextRulesTables rules,
                           std::unique_ptr<const Pieces> pieces, std::vector<std::uint32_t> added,
                           std::vector<std::uint32_t> byte_tokens, std::vector<std::uint32_t> never_first)
    : vocabulary_(std::move(vocabulary)),
      rules_(std::move(rules)),
      pieces_(std::move(pieces)),
      added_(std::move(added)),
      is_byte_(vocabulary_->token_count(), false),
      byte_tokens_(std::move(byte_tokens)),
      never_first_(std::move(never_first)) {
  const auto is_token = [&](std::uint32_t token) { return token < vocabulary_->width(); };
  if (!std::ranges::all_of(added_, is_token))
    throw std::invalid_argument("tokenization: an added token is past the width");
  if (added_.size() != rules_.added().count())
    throw std::invalid_argument("tokenization: added tokens and their texts differ in number");
  std::vector<std::string_view> texts;
  for (std::size_t i = 0; i < added_.size(); ++i) {
    added_number_.emplace(added_[i], i);
    texts.push_back(vocabulary_->bytes({added_[i]}));
  }
  behind_added_ = rules_.added().after_all(AddedTokens::kNothing);
  added_trie_ = std::make_unique<const TokenTrie>(texts);
  for (const std::uint32_t token : byte_tokens_) {
    if (token >= is_byte_.size() || vocabulary_->bytes({token}).size() > 1)
      throw std::invalid_argument("tokenization: a byte token is not one of a byte");
    is_byte_[token] = !vocabulary_->bytes({token}).empty();
  }
  find_possible();
  find_symbol_paths();
  single_.fill(kNoToken);
  for (std::uint32_t token = 0; token < vocabulary_->token_count(); ++token) {
    const std::string_view bytes = vocabulary_->bytes({token});
    if (bytes.size() == 1 && has_bit(possible_, token) && has_bit(pieces_->following(), token))
      single_[static_cast<std::uint8_t>(bytes[0])] = token;
  }
}

CanonicalState Tokenization::begun(std::span<const std::uint16_t> guesses, AddedTokens::Open open) const {
  CanonicalState state;
  state.open = open;
  for (const std::uint16_t guess : guesses)
    state.hypotheses.push_back({guess, CodePoints::kBetween, Hypothesis::Edge::Border, {}});
  std::ranges::sort(state.hypotheses);
  return state;
}

bool Tokenization::read(TextState& state, TokenId token) const {
  const std::string_view bytes = vocabulary_->bytes(token);
  if (is_byte_token(token)) {
    const auto byte = static_cast<std::uint8_t>(bytes[0]);
    state.open = rules_.added().next(state.open, byte);
    return state.open != AddedTokens::kDead && rules_.read_fallback(state, byte);
  }
  if (state.place & TextState::kFallback) return false;
  return std::ranges::all_of(bytes, [&](char byte) { return rules_.read(state, static_cast<std::uint8_t>(byte)); });
}

std::uint8_t Tokenization::ends_of(const CanonicalState& state) const {
  std::uint8_t ends = 0;
  for (const Hypothesis& hypothesis : state.hypotheses) ends |= ends_of(hypothesis, state.marks);
  return ends;
}

std::optional<CanonicalState> Tokenization::step(const CanonicalState& state, TokenId token) const {
  if (const std::optional<std::size_t> number = added_number(token)) {
    if (!rules_.may_precede(ends_of(state), *number)) return std::nullopt;
    const AddedTokens::Open open = rules_.added().after(state.open, *number);
    if (open == AddedTokens::kDead) return std::nullopt;
    return begun(starts_after(*number), open);
  }
  if (token.value >= vocabulary_->token_count() || vocabulary_->bytes(token).empty()) return std::nullopt;
  if (state.is_start && is_never_first(token)) return std::nullopt;
  CanonicalState after;
  for (const Hypothesis& hypothesis : state.hypotheses) {
    const std::optional<Pieces::State> pieces = hypothesis.edge == Hypothesis::Edge::Border
                                                    ? pieces_->begin(token)
                                                    : pieces_->follow(hypothesis.pieces, state.last, token);
    if (!pieces) continue;
    TextState text{hypothesis.guess, hypothesis.place, state.starter, state.marks, state.open};
    if (!read(text, token)) continue;
    after.starter = text.starter;
    after.marks = text.marks;
    after.open = text.open;
    after.hypotheses.push_back({text.guess, text.place, Hypothesis::Edge::Inside, *pieces});
    if (text.place != CodePoints::kBetween || !pieces_->may_finish(*pieces)) continue;
    for (const std::uint16_t guess : rules_.ends(text.guess))
      after.hypotheses.push_back({guess, CodePoints::kBetween, Hypothesis::Edge::Border, {}});
  }
  if (after.hypotheses.empty()) return std::nullopt;
  sort_unique(after.hypotheses);
  after.last = token;
  return after;
}

// What comes furthest among the hypotheses is what stands in the way.
Refusal Tokenization::why_not(const CanonicalState& state, TokenId token) const {
  if (step(state, token)) return Refusal::None;
  if (added_number(token)) return ends_of(state) != 0 ? Refusal::AddedToken : Refusal::PreToken;
  const std::string_view bytes = vocabulary_->bytes(token);
  const auto has = [&](const Words& bits) { return has_bit(bits, token.value); };
  if (bytes.empty() || (!has(pieces_->beginning()) && !has(pieces_->following())) ||
      (state.is_start && is_never_first(token)))
    return Refusal::NeverMade;
  if (rules_.added().next(AddedTokens::kNothing, bytes) == AddedTokens::kDead) return Refusal::AddedToken;
  if (!is_byte_token(token) && !rules_.is_stable(bytes)) return Refusal::Normalizer;
  Refusal furthest = Refusal::PreToken;
  for (const Hypothesis& h : state.hypotheses) {
    TextState text{h.guess, h.place, state.starter, state.marks, state.open};
    if (read(text, token)) return Refusal::Merge;  // only the pieces are left to refuse it
    TextState without{h.guess, h.place, state.starter, state.marks, AddedTokens::kNothing};
    if (read(without, token)) furthest = Refusal::AddedToken;
    TextState guessed{.guess = h.guess, .place = h.place};
    const bool fits = std::ranges::all_of(
        bytes, [&](char byte) { return rules_.read_guess(guessed, static_cast<std::uint8_t>(byte)); });
    if (fits && furthest == Refusal::PreToken && rules_.has_normal_form()) furthest = Refusal::Normalizer;
  }
  return furthest;
}

// A token is possible if the model makes it, its own text is stable, and no added token lies within it.
void Tokenization::find_possible() {
  possible_.assign(vocabulary_->words(), 0);
  meeting_.assign(vocabulary_->words(), 0);
  unsteady_.assign(vocabulary_->words(), 0);
  opening_.assign(vocabulary_->words(), 0);
  for (std::uint32_t token = 0; token < vocabulary_->token_count(); ++token) {
    const std::string_view bytes = vocabulary_->bytes({token});
    if (bytes.empty() || added_number({token})) continue;
    if (!has_bit(pieces_->beginning(), token) && !has_bit(pieces_->following(), token)) continue;
    const AddedTokens::Open open = rules_.added().next(AddedTokens::kNothing, bytes);
    if (open == AddedTokens::kDead) continue;
    if (open != AddedTokens::kNothing) set_bit(opening_, token);
    if (!is_byte_token({token}) && !rules_.is_stable(bytes)) continue;
    set_bit(possible_, token);
    if (!rules_.has_normal_form()) continue;
    const bool is_unsteady = rules_.is_unsteady(bytes);
    if (is_unsteady) set_bit(unsteady_, token);
    if (!is_unsteady && rules_.begins_anew(bytes)) continue;
    set_bit(meeting_, token);
    meeting_tokens_.push_back(token);
  }
  plain_begun_ = pieces_->settled(true);
  plain_following_ = pieces_->settled(false);
  for (std::size_t i = 0; i < possible_.size(); ++i) {
    const std::uint32_t plain = possible_[i] & ~meeting_[i] & ~opening_[i];
    plain_begun_[i] &= plain;
    plain_following_[i] &= plain;
  }
}

// Tokens whose code points are of the same symbols land alike: the hypotheses are followed down the trie of symbols.
void Tokenization::find_symbol_paths() {
  symbol_paths_.assign(vocabulary_->token_count(), {kNoToken, 0});
  symbol_nodes_.assign(1, {0, 0});
  std::unordered_map<std::uint64_t, std::uint32_t> children;
  struct Under {
    NodeId node;
    SymbolPath path;
  };
  const TokenTrie& trie = vocabulary_->trie();
  std::vector<Under> open{{TokenTrie::root(), {0, CodePoints::kBetween}}};
  while (!open.empty()) {
    const auto [node, path] = open.back();
    open.pop_back();
    for (std::uint32_t i = trie.node(node).tokens_begin; i < trie.own_end(node); ++i)
      if (const std::uint32_t token = trie.order()[i]; has_bit(possible_, token) && !is_byte_[token])
        symbol_paths_[token] = path;
    for (std::uint32_t child = trie.children_begin(node); child < trie.children_end(node); ++child) {
      const std::uint16_t reached = rules_.next_place(path.place, trie.byte({child}));
      if (reached == CodePoints::kDead) continue;
      SymbolPath after{path.node, reached};
      if (reached & CodePoints::kComplete) {
        const std::uint16_t symbol = rules_.symbol_of(reached & static_cast<std::uint16_t>(~CodePoints::kComplete));
        const auto [known, is_new] = children.try_emplace((std::uint64_t{path.node} << 16) | symbol,
                                                          static_cast<std::uint32_t>(symbol_nodes_.size()));
        if (is_new) symbol_nodes_.push_back({path.node, symbol});
        after = {known->second, CodePoints::kBetween};
      }
      open.push_back({{child}, after});
    }
  }
}

// The numbers that targets have, as they are met.
class Landing::Numbering {
 public:
  explicit Numbering(Landing& landing) : landing_(landing) {}
  std::uint16_t operator()(std::uint16_t guess, std::uint16_t place) {
    if (last_.first == guess && last_.second == place && !landing_.targets_.empty()) return number_;
    const auto [known, is_new] =
        numbers_.try_emplace((std::uint32_t{guess} << 16) | place, static_cast<std::uint16_t>(numbers_.size() + 1));
    if (is_new) landing_.targets_.push_back({guess, place});
    last_ = {guess, place};
    return number_ = known->second;
  }

 private:
  Landing& landing_;
  std::unordered_map<std::uint32_t, std::uint16_t> numbers_;
  std::pair<std::uint16_t, std::uint16_t> last_{};
  std::uint16_t number_ = 0;
};

void Tokenization::land_from_between(std::uint16_t guess, Landing& landing) const {
  std::vector<std::uint16_t> guesses(symbol_nodes_.size(), guess);
  for (std::size_t node = 1; node < guesses.size(); ++node) {
    const std::uint16_t before = guesses[symbol_nodes_[node].parent];
    guesses[node] = before == TextRules::kDeadGuess ? before : rules_.next_guess(before, symbol_nodes_[node].symbol);
  }
  Landing::Numbering number(landing);
  std::vector<std::uint16_t> between(rules_.guess_count(), 0);  // the numbers of most targets
  landing.by_token_.assign(vocabulary_->token_count(), 0);
  for (std::uint32_t token = 0; token < symbol_paths_.size(); ++token) {
    const auto [node, place] = symbol_paths_[token];
    if (node == kNoToken || guesses[node] == TextRules::kDeadGuess) continue;
    const std::uint16_t reached = guesses[node];
    if (place == CodePoints::kBetween) {
      if (between[reached] == 0) between[reached] = number(reached, place);
      landing.by_token_[token] = between[reached];
    } else if (rules_.may_complete(reached, place)) {
      landing.by_token_[token] = number(reached, place);
    }
  }
  for_each_byte_token(guess, CodePoints::kBetween, [&](std::uint32_t token, const TextState& state) {
    landing.by_token_[token] = number(state.guess, state.place);
  });
}

void Tokenization::land_from_within(std::uint16_t guess, std::uint16_t place, Landing& landing) const {
  Landing::Numbering number(landing);
  const auto land = [&](std::uint32_t token, const TextState& state) {
    landing.listed_.emplace_back(token, number(state.guess, state.place));
  };
  if (!(place & TextState::kFallback)) {
    const TokenTrie& trie = vocabulary_->trie();
    std::vector<std::pair<NodeId, TextState>> open{{TokenTrie::root(), {.guess = guess, .place = place}}};
    while (!open.empty()) {
      const auto [node, state] = open.back();
      open.pop_back();
      for (std::uint32_t i = trie.node(node).tokens_begin; i < trie.own_end(node); ++i)
        if (const std::uint32_t token = trie.order()[i]; has_bit(possible_, token) && !is_byte_[token])
          land(token, state);
      for (std::uint32_t child = trie.children_begin(node); child < trie.children_end(node); ++child) {
        TextState after = state;
        if (rules_.read_guess(after, trie.byte({child}))) open.emplace_back(NodeId{child}, after);
      }
    }
  }
  for_each_byte_token(guess, place, land);
  std::ranges::sort(landing.listed_);
}

template <class Visit>
void Tokenization::for_each_byte_token(std::uint16_t guess, std::uint16_t place, Visit&& visit) const {
  for (const std::uint32_t token : byte_tokens_) {
    TextState state{.guess = guess, .place = place};
    if (!has_bit(possible_, token) || vocabulary_->bytes({token}).size() != 1) continue;
    if (rules_.read_fallback(state, static_cast<std::uint8_t>(vocabulary_->bytes({token})[0]))) visit(token, state);
  }
}

LandingPtr Tokenization::landing(std::uint16_t guess, std::uint16_t place) const {
  const std::uint32_t key = (std::uint32_t{guess} << 16) | place;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = landings_.find(key); known != landings_.end()) return known->second;
  }
  auto landing = std::make_shared<Landing>();
  if (place == CodePoints::kBetween) land_from_between(guess, *landing);
  else land_from_within(guess, place, *landing);
  const std::lock_guard lock(mutex_);
  return landings_.try_emplace(key, std::move(landing)).first->second;
}

Tokenization::LandingSetsPtr Tokenization::landing_sets(std::uint16_t guess, bool begins) const {
  return landing_sets_.get((std::uint32_t{guess} << 1) | begins, [&] {
    const LandingPtr all = landing(guess, CodePoints::kBetween);
    const Words& allowed = begins ? pieces_->beginning() : pieces_->following();
    LandingSets sets;
    sets.others.assign(possible_.size(), 0);
    std::vector<std::vector<std::uint32_t>> by_target(all->targets().size());
    for_each_bit_of(
        possible_.size(), [&](std::size_t i) { return possible_[i] & allowed[i]; },
        [&](std::uint32_t token) {
          const std::uint16_t number = all->target_of(token);
          if (number == 0) return;
          if (all->targets()[number - 1u].place != CodePoints::kBetween || has_bit(opening_, token) ||
              has_bit(meeting_, token))
            set_bit(sets.others, token);
          else by_target[number - 1u].push_back(token);
        });
    for (std::size_t i = 0; i < by_target.size(); ++i) {
      const auto number = static_cast<std::uint16_t>(i + 1);
      if (by_target[i].size() <= TokenSet::most_listed(possible_.size())) {
        for (const std::uint32_t token : by_target[i]) sets.few.emplace_back(token, number);
      } else {
        Words& words = sets.many.emplace_back(number, Words(possible_.size(), 0)).second;
        for (const std::uint32_t token : by_target[i]) set_bit(words, token);
      }
    }
    return sets;
  });
}

namespace {
template <class Exits>
std::size_t bytes_of_groups(const Exits& exits) {
  std::size_t bytes = shared_block_bytes<Exits>() + block_bytes_of(exits.doubtful) + block_bytes_of(exits.groups);
  for (const auto& group : exits.groups) bytes += group.tokens.memory_bytes();
  return bytes;
}

}  // namespace

std::size_t Tokenization::InsideClass::memory_bytes() const { return bytes_of_groups(*this); }

std::size_t Tokenization::TerminalExits::memory_bytes() const { return bytes_of_groups(*this); }

std::size_t Tokenization::TerminalSteps::memory_bytes() const {
  std::size_t bytes =
      shared_block_bytes<TerminalSteps>() + block_bytes_of(tokens) + block_bytes_of(many) + block_bytes_of(samples);
  for (const auto& [number, words] : many) bytes += block_bytes_of(words);
  for (const std::string& sample : samples)
    if (sample.capacity() > std::string().capacity()) bytes += block_bytes(sample.capacity() + 1);
  return bytes;
}

Tokenization::AddedInsideClassPtr Tokenization::make_added_inside_class(const std::string& key,
                                                                        const Words& inside) const {
  std::map<std::tuple<std::uint16_t, AddedTokens::Open, std::size_t>, std::vector<std::uint32_t>> groups;
  for (std::uint32_t number = 0; number < added_.size(); ++number)
    if (has_bit(inside, added_[number]))
      groups[{added_kind(number), behind_added(number), vocabulary_->code_points_begun({added_[number]})}].push_back(
          number);
  auto result = std::make_shared<AddedInsideClass>();
  for (auto& [where, numbers] : groups) {
    const auto& [kind, after, length] = where;
    result->longest = std::max(result->longest, length);
    result->groups.push_back(
        {kind, after, length, std::make_shared<const std::vector<std::uint32_t>>(std::move(numbers))});
  }
  return added_inside_class_.keep(key, std::move(result));
}

// Down the trie, as long as matches that were under way make a difference.
std::shared_ptr<const std::vector<std::uint32_t>> Tokenization::distinguished(AddedTokens::Open open) const {
  if (auto known = distinguished_.find(open)) return known;
  struct Under {
    NodeId node;
    AddedTokens::Open behind_these, behind_none;
  };
  const AddedTokens& added = rules_.added();
  const auto next = [&](AddedTokens::Open from, std::uint8_t byte) {
    return from == AddedTokens::kDead ? from : added.next(from, byte);
  };
  const TokenTrie& trie = vocabulary_->trie();
  auto tokens = std::make_shared<std::vector<std::uint32_t>>();
  std::vector<Under> under{{TokenTrie::root(), open, AddedTokens::kNothing}};
  while (!under.empty()) {
    const auto [node, behind_these, behind_none] = under.back();
    under.pop_back();
    if (node != TokenTrie::root())
      for (std::uint32_t i = trie.node(node).tokens_begin; i < trie.own_end(node); ++i)
        tokens->push_back(trie.order()[i]);
    for (std::uint32_t child = trie.children_begin(node); child < trie.children_end(node); ++child) {
      const Under after{{child}, next(behind_these, trie.byte({child})), next(behind_none, trie.byte({child}))};
      if (after.behind_these != after.behind_none) under.push_back(after);
    }
  }
  return distinguished_.keep(open, std::move(tokens));
}

std::shared_ptr<const Words> Tokenization::before(TokenId token) const {
  return before_.get(token.value, [&] { return pieces_->before(token); });
}

const Words& Tokenization::fitting(std::uint16_t starter, std::uint8_t marks) const {
  const std::lock_guard lock(mutex_);
  return memoized(fitting_, (std::uint32_t{starter} << 8) | marks, [&] {
    Words words(vocabulary_->words(), ~std::uint32_t{0});
    const auto judge = [&](std::uint32_t token) {
      if (!rules_.keeps_form(starter, marks, vocabulary_->bytes({token}))) clear_bit(words, token);
    };
    if (rules_.is_special(marks)) for_each_bit(possible_, judge);
    else std::ranges::for_each(meeting_tokens_, judge);
    return words;
  });
}

std::shared_ptr<const std::vector<std::uint32_t>> Tokenization::differing(std::uint16_t starter,
                                                                          std::uint8_t marks) const {
  return differing_.get(starter, [&] {
    std::vector<std::uint32_t> tokens;
    for_each_bit(possible_, [&](std::uint32_t token) {
      if (rules_.differs_from_start(starter, marks, vocabulary_->bytes({token}))) tokens.push_back(token);
    });
    return tokens;
  });
}

std::size_t Tokenization::memory_bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t landings = 0;
  for (const auto& [key, landing] : landings_) landings += landing->memory_bytes();
  landings += inside_class_.weight() + before_.size() * possible_.size() * sizeof(std::uint32_t);
  return rules_.memory_bytes() + pieces_->memory_bytes() + landings +
         fitting_.size() * possible_.size() * sizeof(std::uint32_t) + 6 * possible_.size() * sizeof(std::uint32_t) +
         symbol_paths_.size() * sizeof(SymbolPath) + symbol_nodes_.size() * sizeof(SymbolNode);
}

}  // namespace tokamata
