// The masks of a constraint as bytes, for another process: what a file holds of them.
//
// Problem.  What was computed for a constraint should outlive the process.  Bytes from a file are untrusted: whatever
// they are, reading them must not crash, hold more memory than Limits allow, or lead into a state that the constraint
// does not have.
// How.  MaskRecords (composition/mask_records.hpp) in order: rows that several masks share, masks, states.  Numbers
// have seven bits a byte, lowest first, and words of masks 32 bits.  A count is compared with the bytes that are left
// before anything is allocated for it.  States are read by the automaton itself.  A mask has the width of the
// vocabulary, no bit past it, and the stop tokens where the text may end; beyond that, its bits are trusted.
// Example.  A mask of two tokens, 3 and 40: no shared row, two words, places 0 and +1, bits 0x8 and 0x100.
// Cost.  A pass over the bytes.  Bytes have no checksum: whoever writes the file adds one
// (src/tokamata/matching/kept_compiled.py).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "composition/mask_records.hpp"
#include "matching/constraint.hpp"

namespace tokamata {

std::string bytes_of_records(const MaskRecords& records, const Vocabulary& vocabulary);
// Nothing if the bytes are not those of records for such a vocabulary.  `shared` gets the rows that masks share.
// Throws LimitExceeded where they would take more than Limits::memory_bytes.
std::optional<MaskRecords> records_of_bytes(std::string_view bytes, const std::shared_ptr<const Vocabulary>& vocabulary,
                                            Budget& budget, std::vector<SharedWords>& shared);

class KeptMasks {
 public:
  // Of the states that a caller uses, which others may use too.
  explicit KeptMasks(Constraint& caller) : caller_(caller), states_(caller.states()) {}

  // All masks that are kept now, and how their states are reached.  Throws Cancelled.
  std::string bytes(const std::shared_ptr<const CancelToken>& cancel);
  // Puts back what another process has computed; returns how many states have a mask by it, or nothing if the bytes are
  // damaged or are those of another constraint: then nothing has changed, except that states were computed.  It ends
  // early, without an error, at three quarters of Limits::memory_bytes, at another limit or after `seconds`.  Throws
  // Cancelled.
  std::optional<std::size_t> read(std::string_view bytes, double seconds,
                                  const std::shared_ptr<const CancelToken>& cancel);

 private:
  Constraint& caller_;
  SharedConstraint& states_;
};

}  // namespace tokamata
