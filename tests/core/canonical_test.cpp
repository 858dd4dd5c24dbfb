// Canonical tokenization, by its parts and as a whole, on small tokenizers against plain simulations.

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "canonical/byte_pair_pieces.hpp"
#include "canonical/canonical_automaton.hpp"
#include "canonical/edge_search.hpp"
#include "canonical/longest_match_pieces.hpp"
#include "canonical/seam_search.hpp"
#include "expression/expression.hpp"
#include "matching/matcher.hpp"
#include "test.hpp"

namespace {

using namespace tokamata;
using Tokens = std::vector<std::uint32_t>;

// A byte-pair tokenizer over the letters a, b, c, made by chance.
struct Tokenizer {
  std::vector<std::string> texts;
  std::vector<Merge> merges;

  explicit Tokenizer(unsigned seed) {
    std::mt19937 draw(seed);
    const unsigned letters = 1 + draw() % 3;
    for (unsigned i = 0; i < letters; ++i) id_of(std::string(1, static_cast<char>('a' + i)));
    const unsigned wanted = 1 + draw() % 10;
    for (unsigned i = 0; i < wanted; ++i) {
      const auto left = static_cast<std::uint32_t>(draw() % texts.size()),
                 right = static_cast<std::uint32_t>(draw() % texts.size());
      if (texts[left].size() + texts[right].size() <= 10)
        merges.push_back({left, right, id_of(texts[left] + texts[right]), 0});
    }
    const unsigned style = draw() % 3;
    if (style == 1) std::shuffle(merges.begin(), merges.end(), draw);
    for (std::uint32_t i = 0; i < merges.size(); ++i) merges[i].rank = i;
    if (style == 2) by_ranks(draw);
  }

  // Every way of cutting a token in two is a merge of that token's rank, as in tiktoken.
  void by_ranks(std::mt19937& draw) {
    std::vector<std::uint32_t> ranks(texts.size());
    for (std::uint32_t i = 0; i < ranks.size(); ++i) ranks[i] = i;
    std::shuffle(ranks.begin(), ranks.end(), draw);
    merges.clear();
    for (std::uint32_t token = 0; token < texts.size(); ++token)
      for (std::size_t cut = 1; cut < texts[token].size(); ++cut) {
        const auto left = ids.find(texts[token].substr(0, cut)), right = ids.find(texts[token].substr(cut));
        if (left != ids.end() && right != ids.end())
          merges.push_back({left->second, right->second, token, ranks[token]});
      }
  }

