// Segments of terminals on disk: what was written is read, and nothing else is taken for it.

#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "amounts.hpp"
#include "expression/expression.hpp"
#include "json/json_rule_set.hpp"
#include "matching/matcher.hpp"
#include "test.hpp"
#include "vocabulary/segment_bytes.hpp"
#include "vocabulary/segment_files.hpp"

namespace {

using tokamata::bytes_of_segment;
using tokamata::Segment;
using tokamata::segment_of_bytes;
using tokamata::SegmentFiles;
using tokamata::TokenTrie;

constexpr SegmentFiles::Duration kNone{0}, kSome{1};
constexpr std::uint64_t kMuch = 1 << 30;

std::uint32_t below(std::mt19937& random, std::uint32_t bound) {
  return std::uniform_int_distribution<std::uint32_t>(0, bound - 1)(random);
}

struct Case {
  std::uint32_t width;
  tokamata::Words text;  // the tokens that have a text
  std::size_t nodes;     // of the vocabulary's trie
  std::string structure;
  Segment segment;
};

// The remainders of random tokens, as the engine makes them.
Case random_case(std::mt19937& random) {
  std::vector<std::string> tokens(1 + below(random, 40));
  for (std::string& token : tokens)
    for (std::uint32_t length = below(random, 6); length > 0; --length)
      token.push_back(static_cast<char>("ab\xff"[below(random, 3)]));
  const std::vector<std::string_view> views(tokens.begin(), tokens.end());
  const TokenTrie trie(views);
  Case made;
  made.nodes = trie.node_count();
  made.width = static_cast<std::uint32_t>(tokens.size()) + below(random, 40);
  made.text.assign((made.width + 31) / 32, 0);
  for (const std::uint32_t token : trie.order()) tokamata::set_bit(made.text, token);
  for (std::uint32_t length = below(random, 30); length > 0; --length)
    made.structure.push_back(static_cast<char>(below(random, 256)));
  const bool is_listed = below(random, 3) == 0;
  tokamata::Words inside((made.width + 31) / 32, 0);
  for (std::uint32_t token = 0; token < made.width; ++token) {
    if (!tokamata::has_bit(made.text, token) || below(random, 2) == 0) continue;
    if (is_listed) made.segment.inside.listed.push_back(token);
    else tokamata::set_bit(inside, token);
  }
  if (!is_listed) made.segment.inside.bits = std::make_shared<const tokamata::Words>(std::move(inside));
  std::vector<TokenTrie::Place> ends;  // a part has read something
  for (std::uint32_t node = 1; node < trie.node_count(); ++node)
    if (below(random, 3) == 0) ends.push_back({&trie, {node}});
  const tokamata::ByteSet all = tokamata::ByteSet::range(0x00, 0xFF);
  const auto trunk = TokenTrie::trunk_of(ends, all, below(random, 2) == 0 ? 1 : 1000);
  if (trunk) made.segment.trunk = trunk->node;
  if (below(random, 2) == 0) made.segment.most = below(random, 100);
  made.segment.remainders = TokenTrie(std::move(ends), all, trunk);
  return made;
}

tokamata::Words longer(tokamata::Words text) {
  text.push_back(0);
  return text;
}

bool same(const Segment& a, const Segment& b) {
  const TokenTrie::Numbers x = a.remainders.numbers(), y = b.remainders.numbers();
  return a.inside == b.inside && a.trunk == b.trunk && a.most == b.most && x.bytes == y.bytes &&
         x.children == y.children && x.own == y.own && x.tokens == y.tokens;
}

// Every node below the ends of a trie, in any order: which bytes remain, and which tokens have them.
using Remainders = std::multiset<std::pair<std::string, std::uint32_t>>;
Remainders remainders_of(const TokenTrie& trie) {
  Remainders found;
  const auto visit = [&](auto&& self, tokamata::NodeId node, const std::string& bytes) -> void {
    for (const std::uint32_t token : trie.own(node)) found.emplace(bytes, token);
    for (const std::uint8_t byte : trie.bytes_below(node))
      self(self, trie.child(node, byte), bytes + static_cast<char>(byte));
  };
  visit(visit, TokenTrie::root(), "");
  return found;
}

// The engine may walk it: a tree, all of it below the root, whose tokens are texts of the vocabulary.
void check_walkable(const Segment& segment, const tokamata::Words& text, std::size_t nodes) {
  CHECK(segment.trunk.value < nodes);
  const auto is_text = [&](std::uint32_t token) { return token < 32 * text.size() && tokamata::has_bit(text, token); };
  if (!segment.inside.is_listed()) CHECK_EQUAL(segment.inside.bits->size(), text.size());
  CHECK(segment.inside.is_listed() || segment.inside.listed.empty());
  segment.inside.for_each([&](std::uint32_t token) { CHECK(is_text(token)); });
  const TokenTrie& trie = segment.remainders;
  const std::size_t count = trie.node_count(), tokens = trie.order().size();
  std::vector<unsigned> parents(count, 0);
  for (std::uint32_t at = 0; at < count; ++at) {
    const std::uint32_t begin = trie.children_begin({at}), end = trie.children_end({at});
    const TokenTrie::Node& node = trie.node({at});
    CHECK(begin <= end && end <= count);
    CHECK(node.tokens_begin <= trie.own_end({at}) && trie.own_end({at}) <= node.tokens_end &&
          node.tokens_end <= tokens);
    std::uint32_t next = trie.own_end({at});  // the tokens of the children lie side by side after a node's own
    for (std::uint32_t child = begin; child < end; ++child) {
      CHECK(child > at);
      ++parents[child];
      CHECK_EQUAL(trie.node({child}).tokens_begin, next);
      next = trie.node({child}).tokens_end;
    }
    CHECK_EQUAL(next, node.tokens_end);
  }
  for (std::size_t at = 0; at < parents.size(); ++at) CHECK_EQUAL(parents[at], at == 0 ? 0u : 1u);
  CHECK_EQUAL(trie.node(TokenTrie::root()).tokens_end, tokens);
  for (const std::uint32_t token : trie.order()) CHECK(is_text(token));
}

// A folder that goes when the test ends.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() / ("tokamata-test-" + std::to_string(std::random_device()()))) {}
  ~Folder() {
    std::error_code none;
    std::filesystem::remove_all(path_, none);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    if (std::filesystem::exists(path_))
      for (const auto& entry : std::filesystem::directory_iterator(path_)) found.push_back(entry.path());
    return found;
  }

