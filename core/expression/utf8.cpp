#include "expression/utf8.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <span>

#include "common/check.hpp"

namespace tokamata {

namespace {

// Lead bytes with the code points that they begin.  E0, ED, F0 and F4 begin fewer than 64^k:
// this is what keeps out overlong forms, surrogates and numbers past 0x10FFFF.
struct Block {
  std::uint8_t lead;
  std::uint32_t low;
  std::uint32_t high;
  unsigned continuation_count;
};

std::vector<Block> lead_blocks() {
  std::vector<Block> blocks;
  for (std::uint32_t lead = 0xC2; lead <= 0xDF; ++lead) {
    const std::uint32_t low = (lead & 0x1F) << 6;
    blocks.push_back({static_cast<std::uint8_t>(lead), low, low + 0x3F, 1});
  }
  for (std::uint32_t lead = 0xE0; lead <= 0xEF; ++lead) {
    const std::uint32_t low = (lead & 0x0F) << 12;
    blocks.push_back(
        {static_cast<std::uint8_t>(lead), lead == 0xE0 ? 0x800u : low, lead == 0xED ? 0xD7FFu : low + 0xFFF, 2});
  }
  for (std::uint32_t lead = 0xF0; lead <= 0xF4; ++lead) {
    const std::uint32_t low = (lead & 0x07) << 18;
    blocks.push_back(
        {static_cast<std::uint8_t>(lead), lead == 0xF0 ? 0x10000u : low, lead == 0xF4 ? 0x10FFFFu : low + 0x3FFFF, 3});
  }
  return blocks;
}

std::vector<CodePointRange> normalized(std::vector<CodePointRange> ranges) {
  std::vector<CodePointRange> valid;
  for (auto [low, high] : ranges) {
    high = std::min<std::uint32_t>(high, 0x10FFFF);
    if (low > high) continue;
    if (low < 0xD800) valid.push_back({low, std::min<std::uint32_t>(high, 0xD7FF)});
    if (high > 0xDFFF) valid.push_back({std::max<std::uint32_t>(low, 0xE000), high});
  }
  std::sort(valid.begin(), valid.end(), [](auto a, auto b) { return a.low < b.low; });
  std::vector<CodePointRange> merged;
  for (auto range : valid) {
    if (!merged.empty() && range.low <= merged.back().high + 1)
      merged.back().high = std::max(merged.back().high, range.high);
    else merged.push_back(range);
  }
  return merged;
}

}  // namespace

class CodePointAutomatonBuilder {
 public:
  using Transitions = std::vector<CodePointAutomaton::Transition>;

  explicit CodePointAutomatonBuilder(std::span<const CodePointRange> ranges) : ranges_(ranges) {
    states_.emplace_back();  // the final state
  }

  void build(CodePointAutomaton& automaton) {
    Transitions root;
    for (const CodePointRange& range : ranges_) {
      if (range.low > 0x7F) break;
      const auto high = static_cast<std::uint8_t>(std::min<std::uint32_t>(range.high, 0x7F));
      root.push_back({static_cast<std::uint8_t>(range.low), high, CodePointAutomaton::kFinal});
      automaton.full_blocks_ |= ByteSet::range(static_cast<std::uint8_t>(range.low), high);
    }
    static const std::vector<Block> blocks = lead_blocks();
    for (const Block& block : blocks) {
      const auto inside = within(block.low, block.high);
      if (inside.empty()) continue;
      add(root, block.lead, block.lead, remainder(block.low, block.high, block.continuation_count));
      if (inside.front().low <= block.low && inside.front().high >= block.high) automaton.full_blocks_.add(block.lead);
    }
    states_.push_back(root);
    automaton.start_ = static_cast<std::uint32_t>(states_.size() - 1);
    store(automaton);
  }

 private:
  // The given ranges that meet [low, high].
  std::span<const CodePointRange> within(std::uint32_t low, std::uint32_t high) const {
    auto first = std::lower_bound(ranges_.begin(), ranges_.end(), low,
                                  [](const CodePointRange& r, std::uint32_t value) { return r.high < value; });
    auto last = std::upper_bound(first, ranges_.end(), high,
                                 [](std::uint32_t value, const CodePointRange& r) { return value < r.low; });
    return {first, last};
  }

