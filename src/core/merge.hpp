// Which moves can share a place in the tree that a choice is made by: those of which never two are legal at once.
//
// A tree for all moves is most of the work of a random step.  In most games one role is to move, a square holds one
// piece, and so on, so that few of the moves exclude none of the others.  That such fluents exclude each other is
// assumed after some random games in which they did: programs that rely on it look whether it is so in every step.
#pragma once

#include "circuit.hpp"

namespace herbrand {

// What one random draw decides: the moves of some roles, of which at most one has to choose at a time.
struct Draw {
    std::vector<i32> roles;
    std::vector<std::vector<i32>> turn; // [roles] fluents of which one holds where the role has to choose; none for always
    std::vector<i32> idle; // [roles] the move that may be legal where none of them holds; -1 for none
    std::vector<std::vector<i32>> places; // moves that are never legal at once
    i32 most = 0;          // so many legal moves are counted: more are told
};

struct Merge {
    std::vector<Draw> draws;
    // What is relied on: fluents of which never two are true; that in no draw two roles have their turn.
    std::vector<std::vector<i32>> groups;
};

// Without `assume` nothing is taken for granted: every role draws for itself, and every move has its own place.
Merge merge(const Circuit &circuit, bool assume);

} // namespace herbrand