 private:
  std::filesystem::path path_;
};

void write(const std::filesystem::path& place, const std::string& bytes) {
  std::ofstream(place, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Bytes and some longer tokens, many columns of padding behind them, and an array of strings of at most 12 characters.
class PaddedVocabulary {
 public:
  PaddedVocabulary() {
    for (unsigned byte = 0; byte < 256; ++byte) texts_.emplace_back(1, static_cast<char>(byte));
    for (const char* more :
         {"ab", "abcdefgh", "abcdefghijklmno", "a\"", "a\",\"b", "abcdefghij\"]", "\"]", "\",", "[\""})
      texts_.emplace_back(more);
  }
  std::uint32_t width() const { return static_cast<std::uint32_t>(texts_.size()) + 4096; }
  std::vector<std::string_view> views() const { return {texts_.begin(), texts_.end()}; }

  // Along a walk through a string.
  static std::vector<tokamata::Words> masks(const std::shared_ptr<const tokamata::Vocabulary>& vocabulary) {
    namespace json = tokamata::json;
    using Table = json::ValueTable;
    const auto table = std::make_shared<Table>();
    const auto texts =
        table->add(Table::AllOf{{table->add(Table::Types{json::kString}), table->add(Table::StringLength{0, 12})}});
    const auto root =
        table->add(Table::AllOf{{table->add(Table::Types{json::kArray}), table->add(Table::Items{{}, texts})}});
    const auto grammar = tokamata::Expression::grammar(std::make_shared<json::JsonRuleSet>(
        table, root, json::Style{json::Whitespace::Compact, json::PropertyOrder::Any, json::Spelling::Plain}));
    tokamata::Matcher matcher(std::make_shared<tokamata::Constraint>(
        grammar, vocabulary, nullptr, tokamata::TokenAutomaton::ControlTokens(), tokamata::Limits(), nullptr));
    std::vector<tokamata::Words> found;
    for (const char byte : std::string("[\"abcdefg\",\"")) {
      found.push_back(matcher.mask()->bits.row());
      CHECK(matcher.advance({static_cast<std::uint8_t>(byte)}));
    }
    found.push_back(matcher.mask()->bits.row());
    return found;
  }

 private:
  std::vector<std::string> texts_;
};

// The trunk is the largest end, if at least half of what remains is there; it and what is copied are all that remains.
void check_trunk(const std::vector<TokenTrie::Place>& ends, const tokamata::ByteSet& first,
                 const Remainders& expected) {
  const auto after = [&](const TokenTrie::Place& end) {
    Remainders found = remainders_of(TokenTrie({end}, first, std::nullopt));
    std::erase_if(found, [](const auto& one) { return one.first.empty(); });
    return found;
  };
  std::size_t all = 0, largest = 0;
  for (const TokenTrie::Place& end : ends) {
    all += after(end).size();
    largest = std::max(largest, after(end).size());
  }
  const auto trunk = TokenTrie::trunk_of(ends, first, 1);
  CHECK_EQUAL(trunk.has_value(), largest > 0 && 2 * largest >= all);
  CHECK(!TokenTrie::trunk_of(ends, first, largest + 1));
  Remainders found = remainders_of(TokenTrie(ends, first, trunk));
  if (trunk) CHECK_EQUAL(after(*trunk).size(), largest);
  if (trunk) found.merge(after(*trunk));
  CHECK(found == expected);
}

// By their bytes, token by token.
TEST(remainders_are_what_is_left_of_tokens) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> tokens(1 + below(random, 40));
    for (std::string& token : tokens)
      for (std::uint32_t length = below(random, 6); length > 0; --length)
        token.push_back(static_cast<char>("ab\xff"[below(random, 3)]));
    const TokenTrie trie(std::vector<std::string_view>(tokens.begin(), tokens.end()));
    std::vector<TokenTrie::Place> ends;
    for (std::uint32_t node = 0; node < trie.node_count(); ++node)
      if (below(random, 3) == 0) ends.push_back({&trie, {node}});
    const tokamata::ByteSet first =
        below(random, 2) == 0 ? tokamata::ByteSet::range(0x00, 0xFF) : tokamata::ByteSet::range('b', 'b');
    Remainders expected;
    for (std::uint32_t token = 0; token < tokens.size(); ++token)
      for (std::size_t length = 0; length <= tokens[token].size() && !tokens[token].empty(); ++length) {
        const TokenTrie::Place end{&trie, *trie.find(tokens[token].substr(0, length))};
        const std::string_view remainder = std::string_view(tokens[token]).substr(length);
        const bool is_kept = remainder.empty() || first.contains(static_cast<std::uint8_t>(remainder.front()));
        if (is_kept && std::ranges::count(ends, end) > 0) expected.emplace(remainder, token);
      }
    const TokenTrie remainders(ends, first, std::nullopt);
    CHECK(remainders_of(remainders) == expected);
    check_trunk(ends, first, expected);
    const auto keep = [](std::uint32_t token, std::uint32_t depth) { return (token + depth) % 3 != 0; };
    std::erase_if(expected,
                  [&](const auto& one) { return !keep(one.second, static_cast<std::uint32_t>(one.first.size())); });
    CHECK(remainders_of(remainders.filtered(keep)) == expected);
  }
}