  std::uint32_t id_of(const std::string& text) {
    const auto [known, is_new] = ids.emplace(text, static_cast<std::uint32_t>(texts.size()));
    if (is_new) texts.push_back(text);
    return known->second;
  }
  AtomLists atoms() const {
    AtomLists result;
    for (const std::string& text : texts) {
      const Tokens atoms = atoms_of(text);
      result.atoms.insert(result.atoms.end(), atoms.begin(), atoms.end());
      result.offsets.push_back(static_cast<std::uint32_t>(result.atoms.size()));
    }
    return result;
  }
  Tokens atoms_of(const std::string& text) const {
    Tokens parts;
    for (const char letter : text) parts.push_back(ids.at(std::string(1, letter)));
    return parts;
  }
  // The lowest rank first, and the leftmost of those.
  Tokens encode(Tokens parts) const {
    while (true) {
      std::size_t best = parts.size();
      const Merge* merge = nullptr;
      for (std::size_t i = 0; i + 1 < parts.size(); ++i)
        for (const Merge& one : merges)
          if (one.left == parts[i] && one.right == parts[i + 1]) {
            if (!merge || one.rank < merge->rank) {
              merge = &one;
              best = i;
            }
            break;
          }
      if (!merge) return parts;
      parts[best] = merge->result;
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
  }

  std::map<std::string, std::uint32_t> ids;
};

TEST(canonical_pairs_are_those_that_no_merge_tears_apart) {
  for (unsigned seed = 0; seed < 1500; ++seed) {
    const Tokenizer tokenizer(seed);
    const Merges merges(tokenizer.merges, tokenizer.atoms());
    const auto size = static_cast<std::uint32_t>(tokenizer.texts.size());
    for (std::uint32_t left = 0; left < size; ++left) {
      const Tokens made_of = tokenizer.encode(tokenizer.atoms_of(tokenizer.texts[left]));
      CHECK_EQUAL(merges.made_of({left}), made_of);
      CHECK_EQUAL(merges.is_made({left}), made_of == Tokens{left});
      std::uint32_t forbidden = 0;
      for (std::uint32_t right = 0; right < size; ++right) {
        if (!merges.is_made({left}) || !merges.is_made({right})) continue;
        const Tokens both = tokenizer.encode(tokenizer.atoms_of(tokenizer.texts[left] + tokenizer.texts[right]));
        CHECK_EQUAL(merges.may_follow({left}, {right}), both == (Tokens{left, right}));
        forbidden += !merges.may_follow({left}, {right});
      }
      CHECK_EQUAL(merges.forbidden_count({left}), forbidden);
    }
  }
}

// Every code point, in classes with borders everywhere, and every string of bytes that is none.
TEST(canonical_classes_of_code_points) {
  std::vector<ClassRange> ranges;
  const std::uint32_t borders[] = {0,      'a',    'z',    0x80,    0x7FF,   0x1000,  0x1234,
                                   0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x12345, 0x3FFFF, 0x10FFFF};
  for (std::uint16_t i = 0; i < std::size(borders); ++i)
    ranges.push_back({borders[i], i % 5 == 4 ? CodePoints::kDead : static_cast<std::uint16_t>(i % 3)});
  const CodePoints points(ranges);
  const auto read = [&](const std::string& bytes) {
    std::uint16_t place = CodePoints::kBetween;
    for (const char byte : bytes) {
      if (place & CodePoints::kComplete) return CodePoints::kDead;
      place = points.next(place, static_cast<std::uint8_t>(byte));
      if (place == CodePoints::kDead) break;
    }
    return place;
  };
  for (std::uint32_t point = 0; point <= 0x10FFFF; point += point % 5 ? 1 : 3) {
    std::string bytes;
    const auto tail = [&](unsigned shift) { bytes.push_back(static_cast<char>(0x80 | ((point >> shift) & 0x3F))); };
    if (point < 0x80) bytes = static_cast<char>(point);
    else if (point < 0x800) {
      bytes = static_cast<char>(0xC0 | (point >> 6));
      tail(0);
    } else if (point < 0x10000) {
      bytes = static_cast<char>(0xE0 | (point >> 12));
      tail(6);
      tail(0);
    } else {
      bytes = static_cast<char>(0xF0 | (point >> 18));
      tail(12);
      tail(6);
      tail(0);
    }
    const auto range = std::ranges::upper_bound(ranges, point, {}, &ClassRange::first) - 1;
    const bool is_text = (point < 0xD800 || point > 0xDFFF) && range->cls != CodePoints::kDead;
    CHECK_EQUAL(read(bytes),
                is_text ? static_cast<std::uint16_t>(CodePoints::kComplete | range->cls) : CodePoints::kDead);
  }
  for (const char* overlong :
       {"\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\x80", "\xC3\x41"})
    CHECK_EQUAL(read(overlong), CodePoints::kDead);
}

// Which added tokens a text is cut at: the leftmost, and of those the longest.
std::vector<std::pair<std::size_t, std::size_t>> cuts(const std::vector<std::string>& contents,
                                                      const std::string& text) {
  std::vector<std::pair<std::size_t, std::size_t>> found;  // where, and which
  for (std::size_t at = 0; at < text.size();) {
    std::size_t best = contents.size();
    for (std::size_t i = 0; i < contents.size(); ++i)
      if (text.compare(at, contents[i].size(), contents[i]) == 0 &&
          (best == contents.size() || contents[i].size() > contents[best].size()))
        best = i;
    if (best == contents.size()) {
      ++at;
      continue;
    }
    found.emplace_back(at, best);
    at += contents[best].size();
  }
  return found;
}

TEST(canonical_added_tokens_are_the_leftmost_and_longest) {
  std::mt19937 draw(7);
  for (unsigned round = 0; round < 600; ++round) {
    const auto word = [&](unsigned most) {
      std::string text;
      for (unsigned i = 1 + static_cast<unsigned>(draw() % most); i > 0; --i) text.push_back("ab"[draw() % 2]);
      return text;
    };
    std::set<std::string> chosen;
    for (unsigned i = 0; i < 3; ++i) chosen.insert(word(4));
    const std::vector<std::string> contents(chosen.begin(), chosen.end());
    const AddedTokens added(contents);
    // A text as ordinary bytes (no number) and added tokens, and whether it is cut there.
    for (unsigned walk = 0; walk < 60; ++walk) {
      AddedTokens::Open open = AddedTokens::kNothing;
      std::string text;
      std::vector<std::pair<std::size_t, std::size_t>> placed;
      for (unsigned step = 0; step < 6 && open != AddedTokens::kDead; ++step) {
        if (draw() % 3 == 0) {
          const std::size_t number = draw() % contents.size();
          placed.emplace_back(text.size(), number);
          open = added.after(open, number);
          text += contents[number];
        } else {
          const char byte = "abc"[draw() % 3];
          open = added.next(open, static_cast<std::uint8_t>(byte));
          text.push_back(byte);
        }
      }
      // What is dead is wrong whatever follows; what is not is right for some end, a letter of no content.
      if (open == AddedTokens::kDead) {
        bool is_ever = false;
        for (const std::string rest : {"", "a", "b", "c", "aa", "ab", "ba", "bb", "aab", "bba"})
          is_ever = is_ever || cuts(contents, text + rest) == placed;
        CHECK(!is_ever);
      } else {
        CHECK_EQUAL(cuts(contents, text + "c") == placed, true);
      }
    }
  }
}

// A space beside <m> belongs to no token: it is one that swallows white space on both sides.
TEST(canonical_texts_of_no_added_token_stand_nowhere) {
  const AddedTokens added({"<m>", "b"}, false, {" <m>", "<m> "});
  const AddedTokens::Open space = added.next(AddedTokens::kNothing, std::uint8_t{' '});
  CHECK(space != AddedTokens::kNothing && space != AddedTokens::kDead);
  CHECK_EQUAL(added.after(space, 0) == AddedTokens::kDead, true);
  CHECK_EQUAL(added.after(space, 1) == AddedTokens::kNothing, true);
  CHECK_EQUAL(added.next(space, std::uint8_t{'a'}) == AddedTokens::kNothing, true);
  const AddedTokens::Open mask = added.after(AddedTokens::kNothing, 0);
  CHECK_EQUAL(added.next(mask, std::uint8_t{' '}) == AddedTokens::kDead, true);
  CHECK_EQUAL(added.next(mask, std::uint8_t{'a'}) == AddedTokens::kNothing, true);
  CHECK_EQUAL(added.after(mask, 0) == mask, true);
  CHECK_EQUAL(added.next(AddedTokens::kNothing, " <m>") == AddedTokens::kDead, true);
}

// A tokenizer without pre-tokens: every code point is of one class.
TextRulesTables plain_rules(std::vector<std::string> added) {
  TextRulesTables tables;
  tables.ranges = {{0, 0}};
  tables.classes = {{0, 0, 0, 0, false}};
  tables.symbols = 1;
  tables.targets = {0};
  tables.end_offsets = {0, 0};
  tables.may_end = {1};
  tables.text_starts = tables.added_starts = tables.control_starts = {0};
  tables.composes = {0};
  tables.added = std::move(added);
  return tables;
}

// A form as an automaton: after an `a`, one `b` owes another one, and further ones do not matter.
TextRulesTables owing_rules() {
  TextRulesTables tables = plain_rules({});
  tables.ranges = {{0, 0}, {'a', 1}, {'b', 2}, {'c', 0}};
  tables.classes = {{0, 0, 0, 0, false}, {0, 0, 1, 0, false}, {0, 0, 2, 0, false}};
  tables.seconds = 3;
  tables.composes = {0, 0, 0};
  constexpr std::uint16_t none = TextRules::kDeadForm;
  tables.form_targets = {0, 1, 0, 0, 1, 2, none, none, 0};
  tables.form_states = {FormState::Ordinary, FormState::Ordinary, FormState::Owes};
  return tables;
}

TEST(forms_that_owe) {
  const TextRules rules(owing_rules());
  std::vector<std::string> texts{""};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string& text = texts[i];
    TextState state;
    const bool is_read =
        std::ranges::all_of(text, [&](char byte) { return rules.read(state, static_cast<std::uint8_t>(byte)); });
    bool keeps = true, ends = true;
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text.substr(at, 2) != "ab" || text.substr(at, 3) == "abb") continue;
      (at + 2 == text.size() ? ends : keeps) = false;
    }
    CHECK_EQUAL(is_read, keeps);
    if (is_read) {
      CHECK_EQUAL(rules.may_end(state), ends);
      CHECK_EQUAL(rules.is_special(state), !ends);
    }
    if (text.size() < 6)
      for (const char letter : {'a', 'b', 'c'}) texts.push_back(texts[i] + letter);
  }
  CHECK_EQUAL(rules.begins_anew("a"), true);
  CHECK_EQUAL(rules.begins_anew("b"), false);
  CHECK_EQUAL(rules.is_unsteady("cab"), true);
  CHECK_EQUAL(rules.is_unsteady("b"), true);  // after an `a`
  CHECK_EQUAL(rules.is_unsteady("bb"), false);
  CHECK_EQUAL(rules.is_stable("aba"), false);
  CHECK_EQUAL(rules.steady().contains('b'), false);
  TextState any{.starter = rules.any_starter()};
  CHECK_EQUAL(rules.read(any, 'b'), false);
  const auto refused = [](auto change) {
    TextRulesTables tables = owing_rules();
    change(tables);
    try {
      const TextRules rules(std::move(tables));
    } catch (const std::invalid_argument&) {
      return true;
    }
    return false;
  };
  CHECK_EQUAL(refused([](TextRulesTables& tables) { tables.form_targets.pop_back(); }), true);
  CHECK_EQUAL(refused([](TextRulesTables& tables) { tables.form_targets[0] = 3; }), true);
  CHECK_EQUAL(refused([](TextRulesTables& tables) { tables.form_states[0] = FormState::Special; }), true);
}

