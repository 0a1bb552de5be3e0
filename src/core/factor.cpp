#include "factor.hpp"

#include <algorithm>
#include <queue>
#include <unordered_map>

namespace herbrand {

namespace {

using Row = std::vector<i32>; // literals, ascending, each once

constexpr std::size_t WIDE = 48;         // wider conjunctions contribute only pairs of adjacent literals: not n² of them
constexpr std::size_t MOST_IMPLIED = 12; // a conjunction that implies more inputs is not recorded as implying any
constexpr int DEEPEST = 500;             // maximum nesting of factors, since `none_of` is recursive

void make_row(Row &literals) {
    std::sort(literals.begin(), literals.end());
    literals.erase(std::unique(literals.begin(), literals.end()), literals.end());
}

bool contains(const Row &row, i32 literal) { return std::binary_search(row.begin(), row.end(), literal); }

void remove(Row &row, i32 literal) {
    const auto at = std::lower_bound(row.begin(), row.end(), literal);
    if (at != row.end() && *at == literal) row.erase(at);
}

// Whether a row has a literal and its inverse, which are neighbours in a sorted row.
bool contradicts(const Row &row) {
    for (std::size_t i = 1; i < row.size(); ++i)
        if ((row[i - 1] ^ 1) == row[i] && !(row[i - 1] & 1)) return true;
    return false;
}

u64 hash_of(const Row &row) {
    u64 key = row.size();
    for (const i32 literal : row) key = (key ^ static_cast<u64>(literal)) * 0x9E3779B97F4A7C15u, key ^= key >> 29;
    return key;
}

// Simplifies conjunctions by groups of mutually exclusive inputs.
class Exclusive {
public:
    Exclusive(View<i64> start, View<i32> group) {
        for (i64 k = 0; k + 1 < start.size; ++k)
            for (i64 i = start[k]; i < start[k + 1]; ++i) groups_[group[i]].push_back(static_cast<i32>(k));
    }
    bool empty() const { return groups_.empty(); }

    // Remove inverted inputs that the other literals of a row imply; false if the row is never true, because it implies
    // two inputs of a group.
    bool reduce(Row &row) {
        owner_.clear();
        for (const i32 literal : needed(row))
            for (const i32 number : groups_.at(literal))
                if (owner_.try_emplace(number, literal).first->second != literal) return false;
        if (owner_.empty()) return true;
        // an inverted input is implied if another input of its group is
        std::erase_if(row, [&](i32 literal) {
            if (!(literal & 1)) return false;
            const auto in = groups_.find(literal ^ 1);
            if (in == groups_.end()) return false;
            return std::any_of(in->second.begin(), in->second.end(), [&](i32 number) {
                const auto owner = owner_.find(number);
                return owner != owner_.end() && owner->second != (literal ^ 1);
            });
        });
        return true;
    }
    // Record which inputs a conjunction implies, so that conjunctions of it can be reduced.
    void learn(i32 literal, const Row &row) {
        Row inputs = needed(row);
        if (!inputs.empty() && inputs.size() <= MOST_IMPLIED) implied_[literal] = std::move(inputs);
    }

private:
    // The inputs that a row implies, directly or through the conjunctions in it.
    Row needed(const Row &row) const {
        Row inputs;
        for (const i32 literal : row) {
            if (groups_.contains(literal)) inputs.push_back(literal);
            else if (const auto entry = implied_.find(literal); entry != implied_.end())
                inputs.insert(inputs.end(), entry->second.begin(), entry->second.end());
        }
        make_row(inputs);
        return inputs;
    }

    std::unordered_map<i32, Row> groups_;  // literal of an input -> the groups it is in
    std::unordered_map<i32, Row> implied_; // literal of a conjunction -> literals of the inputs it implies
    std::unordered_map<i32, i32> owner_;   // scratch: group -> the input in it that the row implies
};

// Conjunctions of any number of literals with structural hashing; number n is node first + n.
class Conjunctions {
public:
    Conjunctions(i64 first, Exclusive exclusive) : first(first), exclusive_(std::move(exclusive)) {}

