// The longest text that every continuation begins with, by tokens.
//
// Problem.  Which text follows for sure?  Where any tokenization may follow, the bytes of the pattern show it
// (TokenAutomaton::forced_text).  With canonical tokenization some texts have no tokens, and so more is forced.
// How.  Byte by byte: what is under way are tokens, each with as much of it as was taken; one that is taken whole is
// followed by all that may stand after it.  It ends where two of them differ, or where the text may end.
// Cost.  A mask and a step for each place within the forced text.
#pragma once

#include <string>

#include "following/follower.hpp"

namespace tokamata {

std::string forced_text(Follower& follower, const TokenAutomaton& pattern, const Place& place, Budget& budget);

}  // namespace tokamata