// A tokenizer without pre-tokens, its texts over the letters, and the sequence that it writes for each.
struct Small {
  explicit Small(unsigned seed) : tokenizer(seed), ignores(seed % 2) {
    const std::vector<std::string_view> views(tokenizer.texts.begin(), tokenizer.texts.end());
    letters = static_cast<unsigned>(
        std::ranges::count_if(tokenizer.texts, [](const auto& text) { return text.size() == 1; }));
    vocabulary = std::make_shared<const Vocabulary>(views, std::vector<std::uint32_t>{},
                                                    static_cast<std::uint32_t>(views.size()));
    auto pieces =
        std::make_unique<BytePairPieces>(Merges(tokenizer.merges, tokenizer.atoms()),
                                         std::vector<bool>(views.size(), true), ignores, true, vocabulary->words());
    tokenization = std::make_shared<const Tokenization>(vocabulary, plain_rules({}), std::move(pieces), Tokens{},
                                                        Tokens{}, Tokens{});
  }

  ExpressionPtr letter() const { return Expression::code_points({{'a', 'a' + letters - 1}}); }
  std::shared_ptr<Constraint> compiled(ExpressionPtr pattern, const Limits& limits = {}) const {
    return std::make_shared<Constraint>(std::move(pattern), vocabulary, nullptr, TokenAutomaton::ControlTokens{},
                                        limits, nullptr, tokenization);
  }
  Tokens encode(const std::string& text) const {
    const auto whole = tokenizer.ids.find(text);
    return ignores && whole != tokenizer.ids.end() ? Tokens{whole->second} : tokenizer.encode(tokenizer.atoms_of(text));
  }
  std::vector<std::string> texts(std::size_t longest) const {
    std::vector<std::string> all{""};
    for (std::size_t i = 0; i < all.size(); ++i)
      for (unsigned c = 0; c < letters && all[i].size() < longest; ++c)
        all.push_back(all[i] + static_cast<char>('a' + c));
    return all;
  }

