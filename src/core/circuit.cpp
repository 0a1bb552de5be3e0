#include "circuit.hpp"

#include "cpu.hpp"
#include "lanes.hpp"
#include "x86.hpp"

namespace herbrand {

namespace {

[[noreturn]] void wrong(const std::string &what) { throw std::invalid_argument("no circuit: " + what); }

void check_literals(const std::vector<i32> &literals, int nodes, const char *name) {
    for (const i32 literal : literals)
        if (literal < 0 || literal >= 2 * nodes)
            wrong(std::string(name) + " has a literal that is out of range: " + std::to_string(literal));
}

// Checks, in the order of evaluation, that every operand is computed before it is read, in every stage that reads it, and
// that loops are monotone, so that their iteration terminates.
class Order {
public:
    explicit Order(const Circuit &circuit) : c(circuit), computed_(c.nodes(), NEVER), signs_(c.nodes(), 0) {
        for (int n = 0; n < c.first_move(); ++n) computed_[n] = STATE;
        for (int m = 0; m < c.moves; ++m) computed_[c.first_move() + m] = NEXT;
    }

    void check() {
        cone(0, c.cones[0], STATE, STATE);
        for (const i32 literal : c.legal) read(literal, STATE, "`legal`");
        read(c.terminal, STATE, "`terminal`");
        cone(c.cones[0], c.cones[1], NEXT, STATE | NEXT);
        for (const i32 literal : c.next) read(literal, STATE | NEXT, "`next`");
        for (const i32 literal : c.sees) read(literal, STATE | NEXT, "`sees`");
        cone(c.cones[1], c.cones[2], GOALS, STATE | GOALS);
        for (const i32 literal : c.goal) read(literal, STATE | GOALS, "`goal`");
    }

private:
    // The stage in which a node is computed: legal, next or goals.
    enum : u8 { NEVER = 0, STATE = 1, NEXT = 2, GOALS = 4 };
    // How a node of a loop depends on its feedback: increasing, decreasing, or both.
    enum : u8 { RISES = 1, FALLS = 2 };

    void read(i32 literal, u8 visible, const char *name) const {
        if (!(computed_[literal >> 1] & visible))
            wrong(std::string(name) + " depends on what is not computed for it: literal " + std::to_string(literal));
    }
    u8 signs(i32 literal) const {
        const u8 sign = signs_[literal >> 1];
        return literal & 1 ? static_cast<u8>(sign << 1 | sign >> 1) & (RISES | FALLS) : sign;
    }
    void gates(i32 begin, i32 end, u8 stage, u8 visible) {
        for (i32 g = begin; g < end; ++g) {
            read(c.left[g], visible, "a gate");
            read(c.right[g], visible, "a gate");
            computed_[c.inputs() + g] = stage;
            signs_[c.inputs() + g] = signs(c.left[g]) | signs(c.right[g]);
        }
    }
    void cone(i32 begin, i32 end, u8 stage, u8 visible) {
        for (const Loop &loop : c.loops) {
            if (loop.first < begin || loop.first >= end || loop.last == loop.first) continue;
            gates(begin, loop.first, stage, visible);
            u8 *const back = computed_.data() + c.first_feedback();
            for (i32 f = loop.first_back; f < loop.last_back; ++f) {
                if (back[f] != NEVER) wrong("loops share feedback");
                back[f] = stage;
                signs_[c.first_feedback() + f] = RISES;
            }
            gates(loop.first, loop.last, stage, visible);
            for (i32 f = loop.first_back; f < loop.last_back; ++f) {
                read(c.feedback[f], visible, "feedback");
                if (signs(c.feedback[f]) & FALLS) wrong("feedback depends on its own opposite, so that a loop may have no end");
            }
            for (i32 f = loop.first_back; f < loop.last_back; ++f) signs_[c.first_feedback() + f] = 0;
            for (i32 g = loop.first; g < loop.last; ++g) signs_[c.inputs() + g] = 0;
            begin = loop.last;
        }
        gates(begin, end, stage, visible);
    }

