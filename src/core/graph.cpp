#include "graph.hpp"

#include <algorithm>
#include <limits>

namespace herbrand {

namespace {

// The literal of `a and b` where that needs no gate, else -1; then a < b.
i32 folded(i32 &a, i32 &b) {
    if (a > b) std::swap(a, b);
    if (a == 0 || a == (b ^ 1)) return 0;
    if (a == 1 || a == b) return b;
    return -1;
}

constexpr i64 MOST_NODES = i64(1) << 29;
constexpr i64 FIRST_ROOM = i64(1) << 14;

} // namespace

GateGraph::GateGraph() : operands_(std::make_shared<Operands>()) {
    operands_->left.push_back(-1);
    operands_->right.push_back(-1);
    grow(FIRST_ROOM);
}

void GateGraph::grow(i64 nodes) {
    i64 room = static_cast<i64>(operands_->left.size());
    if (nodes <= room) return;
    if (nodes > MOST_NODES) throw std::length_error("a graph has too many nodes");
    while (room < nodes) room *= 2;
    auto grown = std::make_shared<Operands>();
    grown->left.assign(room, -1);
    grown->right.assign(room, -1);
    std::copy_n(operands_->left.begin(), nodes_, grown->left.begin());
    std::copy_n(operands_->right.begin(), nodes_, grown->right.begin());
    GateTable table(4 * room);
    const i32 *left = grown->left.data(), *right = grown->right.data();
    for (i64 node = 0; node < nodes_; ++node)
        if (left[node] >= 0) table.slot(left[node], right[node], left, right) = static_cast<i32>(node);
    operands_ = std::move(grown);
    table_ = std::move(table);
}

void GateGraph::check(View<i32> literals) const {
    for (i64 i = 0; i < literals.size; ++i)
        require(literals[i] >= 0 && literals[i] < 2 * nodes_, "a literal is out of range");
}

i64 GateGraph::variables(i64 count) {
    require(count >= 0 && count <= MOST_NODES, "a number of variables out of range");
    grow(nodes_ + count);
    const i64 first = nodes_;
    nodes_ += count;
    return first;
}

i32 GateGraph::conjunction(i32 a, i32 b) {
    const i32 known = folded(a, b);
    if (known >= 0) return known;
    grow(nodes_ + 1);
    i32 *left = operands_->left.data(), *right = operands_->right.data();
    i32 &slot = table_.slot(a, b, left, right);
    if (slot < 0) {
        left[nodes_] = a;
        right[nodes_] = b;
        slot = static_cast<i32>(nodes_++);
    }
    return 2 * slot;
}

void GateGraph::copy(View<i32> left, View<i32> right, i64 first, i64 begin, i64 end, i32 *value, i64 values) {
    require(right.size == left.size, "gates do not have two operands each");
    require(0 <= begin && begin <= end && end <= left.size, "a range of gates that there are not");
    require(first >= 0 && first <= values && end <= values - first, "`value` is too short");
    const auto operand = [&](i32 literal) {
        require(literal >= 0 && literal < 2 * values, "an operand is out of range");
        const i32 copied = value[literal >> 1] ^ (literal & 1);
        require(copied >= 0 && copied < 2 * nodes_, "a literal is out of range");
        return copied;
    };
    for (i64 g = begin; g < end; ++g) value[first + g] = conjunction(operand(left[g]), operand(right[g]));
}

i32 GateGraph::all_of(View<i32> literals) {
    check(literals);
    if (!literals.size) return 1;
    std::vector<i32> row(literals.data, literals.data + literals.size);
    std::size_t count = row.size();
    while (count > 1) {
        std::size_t half = 0;
        for (std::size_t i = 0; i < count; i += 2)
            row[half++] = i + 1 < count ? conjunction(row[i], row[i + 1]) : row[i];
        count = half;
    }
    return row[0];
}

std::pair<i32, i32> GateGraph::only_one(View<i32> literals) {
    check(literals);
    i32 seen = 0, twice = 0;
    for (i64 i = 0; i < literals.size; ++i) {
        const i32 literal = literals[i], both = conjunction(seen, literal);
        twice = conjunction(twice ^ 1, both ^ 1) ^ 1;
        seen = conjunction(seen ^ 1, literal ^ 1) ^ 1;
    }
    return {conjunction(seen, twice ^ 1), twice ^ 1};
}

Components strong_components(View<i64> start, View<i32> edges, i64 count) {
    require(count >= 0 && count < MOST_NODES && start.size == count + 1, "nodes do not fit");
    require(start[0] >= 0 && start[count] <= edges.size, "edges do not fit");
    for (i64 n = 0; n < count; ++n) require(start[n] <= start[n + 1], "edges are not sorted by node");
    for (i64 k = 0; k < edges.size; ++k) require(edges[k] >= 0 && edges[k] < count, "an edge to a node that is none");
    struct Frame {
        i32 node;
        i64 place; // the next edge to follow
    };
    std::vector<i32> index(count, -1), low(count), stack;
    std::vector<bool> on_stack(count);
    std::vector<Frame> work;
    Components result;
    result.order.reserve(count);
    result.component.assign(count, 0);
    i32 seen = 0, components = 0;
    const auto enter = [&](i32 node) {
        index[node] = low[node] = seen++;
        stack.push_back(node);
        on_stack[node] = true;
        work.push_back({node, start[node]});
    };
    for (i64 root = 0; root < count; ++root) {
        if (index[root] >= 0) continue;
        enter(static_cast<i32>(root));
        while (!work.empty()) {
            Frame &frame = work.back();
            const i32 node = frame.node;
            if (frame.place < start[node + 1]) {
                const i32 other = edges[frame.place++];
                if (index[other] < 0) enter(other);
                else if (on_stack[other]) low[node] = std::min(low[node], index[other]);
                continue;
            }
            work.pop_back();
            if (!work.empty()) low[work.back().node] = std::min(low[work.back().node], low[node]);
            if (low[node] != index[node]) continue;
            for (i32 other = -1; other != node;) {
                other = stack.back();
                stack.pop_back();
                on_stack[other] = false;
                result.component[other] = components;
                result.order.push_back(other);
            }
            ++components;
        }
    }
    return result;
}

Wired build_gates(View<i32> order, View<i32> component, View<i64> rule_start, View<i32> rules, View<i64> body_start,
                  View<i32> body, i32 *literal, i64 literals, i64 first, i64 feedback_first) {
    const i64 atoms = literals, capacity = body.size + rules.size + 2;
    require(order.size <= atoms && component.size == atoms && rule_start.size == atoms + 1, "atoms do not fit");
    require(feedback_first >= 0 && first >= 0 && first + capacity < MOST_NODES && feedback_first + atoms < MOST_NODES,
         "too many nodes");
    for (i64 k = 0; k < order.size; ++k) require(order[k] >= 0 && order[k] < atoms, "an atom that there is not");
    Wired made;
    GateTable table(2 * capacity + 16);
    std::vector<i32> &left = made.left, &right = made.right;
    const auto conjunction = [&](i32 a, i32 b) -> i32 {
        const i32 known = folded(a, b);
        if (known >= 0) return known;
        i32 &slot = table.slot(a, b, left.data(), right.data());
        if (slot < 0) {
            require(static_cast<i64>(left.size()) < capacity, "rules belong to several atoms");
            slot = static_cast<i32>(left.size());
            left.push_back(a);
            right.push_back(b);
        }
        return static_cast<i32>(2 * (first + slot));
    };
    std::vector<i32> fed(atoms, -1);
    const i64 count = order.size;
    for (i64 i = 0, j = 0; i < count; i = j) {
        while (j < count && component[order[j]] == component[order[i]]) ++j;
        const std::size_t gates_before = left.size(), feedback_before = made.feedback.size();
        for (i64 k = i; k < j; ++k) {
            const i32 atom = order[k];
            if (literal[atom] >= 0) continue;
            i32 none = 1; // the conjunction of the inverted bodies: no rule derives the atom
            for (i64 r = rule_start[atom]; r < rule_start[atom + 1]; ++r) {
                const i32 rule = rules.at(r);
                i32 all = 1;
                for (i64 b = body_start.at(rule), end = body_start.at(i64(rule) + 1); b < end; ++b) {
                    const i64 condition = body.at(b), other = condition < 0 ? -condition : condition;
                    require(other < atoms, "a condition that is no atom");
                    i32 value = literal[other];
                    if (value < 0) {
                        if (fed[other] < 0) {
                            fed[other] = static_cast<i32>(2 * (feedback_first + made.feedback.size()));
                            made.feedback.push_back(static_cast<i32>(other));
                        }
                        value = fed[other];
                    }
                    all = conjunction(all, condition < 0 ? value ^ 1 : value);
                    if (all == 0) break;
                }
                none = conjunction(none, all ^ 1);
                if (none == 0) break;
            }
            literal[atom] = none ^ 1;
        }
        if (made.feedback.size() > feedback_before)
            for (const std::size_t place : {gates_before, left.size(), feedback_before, made.feedback.size()})
                made.loops.push_back(static_cast<i32>(place));
    }
    return made;
}

std::vector<u8> mark_cone(View<i32> left, View<i32> right, i64 first, i64 feedback_first, View<i32> feedback,
                          View<i32> loops, View<i32> wanted) {
    const i64 gates = left.size, loop_count = loops.size / 4;
    require(right.size == gates, "gates do not have two operands each");
    require(0 <= feedback_first && feedback_first <= first, "gates come after feedback");
    // The loops of gates and feedback nodes.
    std::vector<i32> of_gate(loop_count ? gates : 0, -1), of_feedback(feedback.size, -1);
    for (i64 k = 0; k < loop_count; ++k) {
        const i32 *loop = loops.data + 4 * k;
        require(0 <= loop[0] && loop[0] <= loop[1] && loop[1] <= gates, "a loop of gates that there are not");
        require(0 <= loop[2] && loop[2] <= loop[3] && loop[3] <= feedback.size, "a loop of feedback that there is not");
        for (i32 g = loop[0]; g < loop[1]; ++g) of_gate[g] = static_cast<i32>(k);
        for (i32 f = loop[2]; f < loop[3]; ++f) of_feedback[f] = static_cast<i32>(k);
    }
    std::vector<u8> marked(gates, 0);
    std::vector<bool> done(loop_count);
    std::vector<i64> stack;
    const auto push = [&](i32 literal) {
        const i64 node = literal >> 1;
        if (node >= first) {
            require(node - first < gates, "a literal is out of range");
            if (!marked[node - first]) stack.push_back(node);
        } else if (node >= feedback_first && node - feedback_first < feedback.size) {
            stack.push_back(node);
        }
    };
    const auto whole_loop = [&](i32 k) {
        if (k < 0 || done[k]) return;
        done[k] = true;
        const i32 *loop = loops.data + 4 * k;
        for (i32 g = loop[0]; g < loop[1]; ++g) {
            marked[g] = 1;
            push(left[g]);
            push(right[g]);
        }
        for (i32 f = loop[2]; f < loop[3]; ++f) push(feedback[f]);
    };
    for (i64 i = 0; i < wanted.size; ++i) push(wanted[i]);
    while (!stack.empty()) {
        const i64 node = stack.back(), gate = node - first;
        stack.pop_back();
        if (gate < 0) {
            whole_loop(of_feedback[node - feedback_first]);
            continue;
        }
        if (loop_count) whole_loop(of_gate[gate]);
        if (marked[gate]) continue;
        marked[gate] = 1;
        push(left[gate]);
        push(right[gate]);
    }
    return marked;
}

std::vector<i64> unknown_cone(View<i32> left, View<i32> right, std::int8_t *state, i32 *uses, i64 room, i64 root) {
    enum : std::int8_t { DEFINED = 1, VISITED = 2 };
    require(right.size == left.size, "gates do not have two operands each");
    room = std::min(room, left.size);
    const auto is_new = [&](i64 node) {
        require(node >= 0 && node < room, "a node is out of range");
        return left[node] >= 0 && state[node] != DEFINED;
    };
    std::vector<i64> rows, visited;
    if (!is_new(root)) return rows;
    state[root] = VISITED;
    visited.push_back(root);
    for (std::size_t i = 0; i < visited.size(); ++i) {
        for (const i32 side : {left[visited[i]], right[visited[i]]}) {
            const i64 child = side >> 1;
            if (!is_new(child)) continue;
            uses[child] += uses[child] < std::numeric_limits<i32>::max();
            if (state[child] == VISITED) continue;
            state[child] = VISITED;
            visited.push_back(child);
        }
    }
    std::vector<i64> stack{root}, inner;
    while (!stack.empty()) {
        const i64 node = stack.back();
        stack.pop_back();
        if (!is_new(node)) continue;
        state[node] = DEFINED;
        const std::size_t begin = rows.size();
        rows.push_back(node);
        rows.push_back(0);
        inner.assign({left[node], right[node]});
        while (!inner.empty()) {
            const i64 literal = inner.back(), child = literal >> 1;
            inner.pop_back();
            if (is_new(child)) {
                if (!(literal & 1) && uses[child] == 1) {
                    inner.push_back(left[child]);
                    inner.push_back(right[child]);
                    continue;
                }
                stack.push_back(child);
            }
            rows.push_back(literal);
            ++rows[begin + 1];
        }
    }
    // Nodes that were merged into the row of another gate are not defined by themselves.
    for (const i64 node : visited)
        if (state[node] == VISITED) state[node] = 0;
    return rows;
}

std::vector<i32> conjuncts(View<i32> left, View<i32> right, i64 first, i32 literal) {
    require(right.size == left.size, "gates do not have two operands each");
    require(first >= 0 && first < MOST_NODES && left.size < MOST_NODES, "too many nodes");
    std::vector<i32> stack{literal}, result;
    std::vector<bool> seen(2 * (first + left.size));
    const auto is_fresh = [&](i32 x) {
        require(x >= 0 && x < 2 * (first + left.size), "a literal is out of range");
        if (seen[x]) return false;
        seen[x] = true;
        return true;
    };
    is_fresh(literal);
    while (!stack.empty()) {
        const i32 top = stack.back();
        stack.pop_back();
        const i64 gate = (top >> 1) - first;
        if ((top & 1) || gate < 0) {
            result.push_back(top);
            continue;
        }
        for (const i32 side : {left[gate], right[gate]})
            if (is_fresh(side)) stack.push_back(side);
    }
    return result;
}

std::vector<i64> cone_sizes(View<i32> left, View<i32> right, i64 first, View<i32> literals, i64 most) {
    require(right.size == left.size, "gates do not have two operands each");
    require(first >= 0 && first < MOST_NODES && left.size < MOST_NODES, "too many nodes");
    std::vector<i64> sizes(literals.size, 0), seen(left.size, -1), stack;
    for (i64 i = 0; i < literals.size; ++i) {
        stack.assign(1, literals[i] >> 1);
        while (!stack.empty() && sizes[i] < most) {
            const i64 gate = stack.back() - first;
            stack.pop_back();
            if (gate < 0) continue;
            require(gate < left.size, "a literal is out of range");
            if (seen[gate] == i) continue;
            seen[gate] = i;
            ++sizes[i];
            stack.push_back(left[gate] >> 1);
            stack.push_back(right[gate] >> 1);
        }
    }
    return sizes;
}

} // namespace herbrand