  Tokenizer tokenizer;
  bool ignores;
  unsigned letters;
  std::shared_ptr<const Vocabulary> vocabulary;
  std::shared_ptr<const Tokenization> tokenization;
};

// The masks of a constraint with a least number of tokens, against all sequences of its texts.
void check_masks(const std::shared_ptr<Constraint>& constraint, const std::set<Tokens>& sequences,
                 std::size_t token_count, std::size_t least = 0) {
  std::map<Tokens, std::set<std::uint32_t>> following;
  for (const Tokens& sequence : sequences)
    for (std::size_t size = 0; size <= sequence.size(); ++size) {
      auto& next = following[Tokens(sequence.begin(), sequence.begin() + static_cast<std::ptrdiff_t>(size))];
      if (size < sequence.size()) next.insert(sequence[size]);
    }
  for (const auto& [place, next] : following) {
    Matcher matcher(constraint, {});
    if (least > 0) matcher.set_least(least);
    for (const std::uint32_t token : place) CHECK(matcher.advance({token}));
    const MaskPtr mask = matcher.mask();
    for (std::uint32_t token = 0; token < token_count; ++token)
      CHECK_EQUAL(mask->bits.contains(token), next.contains(token));
    CHECK_EQUAL(matcher.is_accepting(), sequences.contains(place));
    Tokens whole = place;
    for (const TokenId token : matcher.shortest_completion()) whole.push_back(token.value);
    CHECK(sequences.contains(whole));
  }
}