    const Circuit &c;
    std::vector<u8> computed_, signs_;
};

} // namespace

void Circuit::divide_moves(const std::vector<i32> &move_role) {
    require(move_role.size() == legal.size(), "no circuit: a role for each move");
    bounds.assign(roles + 1, 0);
    for (std::size_t m = 0; m < move_role.size(); ++m) {
        require(move_role[m] >= 0 && move_role[m] < roles && (m == 0 || move_role[m] >= move_role[m - 1]),
                "no circuit: moves are not sorted by role");
        ++bounds[move_role[m] + 1];
    }
    for (int r = 0; r < roles; ++r) bounds[r + 1] += bounds[r];
    places.assign(1, 0);
    for (int r = 0; r < roles; ++r) places.push_back(places[r] + (bounds[r + 1] - bounds[r] + 63) / 64);
}

void Circuit::validate() const {
    if (fluents < 0 || moves < 0 || roles < 0 || feedbacks < 0 || gates < 0) wrong("a negative number");
    if (i64(1) + fluents + moves + feedbacks + gates > (i64(1) << 29)) wrong("too many nodes");
    if (left.size() != std::size_t(gates) || right.size() != left.size()) wrong("operands do not fit");
    if (feedback.size() != std::size_t(feedbacks)) wrong("feedback does not fit");
    if (legal.size() != std::size_t(moves)) wrong("`legal` has not one literal for each move");
    if (next.size() != std::size_t(fluents)) wrong("`next` has not one literal for each fluent");
    if (goal_role.size() != goal.size() || goal_value.size() != goal.size()) wrong("goals do not fit");
    if (sees_role.size() != sees.size()) wrong("percepts do not fit");
    for (const auto &group : alternatives) {
        if (group.family < 0 || std::size_t(group.family) > alternatives.size()) wrong("alternatives of no family");
        for (const i32 f : group.fluents)
            if (f < 0 || f >= fluents) wrong("alternatives that are no fluents");
    }
    if (initial.size() != std::size_t(state_words())) wrong("the initial state has another length");
    const int first = inputs();
    for (int g = 0; g < gates; ++g) {
        const i32 limit = 2 * (first + g);
        if (left[g] < 0 || left[g] >= limit || right[g] < 0 || right[g] >= limit)
            wrong("gate " + std::to_string(g) + " does not depend on earlier nodes only");
    }
    check_literals(feedback, nodes(), "`feedback`");
    check_literals(legal, nodes(), "`legal`");
    check_literals(next, nodes(), "`next`");
    check_literals({terminal}, nodes(), "`terminal`");
    check_literals(goal, nodes(), "`goal`");
    check_literals(sees, nodes(), "`sees`");
    for (std::size_t k = 0; k < goal.size(); ++k) {
        if (goal_role[k] < 0 || goal_role[k] >= roles) wrong("a goal of no role");
        if (goal_value[k] != SEVERAL_VALUES && (goal_value[k] < 0 || goal_value[k] > 100))
            wrong("a goal value out of range");
    }
    for (const i32 role : sees_role)
        if (role < 0 || role >= roles) wrong("a percept of no role");
    if (bounds.size() != std::size_t(roles) + 1 || bounds.front() != 0 || bounds.back() != moves)
        wrong("`bounds` do not fit");
    if (places.size() != bounds.size() || places.front() != 0) wrong("`places` do not fit");
    for (int r = 0; r < roles; ++r) {
        if (bounds[r + 1] < bounds[r]) wrong("`bounds` descend");
        if (places[r + 1] != places[r] + (bounds[r + 1] - bounds[r] + 63) / 64) wrong("`places` do not fit");
    }
    if (cones[0] < 0 || cones[1] < cones[0] || cones[2] < cones[1] || cones[2] > gates) wrong("cones descend");
    i32 gate = 0;
    for (const Loop &loop : loops) {
        if (loop.first < gate || loop.last < loop.first || loop.last > gates) wrong("loops overlap");
        if (loop.first_back < 0 || loop.last_back < loop.first_back || loop.last_back > feedbacks)
            wrong("a loop of feedback that is none");
        for (const int cone : cones)
            if (loop.first < cone && cone < loop.last) wrong("a loop reaches over the border of a cone");
        gate = loop.last;
    }
    Order(*this).check();
}

template <class Make> ProgramPtr Circuit::made(int which, Make &&make) const {
    const std::lock_guard<std::mutex> hold(programs_.lock);
    if (programs_.kernels != &kernels()) {
        for (ProgramPtr &program : programs_.made) program.reset();
        programs_.kernels = &kernels();
    }
    if (!programs_.made[which]) programs_.made[which] = make();
    return programs_.made[which];
}

CircuitPtr Circuit::extended(const std::vector<i32> &literals, const std::function<CircuitPtr()> &make) const {
    const std::lock_guard<std::mutex> hold(extensions_.lock);
    auto &made = extensions_.made;
    std::erase_if(made, [](const auto &each) { return each.second.expired(); });
    for (const auto &[those, circuit] : made)
        if (those == literals)
            if (CircuitPtr shared = circuit.lock()) return shared;
    CircuitPtr fresh = make();
    made.emplace_back(literals, fresh);
    return fresh;
}

ProgramPtr Circuit::evaluating() const {
    return made(0, [&] { return herbrand::evaluating(*this, encoded_arity()); });
}

ProgramPtr Circuit::playing(bool assume) const {
    return made(assume ? 2 : 1, [&] { return herbrand::playing(*this, encoded_arity(), assume); });
}

} // namespace herbrand