  static void add(Transitions& transitions, std::uint8_t low, std::uint8_t high, std::uint32_t target) {
    if (!transitions.empty() && transitions.back().target == target && transitions.back().high + 1 == low)
      transitions.back().high = high;
    else transitions.push_back({low, high, target});
  }

  // The state that accepts the last `count` bytes of the code points of the set in [low, high],
  // all of which share the bytes before.
  std::uint32_t remainder(std::uint32_t low, std::uint32_t high, unsigned count) {
    const unsigned shift = 6 * (count - 1);
    Transitions transitions;
    if (count == 1) {
      for (const CodePointRange& range : within(low, high))
        add(transitions, continuation(std::max(range.low, low)), continuation(std::min(range.high, high)),
            CodePointAutomaton::kFinal);
      return intern(std::move(transitions));
    }
    std::uint32_t block = low;
    while (true) {
      const auto inside = within(block, high);
      if (inside.empty()) break;
      const CodePointRange range = inside.front();
      block = std::max(block, range.low & ~((1u << shift) - 1));
      std::uint32_t block_high = std::min(high, block | ((1u << shift) - 1));
      std::uint32_t target;
      if (range.low <= block && range.high >= block_high && (block & ((1u << shift) - 1)) == 0 &&
          (block_high & ((1u << shift) - 1)) == ((1u << shift) - 1)) {
        // A run of whole blocks shares one remainder; taking it at once keeps `.` cheap.
        target = remainder(block, block_high, count - 1);
        const std::uint32_t run_high = std::min(high, ((range.high + 1) >> shift << shift) - 1);
        add(transitions, lead_bits(block, shift), lead_bits(run_high, shift), target);
        block_high = run_high;
      } else {
        target = remainder(block, block_high, count - 1);
        add(transitions, lead_bits(block, shift), lead_bits(block, shift), target);
      }
      if (block_high == high) break;
      block = block_high + 1;
    }
    return intern(std::move(transitions));
  }

  static std::uint8_t lead_bits(std::uint32_t code_point, unsigned shift) {
    return static_cast<std::uint8_t>(0x80 | ((code_point >> shift) & 0x3F));
  }
  static std::uint8_t continuation(std::uint32_t code_point) {
    return static_cast<std::uint8_t>(0x80 | (code_point & 0x3F));
  }

  std::uint32_t intern(Transitions transitions) {
    std::vector<std::uint64_t> key;
    for (const auto& t : transitions)
      key.push_back((std::uint64_t{t.low} << 40) | (std::uint64_t{t.high} << 32) | t.target);
    auto [place, is_new] = known_.try_emplace(std::move(key), static_cast<std::uint32_t>(states_.size()));
    if (is_new) states_.push_back(std::move(transitions));
    return place->second;
  }

  static bool is_in_order(const Transitions& transitions) {
    const auto ordered = [](const auto& t, const auto& next) { return t.high < next.low; };
    return std::ranges::all_of(transitions, [](const auto& t) { return t.low <= t.high; }) &&
           std::ranges::adjacent_find(transitions, std::not_fn(ordered)) == transitions.end();
  }

  void store(CodePointAutomaton& automaton) const {
    automaton.offsets_.push_back(0);
    std::uint64_t hash = automaton.start_;
    for (const Transitions& transitions : states_) {
      for (const auto& t : transitions) {
        automaton.transitions_.push_back(t);
        hash =
            (hash ^ ((std::uint64_t{t.low} << 40) | (std::uint64_t{t.high} << 32) | t.target)) * 0xff51afd7ed558ccdull;
        hash ^= hash >> 33;
      }
      automaton.offsets_.push_back(static_cast<std::uint32_t>(automaton.transitions_.size()));
    }
    automaton.hash_ = hash;
    TOKAMATA_CHECK(std::ranges::all_of(states_, is_in_order), "the transitions of a state are sorted and disjoint");
  }

  std::span<const CodePointRange> ranges_;
  std::vector<Transitions> states_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> known_;
};

CodePointAutomaton::CodePointAutomaton(std::vector<CodePointRange> ranges) {
  const auto merged = normalized(std::move(ranges));
  CodePointAutomatonBuilder(merged).build(*this);
}

}  // namespace tokamata