// All texts over the letters up to a length, against the masks of `.{least,most}`.
TEST(canonical_masks_of_small_tokenizers) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Small small(seed);
    const std::uint32_t least = seed % 3, most = 4;
    std::set<Tokens> sequences;
    for (const std::string& text : small.texts(most))
      if (text.size() >= least) sequences.insert(small.encode(text));
    check_masks(small.compiled(Expression::repetition(small.letter(), least, most, 0)), sequences,
                small.tokenizer.texts.size());
  }
}

// One token of the text, and up to two letters after it.  Memory is short, so that states are freed on the way.
TEST(canonical_masks_where_the_pattern_sees_token_edges) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Small small(seed);
    const std::size_t longest = 12;  // a token has ten letters at most
    std::set<Tokens> sequences;
    for (const std::string& text : small.texts(small.letters == 1 ? longest : 5)) {
      const Tokens tokens = small.encode(text);
      if (!tokens.empty() && text.size() <= small.tokenizer.texts[tokens[0]].size() + 2) sequences.insert(tokens);
    }
    const auto any = Expression::repetition(small.letter(), 0, small.letters == 1 ? longest : 5, 0);
    const auto pattern =
        Expression::intersection({any, Expression::concatenation({Expression::one_token(ByteSet::range('a', 'c')),
                                                                  Expression::repetition(small.letter(), 0, 2, 0)})});
    check_masks(small.compiled(pattern, Limits{.states = 60}), sequences, small.tokenizer.texts.size());
  }
}

// States, with the targets of each byte of `abc` and of an edge.
struct EdgeStates {
  void add(std::array<std::vector<std::uint32_t>, 3> letters, std::vector<std::uint32_t> edges, bool wide,
           bool accepts) {
    const auto take = [](std::vector<std::uint32_t>& offsets, std::vector<std::uint32_t>& targets,
                         const std::vector<std::uint32_t>& row) {
      targets.insert(targets.end(), row.begin(), row.end());
      offsets.push_back(static_cast<std::uint32_t>(targets.size()));
    };
    take(tables.offsets, tables.targets, {});  // of all other bytes
    for (const auto& row : letters) take(tables.offsets, tables.targets, row);
    take(tables.edge_offsets, tables.edge_targets, edges);
    tables.wide.push_back(wide);
    tables.accepting.push_back(accepts);
  }
  EdgeAutomaton automaton() const { return EdgeAutomaton(tables); }

  EdgeTables tables = [] {
    EdgeTables empty{.classes = {},
                     .class_count = 4,
                     .offsets = {0},
                     .targets = {},
                     .edge_offsets = {0},
                     .edge_targets = {},
                     .accepting = {},
                     .wide = {},
                     .starts = {0}};
    for (std::uint8_t i = 0; i < 3; ++i) empty.classes['a' + i] = static_cast<std::uint8_t>(i + 1);
    return empty;
  }();
};

