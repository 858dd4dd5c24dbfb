// Segments of terminals as bytes, and back: what a file holds of them.
//
// Problem.  Bytes from a disk may be anything.  What is made of them must be a segment that the engine can walk without
// looking, or nothing.
// How.  Of a trie that is numbered breadth first, the number of children of each node says all: the children
// of node n are the next that have not been given away.  So a tree is what comes out, or the counts do not fit; there is
// no other number in the bytes that leads anywhere.  A checksum in front detects what was damaged by chance.
// Example.  ":  and  ",x  after a string, two remainders:   root(2)  ,(1)  :(0)  x(0)
// Cost.  One pass.  Numbers are as this machine has them; one of another kind finds no mark that it knows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "vocabulary/segment.hpp"

namespace tokamata {

// The segment that a terminal of this structure (Arena::structure) has.
std::string bytes_of_segment(std::string_view structure, const Segment& segment);

// What stands after the mark; of all bytes after it.
std::uint64_t checksum_of(std::string_view bytes);

// Of which terminal the bytes say that they are; nothing where they say nothing.  The next function checks whether it is so.
std::optional<std::string_view> structure_of(std::string_view bytes);

// Nothing where the bytes are no segment of that terminal for a vocabulary whose tokens that are text are these, as bits.  No
// segment holds any other: what is known of a token is known of those alone (Vocabulary::code_points_begun).
std::optional<Segment> segment_of_bytes(std::string_view bytes, std::string_view structure, const Words& text);

}  // namespace tokamata
