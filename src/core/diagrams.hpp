// Large sets of states as decision diagrams, and steps of a game as relations between states.
//
// A state is a row of small numbers, one for each *level*.  A set is a graph with one node for each different rest of its
// states: the children of a node are the rests after each value of its level.  Nodes with no child but that of value 0 are
// left out, so that a level costs nothing where its value is 0, as an empty cell of a board is (zero-suppressed multi-valued
// decision diagrams; Minato 1993).  A relation has a child for each pair of values before and after; levels that do not
// change and do not matter are left out (identity-reduced matrix diagrams; Ciardo and Yu 2005).  The image of a set under a
// relation is then one walk over both, in which everything below the last change is shared, however many moves there are.
//
// Nodes are records in one array, found again by a hash table, so that equal sets are the same number.  Results of operations
// are remembered in a table whose entries replace each other, and which grows when many do.  Nothing is collected during an operation: `collect` does it in
// between, and what it is not told of is gone.
#pragma once

#include "base.hpp"
#include "memory.hpp"

#include <array>
#include <utility>

namespace herbrand {

class Diagrams {
public:
    // 0 is the empty set and the empty relation; 1 the set of the state of zeros, and the relation that changes nothing.
    using Ref = u32;
    static constexpr int MOST_VALUES = 4, MOST_LEVELS = 1 << 14;

    struct Measured {
        unsigned __int128 states = 0;
        i64 nodes = 0;
        bool too_many = false; // more than 2^128 states
    };
    struct Exported {
        std::vector<u16> levels;   // children before their parents; node k has the reference k + 2
        std::vector<u32> children; // one after another
        std::vector<u32> roots;
    };

    // `values` of each level, 2 to 4; at most about `bytes` bytes of memory.
    Diagrams(std::vector<i32> values, i64 bytes);

    int levels() const { return static_cast<int>(values_.size()); }
    int values(int level) const { return values_[static_cast<std::size_t>(level)]; }
    Ref state(const std::vector<i32> &values);
    // The relation with a child for each pair of values of a level, that before first; children are of later levels.
    Ref relation(int level, const std::vector<u32> &children);
    Ref unite_relations(Ref a, Ref b, Stop *stop);
    Ref image(Ref set, Ref relation, Stop *stop);
    Ref unite(Ref a, Ref b, Stop *stop);
    Ref intersect(Ref a, Ref b, Stop *stop);
    Ref subtract(Ref a, Ref b, Stop *stop);
    // Forgets all that these do not need, and measures the first of them, a set.
    Measured collect(const std::vector<u32> &roots);
    Exported exported(const std::vector<u32> &roots);
    std::vector<u32> imported(const Exported &saved);

    i64 nodes() const { return nodes_; }

private:
    enum Operation : u32 { UNITE = 1, INTERSECT, SUBTRACT, IMAGE, UNITE_RELATIONS };
    // A node: its kind, the next one with the same hash, and its children.  The kinds of sets are their levels, those of
    // relations follow.  A free record has its size instead.
    static constexpr u32 MARK = 1u << 31, FREE = 1u << 30, KIND = FREE - 1;
    static constexpr int HEAD = 2, NOWHERE = 1 << 20;
    static constexpr u32 NONE = 0;
    struct Result {
        u32 a = 0, b = 0, value = 0, operation = 0;
    };
    using Children = std::array<u32, MOST_VALUES * MOST_VALUES>;

    // Throw unless there is such a node, of this kind.
    void check(Ref ref) const;
    void check(Ref ref, bool is_relation) const;
    int size_of(u32 kind) const { return sizes_[kind]; }
    u32 kind(Ref ref) const { return pool_[ref] & KIND; }
    int level(Ref set) const { return set < 2 ? NOWHERE : static_cast<int>(kind(set)); }
    int relation_level(Ref relation) const { return relation < 2 ? NOWHERE : static_cast<int>(kind(relation)) - levels(); }
    const u32 *children(Ref ref) const { return pool_.data() + ref + HEAD; }
    u64 hash(u32 kind, const u32 *children, int count) const;
    Ref make(u32 kind, const u32 *children);
    Ref make_set(int level, const u32 *children);
    Ref make_relation(int level, const u32 *children);
    void rebuild(i64 buckets, bool sweep);
    Result &entry(u32 operation, u32 a, u32 b) {
        u64 h = (u64(a) << 32 | b) * 0x9E3779B97F4A7C15u;
        h ^= (h >> 29) + operation * 0x632BE59Bu;
        return results_[static_cast<i64>((h * 0xD6E8FEB86659FD93u) >> results_shift_)];
    }
    const Result *remembered(u32 operation, u32 a, u32 b) {
        const Result &known = entry(operation, a, b);
        return known.operation == operation && known.a == a && known.b == b ? &known : nullptr;
    }
    void remember(u32 operation, u32 a, u32 b, Ref value) {
        Result &known = entry(operation, a, b);
        replaced_ += known.operation != 0;
        known = {a, b, value, operation};
        if (replaced_ > results_.size() && results_.size() < most_results_) enlarge(4 * results_.size());
    }
    void enlarge(i64 results);
    void prepare(Ref a, bool a_is_relation, Ref b, bool b_is_relation, Stop *stop);
    void poll() {
        if (++polls_ % 8192 == 0 && stop_ && stop_->due()) throw Stopped();
    }
    Ref image_of(Ref set, Ref relation);
    Ref union_of(Ref a, Ref b);
    Ref intersection_of(Ref a, Ref b);
    Ref difference_of(Ref a, Ref b);
    Ref relation_union_of(Ref a, Ref b);
    void mark(Ref ref);
    void measure(Ref ref, std::vector<unsigned __int128> &counts, bool &too_many);
    void number(Ref ref, Exported &saved);

    std::vector<i32> values_;
    std::vector<int> sizes_; // words of a node of each kind
    Zeros<u32> pool_;
    i64 end_ = HEAD, nodes_ = 0;
    std::array<u32, HEAD + MOST_VALUES * MOST_VALUES + 1> free_{}; // by size
    Zeros<u32> buckets_;
    i64 most_buckets_ = 0, most_results_ = 0;
    Zeros<Result> results_;
    int results_shift_ = 0;
    i64 replaced_ = 0; // results that took the place of others, in a table of this size
    u64 polls_ = 0;
    Stop *stop_ = nullptr;
};

} // namespace herbrand
