// Segments of terminals as bytes, and back: what a file holds of them.
//
// Problem.  Bytes from a disk are untrusted.  The result must be a segment that the engine can walk without checks, or
// nothing.
// How.  In a trie that is numbered breadth first, the numbers of children determine everything: the children of node n
// are the next nodes without a parent.  So the result is a tree, or the counts do not add up.  The bytes contain one
// other index, that of the trunk in the vocabulary's trie.
// A checksum at the front detects accidental damage.
// Example.  ":  and  ",x  after a string, two remainders:   root(2)  ,(1)  :(0)  x(0)
// Cost.  One pass.  Numbers have this machine's byte order; a machine with another order does not find the mark.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "vocabulary/segment.hpp"

namespace tokamata {

// The segment that a terminal of this structure (Arena::structure) has.
std::string bytes_of_segment(std::string_view structure, const Segment& segment);

// The checksum that stands after the mark, of all bytes after it.
std::uint64_t checksum_of(std::string_view bytes);

// The structure that the bytes claim to belong to, unchecked; nothing if they are too short.  The next function checks
// it.
std::optional<std::string_view> structure_of(std::string_view bytes);

// The segment; nothing if the bytes are not a segment of that terminal, or contain a token that is not a text token, or
// a node that the vocabulary's trie of so many nodes lacks.  The text tokens are given as bits; only for these is
// Vocabulary::code_points_begun known.
std::optional<Segment> segment_of_bytes(std::string_view bytes, std::string_view structure, const Words& text,
                                        std::size_t nodes);

}  // namespace tokamata