TEST(what_was_written_is_read) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const Case one = random_case(random);
    const auto read =
        segment_of_bytes(bytes_of_segment(one.structure, one.segment), one.structure, one.text, one.nodes);
    CHECK(read.has_value());
    CHECK(same(*read, one.segment));
    check_walkable(*read, one.text, one.nodes);
  }
}

TEST(what_is_damaged_is_refused) {
  std::mt19937 random(2);
  for (int round = 0; round < 40; ++round) {
    const Case one = random_case(random);
    const std::string bytes = bytes_of_segment(one.structure, one.segment);
    for (std::size_t length = 0; length < bytes.size(); ++length)
      CHECK(!segment_of_bytes(std::string_view(bytes).substr(0, length), one.structure, one.text, one.nodes));
    CHECK(!segment_of_bytes(bytes + '\0', one.structure, one.text, one.nodes));
    CHECK(!segment_of_bytes(bytes, one.structure + "x", one.text, one.nodes));
    if (!one.segment.inside.is_listed()) CHECK(!segment_of_bytes(bytes, one.structure, longer(one.text), one.nodes));
    CHECK(!segment_of_bytes(bytes, one.structure, one.text, one.segment.trunk.value));
    for (int flip = 0; flip < 100; ++flip) {
      std::string damaged = bytes;
      damaged[below(random, static_cast<std::uint32_t>(bytes.size()))] ^= static_cast<char>(1u << below(random, 8));
      CHECK(!segment_of_bytes(damaged, one.structure, one.text, one.nodes));
    }
  }
}

