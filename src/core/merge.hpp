// Decides which moves can share a leaf in the tree of a draw: those that are never legal together.
//
// A tree over all moves would be most of the work of a random step.  In most games one role is to move, a square holds one
// piece, and so on, so that most moves exclude others.  Fluents that excluded each other in some random games are
// assumed to do so always; programs that rely on this check it in every step.
#pragma once

#include "circuit.hpp"

namespace herbrand {

// One random draw: for the moves of roles of which at most one has to choose at a time.
struct Draw {
    std::vector<i32> roles;
    std::vector<std::vector<i32>> turn; // [roles] fluents of which one is true if the role has to choose; empty for always
    std::vector<i32> idle; // [roles] the move that may be legal if none of them is true; -1 for none
    std::vector<std::vector<i32>> places; // sets of moves that are never legal together
    i32 most = 0;          // assumed maximum of legal moves: more are a conflict
};

struct Merge {
    std::vector<Draw> draws;
    // The assumptions: fluents of which at most one is true; and in each draw at most one role has its turn.
    std::vector<std::vector<i32>> groups;
};

// Without `assume` there are no assumptions: every role has a draw, and every move a place of its own.
Merge merge(const Circuit &circuit, bool assume);

} // namespace herbrand