    // The literal of a conjunction; constant 0 or 1 or an operand where it simplifies to that.
    i32 of(Row row) {
        make_row(row);
        remove(row, 1);
        if ((!row.empty() && row[0] == 0) || contradicts(row)) return 0;
        if (!exclusive_.empty() && !exclusive_.reduce(row)) return 0;
        if (row.size() < 2) return row.empty() ? 1 : row[0];
        auto &same = known_[hash_of(row)];
        for (const i32 number : same)
            if (rows[number] == row) return literal(number);
        require(rows.size() < (std::size_t(1) << 28), "a network has too many gates");
        const i32 number = static_cast<i32>(rows.size());
        same.push_back(number);
        if (!exclusive_.empty()) exclusive_.learn(literal(number), row);
        rows.push_back(std::move(row));
        return literal(number);
    }

    // The inverse of a disjunction of terms, which are conjunctions.  Greedy algebraic factoring (Brayton and McMullen
    // 1982): the literal that most terms share, the highest of several, is factored out of these terms, until no literal
    // occurs in two terms.
    i32 none_of(std::vector<Row> terms, int depth = 0) {
        std::vector<Row> rest;
        std::unordered_map<u64, std::vector<std::size_t>> seen;
        for (Row &term : terms) {
            if (contradicts(term)) continue;
            if (term.empty()) return 0;
            auto &same = seen[hash_of(term)];
            if (std::any_of(same.begin(), same.end(), [&](std::size_t i) { return rest[i] == term; })) continue;
            same.push_back(rest.size());
            rest.push_back(std::move(term));
        }
        Row parts;
        std::vector<bool> taken(rest.size());
        if (rest.size() > 1 && depth < DEEPEST) {
            struct Uses {
                std::vector<i32> terms;
                i32 count = 0;
            };
            std::unordered_map<i32, Uses> uses;
            for (std::size_t t = 0; t < rest.size(); ++t)
                for (const i32 literal : rest[t]) uses[literal].terms.push_back(static_cast<i32>(t));
            std::priority_queue<std::pair<i32, i32>> order; // count and literal
            for (auto &[literal, of] : uses) {
                of.count = static_cast<i32>(of.terms.size());
                if (of.count > 1) order.emplace(of.count, literal);
            }
            while (!order.empty()) {
                const auto [count, literal] = order.top();
                order.pop();
                Uses &of = uses[literal];
                if (of.count < count) { // out of date: terms went to other factors
                    if (of.count > 1) order.emplace(of.count, literal);
                    continue;
                }
                std::vector<Row> sharing;
                for (const i32 t : of.terms) {
                    if (taken[t]) continue;
                    taken[t] = true;
                    for (const i32 other : rest[t]) --uses[other].count;
                    sharing.push_back(std::move(rest[t]));
                    remove(sharing.back(), literal);
                }
                parts.push_back(this->of({literal, none_of(std::move(sharing), depth + 1) ^ 1}) ^ 1);
            }
        }
        for (std::size_t t = 0; t < rest.size(); ++t)
            if (!taken[t]) parts.push_back(of(std::move(rest[t])) ^ 1);
        return of(std::move(parts));
    }

    const i64 first;
    std::vector<Row> rows;

private:
    i32 literal(i32 number) const { return static_cast<i32>(2 * (first + number)); }

    std::unordered_map<u64, std::vector<i32>> known_; // hash of a row -> numbers of the rows with this hash
    Exclusive exclusive_;
};

// A conjunction not yet built: of literals, and of the inverses of terms.  Gates that only one other gate uses are
// collected like this and merged into it.
struct Inner {
    Row literals;
    std::vector<Row> terms;
};

// Pairs of literals, and the rows that contain both.
class Pairs {
public:
    static u64 key(i32 a, i32 b) { return static_cast<u64>(static_cast<std::uint32_t>(a)) << 32 | static_cast<std::uint32_t>(b); }