// A text in which a token crosses the left border of an `a`, and one in which it crosses the right one, against all
// short texts; the tokens of these.
TEST(canonical_tokens_that_cross_a_border) {
  EdgeStates left, right;
  left.add({{{0, 1}, {0, 1}, {0, 1}}}, {0}, true, false);
  left.add({{{2}, {}, {}}}, {}, false, false);
  left.add({{{2}, {2}, {2}}}, {2}, true, true);
  right.add({{{0, 1}, {0}, {0}}}, {0}, true, false);
  right.add({{{2}, {2}, {2}}}, {}, false, false);
  right.add({{{2}, {2}, {2}}}, {2}, true, true);
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Small small(seed);
    const EdgeSearch search(small.tokenization, false);
    Budget budget(Limits{}, nullptr, 0);
    std::array<std::size_t, 2> shortest{100, 100};
    for (const std::string& text : small.texts(small.letters == 1 ? 12 : 5)) {
      const Tokens tokens = small.encode(text);
      if (!text.empty()) CHECK(search.tokens_of(text, Before::Nothing, 100'000, budget) == tokens);
      std::size_t begin = 0;
      for (const std::uint32_t token : tokens) {
        const std::string& piece = small.tokenizer.texts[token];
        if (piece.find('a', 1) != std::string::npos) shortest[0] = std::min(shortest[0], text.size());
        if (piece.find('a') < piece.size() - 1) shortest[1] = std::min(shortest[1], text.size());
        begin += piece.size();
      }
    }
    for (std::size_t side = 0; side < 2; ++side) {
      const EdgeAutomaton automaton = (side == 0 ? left : right).automaton();
      const auto found = search.shortest(automaton, Before::Nothing, 100'000, budget);
      if (shortest[side] < 100) CHECK(found && found->size() <= shortest[side]);
      if (found) CHECK_EQUAL(found->size() > 5 || found->size() == shortest[side], true);
    }
  }
}

// Words of `a` and `b` with a space before each, which is hidden at the start of a text, and an added token `c`, a
// letter that no other token has.
struct SmallWords {
  explicit SmallWords(unsigned seed) : texts{" c", " a", " b", "a", "b"}, roles{Role::None} {
    std::mt19937 draw(seed);
    for (unsigned i = 0; i < draw() % 6; ++i) {
      std::string text(draw() % 2, ' ');
      for (unsigned length = 2 + draw() % 2; length > 0; --length) text += static_cast<char>('a' + draw() % 2);
      if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
    }
    for (std::size_t i = 1; i < texts.size(); ++i) roles.push_back(texts[i][0] == ' ' ? Role::Begins : Role::Continues);
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    const auto vocabulary =
        std::make_shared<const Vocabulary>(views, Tokens{}, static_cast<std::uint32_t>(views.size()));
    tokenization = std::make_shared<const Tokenization>(vocabulary, rules(),
                                                        std::make_unique<LongestMatchPieces>(*vocabulary, roles, ""),
                                                        Tokens{0}, Tokens{}, Tokens{});
  }
  // Hypotheses: at the start of a text, at a border, after a space, in a word.
  static TextRulesTables rules() {
    TextRulesTables tables;
    tables.ranges = {
        {0, CodePoints::kDead}, {' ', 0}, {' ' + 1, CodePoints::kDead}, {'a', 1}, {'c', CodePoints::kDead}};
    tables.classes = {{0, 0, 0, 0, false}, {1, 0, 0, 0, false}};
    tables.symbols = 2;
    constexpr std::uint16_t none = TextRules::kDeadGuess;
    tables.targets = {2, none, 2, none, none, 3, none, 3};
    tables.end_offsets = {0, 0, 0, 0, 1};
    tables.ends = {1};
    tables.may_end = {1, 1, 0, 1};
    tables.text_starts = {0};
    tables.added_starts = tables.control_starts = {1};
    tables.composes = {0};
    tables.added = {"c"};
    tables.added_are_apart = true;
    return tables;
  }
  // Nothing where the tokens are decoded to another text.
  std::optional<Tokens> encode(const std::string& text) const {
    Tokens tokens;
    std::string decoded;
    bool is_begun = false;
    for (std::size_t at = 0; at < text.size();) {
      if (text[at] == ' ') {
        is_begun = false;
        ++at;
        continue;
      }
      std::size_t best = 0, length = 0;
      for (std::size_t token = 0; token < texts.size(); ++token) {
        const std::string piece = texts[token].substr(texts[token][0] == ' ' ? 1 : 0);
        const bool fits = piece == "c" || (roles[token] == Role::Continues) == is_begun;
        if (fits && piece.size() > length && text.compare(at, piece.size(), piece) == 0)
          best = token, length = piece.size();
      }
      is_begun = text[at] != 'c';
      at += length;
      tokens.push_back(static_cast<std::uint32_t>(best));
      decoded += texts[best];
    }
    return decoded == (text.empty() ? "" : " " + text) ? std::optional(tokens) : std::nullopt;
  }

  using Role = LongestMatchPieces::Role;
  std::vector<std::string> texts;
  std::vector<Role> roles;
  std::shared_ptr<const Tokenization> tokenization;
};

// The same question about the left border, where the space before a word belongs to its token.
TEST(canonical_tokens_of_words_that_cross_a_border) {
  EdgeStates left;
  left.tables.classes[' '] = left.tables.classes['c'];
  left.add({{{0, 1}, {0, 1}, {0, 1}}}, {0}, true, false);
  left.add({{{2}, {}, {}}}, {}, false, false);
  left.add({{{2}, {2}, {2}}}, {2}, true, true);
  for (unsigned seed = 0; seed < 20; ++seed) {
    const SmallWords small(seed);
    const EdgeSearch search(small.tokenization, true);
    Budget budget(Limits{}, nullptr, 0);
    std::vector<std::string> texts{""};
    std::size_t shortest = 100;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::string text = texts[i];
      for (const char letter : std::string("ab c"))
        if (text.size() < 5) texts.push_back(text + letter);
      const std::optional<Tokens> tokens = small.encode(text);
      if (!text.empty()) CHECK(search.tokens_of(text, Before::Nothing, 100'000, budget) == tokens);
      std::size_t hidden = 1;
      for (const std::uint32_t token : tokens.value_or(Tokens{}))
        if (small.texts[token].substr(std::exchange(hidden, 0)).find('a', 1) != std::string::npos)
          shortest = std::min(shortest, text.size());
    }
    const auto found = search.shortest(left.automaton(), Before::Nothing, 100'000, budget);
    CHECK_EQUAL(found && found->size() == shortest, shortest < 100);
  }
}

// `a`, then any text: a pre-token goes on over the seam, since the tokenizer has one for a whole text.
TEST(canonical_seams_between_parts) {
  EdgeStates parts;
  parts.add({{{1}, {}, {}}}, {}, false, false);
  parts.add({}, {2}, false, false);
  parts.add({{{2}, {2}, {2}}}, {}, false, true);
  for (unsigned seed = 0; seed < 8; ++seed) {
    const Small small(seed);
    Budget budget(Limits{}, nullptr, 0);
    const SeamTexts texts =
        texts_with_seams(*small.tokenization, parts.automaton(), Before::Nothing, 4, 100'000, budget);
    CHECK(texts.joined && texts.joined->text == "aa" && texts.joined->seams == std::vector<std::uint32_t>{1});
    CHECK(texts.different.empty() && !texts.unstable);
  }
}

TEST(canonical_texts_of_a_least_number_of_tokens) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Small small(seed);
    const std::size_t least = 1 + seed % 4;
    std::set<Tokens> sequences;
    for (const std::string& text : small.texts(5))
      if (Tokens tokens = small.encode(text); tokens.size() >= least) sequences.insert(std::move(tokens));
    const auto constraint = small.compiled(Expression::repetition(small.letter(), 0, 5, 0));
    Matcher matcher(constraint, {});
    if (sequences.empty()) CHECK_THROWS(TooFewTokens, matcher.set_least(least));
    else check_masks(constraint, sequences, small.tokenizer.texts.size(), least);
  }
}

}  // namespace