// As if somebody had meant to: what is read, if anything, can be walked.
TEST(what_is_damaged_with_its_checksum_is_refused_or_walkable) {
  constexpr std::size_t kChecksum = 8, kBehind = 16;
  std::mt19937 random(3);
  unsigned taken = 0, refused = 0;
  const std::uint64_t rounds = test::drawn(300);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const Case one = random_case(random);
    const std::string bytes = bytes_of_segment(one.structure, one.segment);
    for (int damage = 0; damage < 200; ++damage) {
      std::string damaged = bytes;
      for (std::uint32_t changes = 1 + below(random, 3); changes > 0; --changes) {
        const std::size_t at = kBehind + below(random, static_cast<std::uint32_t>(damaged.size() - kBehind));
        switch (below(random, 4)) {
          case 0: damaged[at] ^= static_cast<char>(1u << below(random, 8)); break;
          case 1: damaged[at] = static_cast<char>(below(random, 2) ? 0xff : below(random, 4)); break;
          case 2: damaged.insert(at, 1 + below(random, 9), '\0'); break;
          default: damaged.erase(at, 1 + below(random, 9));
        }
        if (damaged.size() <= kBehind) damaged = bytes;
      }
      const std::uint64_t sum = tokamata::checksum_of(std::string_view(damaged).substr(kBehind));
      damaged.replace(kChecksum, sizeof sum, reinterpret_cast<const char*>(&sum), sizeof sum);
      const auto read = segment_of_bytes(damaged, one.structure, one.text, one.nodes);
      if (read) check_walkable(*read, one.text, one.nodes);
      if (const auto structure = tokamata::structure_of(damaged))
        if (const auto other = segment_of_bytes(damaged, *structure, one.text, one.nodes))
          check_walkable(*other, one.text, one.nodes);
      ++(read ? taken : refused);
    }
  }
  CHECK(taken > 3 * rounds);  // both happen
  CHECK(refused > 3 * rounds);
}

TEST(files_are_found_by_those_who_come_after) {
  std::mt19937 random(4);
  const Folder folder;
  const Case one = random_case(random);
  SegmentFiles first(folder.path(), one.text, one.nodes, kNone, kMuch),
      second(folder.path(), one.text, one.nodes, kNone, kMuch);
  CHECK(!second.find(one.structure));
  first.keep(one.structure, one.segment, kSome);
  CHECK_EQUAL(folder.files().size(), 1u);
  const auto found = second.find(one.structure);
  CHECK(found && same(*found, one.segment));
  CHECK(!second.find(one.structure + "x"));
  if (!one.segment.inside.is_listed())
    CHECK(!SegmentFiles(folder.path(), longer(one.text), one.nodes, kNone, kMuch).find(one.structure));
}

TEST(the_newest_are_read_first) {
  std::mt19937 random(9);
  const Folder folder;
  std::vector<Case> cases;
  SegmentFiles files(folder.path(), tokamata::Words(2, ~std::uint32_t{0}), 1 << 16, kNone, kMuch);
  CHECK(files.newest(kMuch).empty());
  std::uint64_t newest_two = 0;
  for (int i = 0; i < 5; ++i) {
    Case one;
    do one = random_case(random);
    while (one.width > 64);
    one.segment.inside = {{}, std::make_shared<const tokamata::Words>(2, 0)};
    one.structure += std::to_string(i);
    files.keep(one.structure, one.segment, kSome);
    for (const auto& file : folder.files())  // the clock of the disk may be coarse
      std::filesystem::last_write_time(file, std::filesystem::last_write_time(file) - std::chrono::seconds(1));
    if (i >= 3) newest_two += bytes_of_segment(one.structure, one.segment).size();
    cases.push_back(std::move(one));
  }
  const auto found = files.newest(newest_two);
  CHECK_EQUAL(found.size(), 2u);
  CHECK_EQUAL(found[0].first, cases[4].structure);
  CHECK_EQUAL(found[1].first, cases[3].structure);
  for (const auto& [structure, segment] : found)
    CHECK(same(*segment, std::ranges::find(cases, structure, &Case::structure)->segment));
  for (const auto& file : folder.files()) write(file, "nothing");
  CHECK(files.newest(kMuch).empty());
}

TEST(damaged_files_are_written_over) {
  std::mt19937 random(5);
  const Folder folder;
  const Case one = random_case(random);
  SegmentFiles files(folder.path(), one.text, one.nodes, kNone, kMuch);
  for (const std::string& damage : {std::string(), std::string("nothing"), std::string(1000, '\xff')}) {
    files.keep(one.structure, one.segment, kSome);
    CHECK_EQUAL(folder.files().size(), 1u);
    write(folder.files()[0], damage);
    CHECK(!files.find(one.structure));
  }
  files.keep(one.structure, one.segment, kSome);
  CHECK(files.find(one.structure));
}