    void add(const Row &row, i32 number) {
        if (row.size() > WIDE) {
            for (std::size_t i = 1; i < row.size(); ++i) all_.push_back({key(row[i - 1], row[i]), number});
            return;
        }
        for (std::size_t i = 1; i < row.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) all_.push_back({key(row[j], row[i]), number});
    }
    // The pairs that occur in several rows.
    std::unordered_map<u64, std::vector<i32>> shared() {
        std::sort(all_.begin(), all_.end());
        std::unordered_map<u64, std::vector<i32>> rows_by_pair;
        for (std::size_t begin = 0, end; begin < all_.size(); begin = end) {
            for (end = begin + 1; end < all_.size() && all_[end].first == all_[begin].first;) ++end;
            if (end - begin < 2) continue;
            std::vector<i32> &rows = rows_by_pair[all_[begin].first];
            for (std::size_t i = begin; i < end; ++i) rows.push_back(all_[i].second);
        }
        all_ = {};
        return rows_by_pair;
    }

private:
    std::vector<std::pair<u64, i32>> all_;
};

// Make a gate of each pair of literals that several rows share, the most frequent pair first, the lowest of several.
// In the rows the literal of the gate replaces the pair; gate n of the result is node `base + n`.
std::vector<std::pair<i32, i32>> share_pairs(std::vector<Row> &rows, const std::vector<bool> &used, i64 base) {
    Pairs pairs;
    for (std::size_t n = 0; n < rows.size(); ++n)
        if (used[n]) pairs.add(rows[n], static_cast<i32>(n));
    auto where = pairs.shared();
    using Entry = std::pair<i64, u64>; // minus the count, and the pair
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> order;
    for (const auto &[pair, users] : where) order.emplace(-static_cast<i64>(users.size()), pair);
    std::vector<std::pair<i32, i32>> shared;
    std::unordered_map<i32, std::vector<i32>> fresh;
    while (!order.empty()) {
        const auto [minus_count, pair] = order.top();
        order.pop();
        const auto at = where.find(pair);
        if (at == where.end()) continue;
        const i32 a = static_cast<i32>(pair >> 32), b = static_cast<i32>(pair);
        std::vector<i32> &users = at->second;
        std::erase_if(users, [&](i32 n) { return !contains(rows[n], a) || !contains(rows[n], b); });
        if (users.size() < 2) {
            where.erase(at);
            continue;
        }
        if (static_cast<i64>(users.size()) < -minus_count) { // out of date: other gates took literals of its rows
            order.emplace(-static_cast<i64>(users.size()), pair);
            continue;
        }
        require(base + static_cast<i64>(shared.size()) < (i64(1) << 29), "a network has too many gates");
        const i32 literal = static_cast<i32>(2 * (base + static_cast<i64>(shared.size())));
        shared.emplace_back(a, b);
        fresh.clear();
        for (const i32 n : users) {
            Row &row = rows[n];
            remove(row, a);
            remove(row, b);
            if (row.size() <= WIDE)
                for (const i32 other : row) fresh[other].push_back(n);
            row.push_back(literal); // the highest number so far
        }
        where.erase(at);
        for (auto &[other, again] : fresh)
            if (again.size() > 1) {
                order.emplace(-static_cast<i64>(again.size()), Pairs::key(other, literal));
                where.emplace(Pairs::key(other, literal), std::move(again));
            }
    }
    return shared;
}

// The conjunction of literals as gates of two inputs; the lowest nodes are joined first, which keeps the tree shallow.
i32 balanced(GateGraph &graph, const Row &literals) {
    std::priority_queue<i32, std::vector<i32>, std::greater<>> heap(literals.begin(), literals.end());
    while (heap.size() > 1) {
        const i32 a = heap.top();
        heap.pop();
        const i32 b = heap.top();
        heap.pop();
        heap.push(graph.conjunction(a, b));
    }
    return heap.empty() ? 1 : heap.top();
}

} // namespace

Factored factor(View<i32> left, View<i32> right, i64 first, View<i32> outputs, View<i64> group_start,
                View<i32> group) {
    const i64 gates = left.size;
    require(right.size == gates, "gates do not have two operands each");
    require(first > 0 && first <= (i64(1) << 28) && gates <= (i64(1) << 28), "a network has too many gates");
    for (i64 g = 0; g < gates; ++g)
        for (const i32 literal : {left[g], right[g]})
            require(literal >= 0 && literal < 2 * (first + g), "an operand comes after its gate");
    for (i64 i = 0; i < outputs.size; ++i)
        require(outputs[i] >= 0 && outputs[i] < 2 * (first + gates), "an output is out of range");
    require(group_start.size > 0 && group_start[0] == 0 && group_start[group_start.size - 1] == group.size,
            "groups do not fit");
    for (i64 k = 0; k + 1 < group_start.size; ++k)
        require(group_start[k] <= group_start[k + 1], "groups do not fit");
    for (i64 i = 0; i < group.size; ++i)
        require(group[i] > 1 && group[i] < 2 * first && !(group[i] & 1), "a member of a group is no input");

    std::vector<i32> uses(first + gates);
    for (i64 g = 0; g < gates; ++g)
        for (const i32 literal : {left[g], right[g]}) ++uses[literal >> 1];
    for (i64 i = 0; i < outputs.size; ++i) uses[outputs[i] >> 1] = 2; // outputs need gates of their own
    std::vector<i32> value(first + gates);                            // the literal that a node has become
    for (i64 node = 0; node < first; ++node) value[node] = static_cast<i32>(2 * node);
    std::vector<Inner> inner(gates);
    Conjunctions conjunctions(first, Exclusive(group_start, group));
    const auto closed = [&](Inner &part) { // a conjunction as a single row of literals
        Row literals = std::move(part.literals);
        if (!part.terms.empty()) literals.push_back(conjunctions.none_of(std::move(part.terms)));
        part = {};
        make_row(literals);
        remove(literals, 1);
        return literals;
    };
    // Rebuild from inputs to outputs: a gate used once is merged into its user, as literals of the same conjunction or,
    // if it is inverted, as a term of a disjunction.
    for (i64 g = 0; g < gates; ++g) {
        Inner conjunction;
        for (const i32 literal : {left[g], right[g]}) {
            const i64 node = literal >> 1;
            if (node < first || uses[node] > 1) {
                conjunction.literals.push_back(value[node] ^ (literal & 1));
            } else if (literal & 1) {
                conjunction.terms.push_back(closed(inner[node - first]));
            } else {
                Inner &part = inner[node - first];
                conjunction.literals.insert(conjunction.literals.end(), part.literals.begin(), part.literals.end());
                std::move(part.terms.begin(), part.terms.end(), std::back_inserter(conjunction.terms));
                part = {};
            }
        }
        if (uses[first + g] > 1) {
            if (!conjunction.terms.empty()) conjunction.literals.push_back(conjunctions.none_of(std::move(conjunction.terms)));
            value[first + g] = conjunctions.of(std::move(conjunction.literals));
        } else {
            inner[g] = std::move(conjunction);
        }
    }

    // Share pairs among the conjunctions on which outputs depend.
    std::vector<Row> &rows = conjunctions.rows;
    std::vector<bool> used(rows.size());
    std::vector<i32> stack;
    for (i64 i = 0; i < outputs.size; ++i) stack.push_back(value[outputs[i] >> 1] >> 1);
    while (!stack.empty()) {
        const i64 number = stack.back() - first;
        stack.pop_back();
        if (number < 0 || used[number]) continue;
        used[number] = true;
        for (const i32 literal : rows[number]) stack.push_back(literal >> 1);
    }
    const i64 base = first + static_cast<i64>(rows.size());
    const auto shared = share_pairs(rows, used, base);

    // Emit gates of two inputs in depth-first order from the outputs.
    GateGraph graph;
    graph.variables(first - 1); // node 0 is false in both
    std::vector<i32> place(base + static_cast<i64>(shared.size()), -1);
    for (i64 node = 0; node < first; ++node) place[node] = static_cast<i32>(2 * node);
    Factored result;
    Row operands;
    for (i64 i = 0; i < outputs.size; ++i) {
        const i32 output = value[outputs[i] >> 1] ^ (outputs[i] & 1);
        stack.assign(1, output >> 1);
        while (!stack.empty()) {
            const i64 node = stack.back();
            if (place[node] >= 0) {
                stack.pop_back();
                continue;
            }
            if (node >= base) operands = {shared[node - base].first, shared[node - base].second};
            else operands = rows[node - first];
            const std::size_t before = stack.size();
            for (const i32 literal : operands)
                if (place[literal >> 1] < 0) stack.push_back(literal >> 1);
            if (stack.size() > before) continue;
            for (i32 &literal : operands) literal = place[literal >> 1] ^ (literal & 1);
            place[node] = balanced(graph, operands);
            stack.pop_back();
        }
        result.outputs.push_back(place[output >> 1] ^ (output & 1));
    }
    const auto operands_of = [&](const std::vector<i32> &side) {
        return std::vector<i32>(side.begin() + first, side.begin() + graph.nodes());
    };
    result.left = operands_of(graph.operands()->left);
    result.right = operands_of(graph.operands()->right);
    return result;
}

} // namespace herbrand