TEST(no_more_is_written_than_is_allowed_or_worth_it) {
  std::mt19937 random(6);
  const Folder folder;
  const Case one = random_case(random);
  const std::uint64_t size = bytes_of_segment(one.structure, one.segment).size();
  SegmentFiles files(folder.path(), one.text, one.nodes, SegmentFiles::Duration(0.5), size);
  files.keep(one.structure, one.segment, kNone);
  CHECK(folder.files().empty());
  files.keep(one.structure, one.segment, kSome);
  CHECK_EQUAL(folder.files().size(), 1u);
  files.keep(one.structure + "x", one.segment, kSome);
  CHECK_EQUAL(folder.files().size(), 1u);
}

TEST(a_folder_that_cannot_be_had_keeps_nothing) {
  std::mt19937 random(7);
  const Folder folder;
  write(folder.path(), "a file, where a folder should be");
  const Case one = random_case(random);
  SegmentFiles files(folder.path(), one.text, one.nodes, kNone, kMuch);
  files.keep(one.structure, one.segment, kSome);
  CHECK(!files.find(one.structure));
}

// A vocabulary that is wider than it has tokens, and files that name tokens of its padding.
TEST(tokens_of_the_padding_are_in_no_part) {
  const PaddedVocabulary tokens;
  const Folder folder;
  const auto masks = [&](bool with_files) {
    auto vocabulary =
        std::make_shared<tokamata::Vocabulary>(tokens.views(), std::vector<std::uint32_t>(), tokens.width());
    if (with_files)
      vocabulary->use_segment_files(std::make_unique<SegmentFiles>(folder.path(), vocabulary->text_words(),
                                                                   vocabulary->trie().node_count(), kNone, kMuch));
    return tokens.masks(vocabulary);
  };
  const auto expected = masks(false);
  CHECK(masks(true) == expected);
  CHECK(!folder.files().empty());
  const tokamata::Words all((tokens.width() + 31) / 32, ~std::uint32_t{0});
  unsigned forged = 0;
  for (const auto& place : folder.files()) {
    std::ifstream file(place, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const std::string structure(*tokamata::structure_of(bytes));
    Segment segment = *segment_of_bytes(bytes, structure, all, 1 << 16);
    if (!segment.inside.is_listed()) {
      tokamata::Words inside = *segment.inside.bits;
      tokamata::set_bit(inside, tokens.width() - 1);
      segment.inside.bits = std::make_shared<const tokamata::Words>(std::move(inside));
    }
    TokenTrie::Numbers numbers = segment.remainders.numbers();
    for (auto* list : {&segment.inside.listed, &numbers.tokens})
      for (std::uint32_t& token : *list) token = tokens.width() - 1 - token % 8;
    segment.remainders = *TokenTrie::of(numbers);
    write(place, bytes_of_segment(structure, segment));
    ++forged;
  }
  CHECK(forged > 0);
  CHECK(masks(true) == expected);
}

// The tokens  ab  and  ac : a child is found by its byte, so children that are out of order would hide each other.
TEST(numbers_whose_children_are_not_in_order_are_no_trie) {
  const TokenTrie::Numbers numbers{{0, 'a', 'b', 'c'}, {1, 2, 0, 0}, {0, 0, 1, 1}, {0, 1}};
  CHECK(TokenTrie::of(numbers)->find("ac").has_value());
  for (const auto& bytes : {std::vector<std::uint8_t>{0, 'a', 'c', 'b'}, std::vector<std::uint8_t>{0, 'a', 'b', 'b'}}) {
    TokenTrie::Numbers wrong = numbers;
    wrong.bytes = bytes;
    CHECK(!TokenTrie::of(wrong));
  }
}

TEST(many_write_and_read_at_once) {
  std::mt19937 random(8);
  const Folder folder;
  std::vector<Case> cases;
  for (int i = 0; i < 4; ++i) cases.push_back(random_case(random));
  std::vector<std::thread> threads;
  std::atomic<unsigned> wrong = 0, found = 0;
  for (unsigned thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (unsigned round = 0; round < 50; ++round) {
        const Case& one = cases[(round + thread) % cases.size()];
        SegmentFiles files(folder.path(), one.text, one.nodes, kNone, kMuch);
        if (round % 3 == 0) files.keep(one.structure, one.segment, kSome);
        if (const auto segment = files.find(one.structure)) ++(same(*segment, one.segment) ? found : wrong);
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK_EQUAL(wrong.load(), 0u);
  CHECK(found.load() > 0);
  CHECK(folder.files().size() <= cases.size());  // nothing unfinished is left
}

}  // namespace
