#include "bind.hpp"
#include "cpu.hpp"
#include "distance.hpp"
#include "explore.hpp"

#include <algorithm>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

namespace herbrand {

namespace {

using Bits = Array2<const u64>;
using Bools = Array1<const bool>;

const u8 *bytes(const Bools &array) { return reinterpret_cast<const u8 *>(array.data()); }

auto insert(StateTable &table, Array2<u64> states, Array1<i32> parents, Bits rows, Array1<const i64> origins,
            i64 first_origin, Stop *stop) {
    const i64 n = static_cast<i64>(rows.shape(0));
    require(i64(rows.shape(1)) == table.words() && i64(states.shape(1)) == table.words(),
            "rows and states have not the words of the table");
    require(i64(origins.size()) == n, "an origin for each row");
    const i64 room = std::min({i64(states.shape(0)), i64(parents.size()), (i64(1) << 31) - 1});
    std::vector<i32> numbers(n);
    {
        WithoutGil without_gil;
        table.insert(states.data(), parents.data(), rows.data(), n, origins.data(), first_origin, numbers.data(),
                     room, stop);
    }
    return as_array(std::move(numbers));
}

auto survey(Survey &survey, Bits states, Bools over, Bits legal, Array2<i32> counts, Array1<i64> starts,
            Stop *stop) {
    const Circuit &c = *survey.circuit;
    const std::size_t n = states.shape(0);
    require(i64(states.shape(1)) == c.state_words(), "states have not the words of the circuit");
    require(over.size() == n, "whether the game is over, for each state");
    require(legal.shape(0) == n && i64(legal.shape(1)) == c.legal_words(), "a set of legal moves for each state");
    require(counts.shape(0) == n && i64(counts.shape(1)) == c.roles, "room for the numbers of moves, [n, roles]");
    require(starts.size() == n + 1, "room for n + 1 starts");
    std::vector<i64> stuck(n);
    {
        WithoutGil without_gil;
        stuck.resize(survey.add(i64(n), states.data(), bytes(over), legal.data(), counts.data(), starts.data(),
                                stuck.data(), stop));
    }
    return as_array(std::move(stuck));
}

template <class T> auto copied(const std::vector<T> &values) { return as_array(std::vector<T>(values)); }

// A graph with the arrays that it reads.
struct GraphArrays {
    Array1<const i64> starts;
    Array1<const i32> children;
    Array2<const i32> counts;
    StateGraph graph;

    GraphArrays(Array1<const i64> given_starts, Array1<const i32> given_children, Array2<const i32> given_counts, i64 states)
        : starts(given_starts), children(given_children), counts(given_counts) {
        require(starts.size() >= 1 && starts.size() - 1 == counts.shape(0), "counts for each state with edges");
        require(states >= i64(counts.shape(0)) && states < (i64(1) << 31), "the number of states");
        graph.states = states;
        graph.expanded = static_cast<i64>(counts.shape(0));
        graph.transitions = static_cast<i64>(children.size());
        graph.roles = static_cast<int>(counts.shape(1));
        graph.starts = starts.data();
        graph.children = children.data();
        graph.counts = counts.data();
    }

    void each_state(std::size_t size, const char *what) const { require(i64(size) == graph.states, what); }
};

auto order(const GraphArrays &g, Stop *stop) {
    std::vector<i32> longest(g.graph.states), sequence;
    {
        WithoutGil without_gil;
        sequence = g.graph.order(longest.data(), stop);
    }
    return std::make_pair(as_array(std::move(sequence)), as_array(std::move(longest)));
}

template <class T> using Owned = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
using Pair = std::optional<std::pair<Owned<u64>, Owned<u64>>>;

Pair pair_of(std::optional<Numbers> &&numbers) {
    if (!numbers) return {};
    return std::make_pair(as_array(std::move(numbers->low)), as_array(std::move(numbers->high)));
}

Pair count_plays(const GraphArrays &g, Array1<const i32> sequence, Stop *stop) {
    std::optional<Numbers> plays;
    {
        WithoutGil without_gil;
        plays = g.graph.count_plays(sequence.data(), i64(sequence.size()), stop);
    }
    return pair_of(std::move(plays));
}

Pair spread(const GraphArrays &g, Array1<const u64> low, Array1<const u64> high, Stop *stop) {
    g.each_state(low.size(), "a number for each state");
    g.each_state(high.size(), "a number for each state");
    std::optional<Numbers> numbers;
    {
        WithoutGil without_gil;
        numbers = g.graph.spread(low.data(), high.data(), stop);
    }
    return pair_of(std::move(numbers));
}

void random_values(const GraphArrays &g, Array1<const i32> sequence, Array2<double> values, Stop *stop) {
    g.each_state(values.shape(0), "values for each state");
    WithoutGil without_gil;
    g.graph.random_values(sequence.data(), i64(sequence.size()), values.data(), static_cast<int>(values.shape(1)),
                          stop);
}

auto force(const GraphArrays &g, Bools target, int role, std::optional<Array1<const i32>> sequence, Stop *stop) {
    g.each_state(target.size(), "whether each state is a target");
    std::vector<i32> rank(g.graph.states), move(g.graph.states);
    {
        WithoutGil without_gil;
        g.graph.force(bytes(target), role, sequence ? sequence->data() : nullptr,
                      sequence ? i64(sequence->size()) : 0, rank.data(), move.data(), stop);
    }
    return std::make_pair(as_array(std::move(rank)), as_array(std::move(move)));
}

i64 reply(const GraphArrays &g, i64 state, i64 move, int role, Array1<const i32> rank) {
    g.each_state(rank.size(), "a rank for each state");
    return g.graph.reply(state, move, role, rank.data());
}

auto lasso(const GraphArrays &g, Array1<const i64> depth, Array1<const i64> candidates, i64 work, Stop *stop) {
    g.each_state(depth.size(), "a depth for each state");
    Lasso lasso;
    {
        WithoutGil without_gil;
        lasso = g.graph.lasso(depth.data(), candidates.data(), i64(candidates.size()), work, stop);
    }
    return std::make_pair(lasso.path, lasso.finished);
}

std::tuple<i64, i64, Owned<double>> induce(const GraphArrays &g, Bools over, Array1<const i32> sequence, i64 begin, int chance, int role, double top,
                 Array2<double> values, Array1<i32> length, Array1<i32> best, Stop *stop) {
    g.each_state(over.size(), "whether the game is over, for each state");
    g.each_state(values.shape(0), "values for each state");
    g.each_state(length.size(), "room for each state");
    g.each_state(best.size(), "room for each state");
    require(i64(values.shape(1)) == g.graph.roles && g.graph.roles > 0, "values for each role");
    require(begin >= 0 && begin <= i64(sequence.size()), "a place in the sequence");
    require(chance >= -1 && chance < g.graph.roles && role >= -1 && role < g.graph.roles, "a number of no role");
    require(role < 0 || role != chance, "chance wants nothing");
    Induction work{g.graph,    bytes(over),   sequence.data(), chance, role, top,
                   values.data(), length.data(), best.data(),     0,      {}};
    i64 place = -1;
    {
        WithoutGil without_gil;
        place = work.run(begin, stop);
    }
    if (place < 0) work.payoffs.clear();
    return {place, work.ties, as_array(std::move(work.payoffs))};
}

void ternary(const CircuitPtr &circuit, Array1<bool> can, Array1<bool> must, Stop *stop) {
    require(i64(can.size()) == circuit->nodes() && i64(must.size()) == circuit->nodes(), "a value for each node");
    WithoutGil without_gil;
    evaluate_ternary(*circuit, reinterpret_cast<u8 *>(can.data()), reinterpret_cast<u8 *>(must.data()), stop);
}

auto distances(Array1<const i32> left, Array1<const i32> right, i64 fluents, Array1<const i32> literals,
               Array1<const float> weights, Array1<const i64> starts, Array1<const i64> members,
               Array1<const i64> tables, Array1<const float> steps, float far, Bits states, Stop *stop) {
    require(left.size() == right.size(), "gates have two sides");
    require(fluents >= 0 && fluents <= 64 * i64(states.shape(1)), "states have not the words for these fluents");
    const i64 gates = static_cast<i64>(left.size()), nodes = 1 + fluents + gates;
    for (i64 g = 0; g < gates; ++g) {
        const i64 limit = 2 * (1 + fluents + g);
        require(left(g) >= 0 && left(g) < limit && right(g) >= 0 && right(g) < limit,
                "a gate does not depend on earlier nodes only");
    }
    require(literals.size() == weights.size(), "a weight for each literal");
    for (std::size_t k = 0; k < literals.size(); ++k)
        require(literals(k) >= 0 && literals(k) < 2 * nodes, "a literal out of range");
    require(starts.size() == tables.size() + 1, "a table for each group");
    for (std::size_t k = 0; k < tables.size(); ++k) {
        require(starts(k) >= 0 && starts(k) <= starts(k + 1) && starts(k + 1) <= i64(members.size()),
                "groups do not fit");
        const i64 size = starts(k + 1) - starts(k);
        require(tables(k) >= 0 && tables(k) <= i64(steps.size()) &&
                    (size == 0 || size + 1 <= (i64(steps.size()) - tables(k)) / size),
                "tables do not fit");
    }
    for (std::size_t k = 0; k < members.size(); ++k)
        require(members(k) >= 0 && members(k) < fluents, "a member that is no fluent");
    std::vector<float> distances(states.shape(0));
    {
        WithoutGil without_gil;
        const DistanceNetwork network{fluents,
                                      gates,
                                      i64(tables.size()),
                                      left.data(),
                                      right.data(),
                                      {literals.data(), literals.data() + literals.size()},
                                      {weights.data(), weights.data() + weights.size()},
                                      starts.data(),
                                      members.data(),
                                      tables.data(),
                                      steps.data(),
                                      far};
        Stop never;
        if (!kernels().distances(network, states.data(), i64(states.shape(0)), static_cast<int>(states.shape(1)),
                                 distances.data(), stop ? *stop : never))
            throw Stopped();
    }
    return as_array(std::move(distances));
}

} // namespace

void bind_explore(nb::module_ &m) {
    nb::class_<StateTable>(m, "StateTable",
                           "A set of packed states, numbered from 0 in the order in which they were added.\n\n"
                           "The states themselves stand in an array of the caller; the table takes 13 to 27 bytes a state\n"
                           "when it is large.  A lock serialises calls.")
        .def(nb::init<int>(), nb::arg("words"), "Create an empty set of states of `words` words.")
        .def_prop_ro("count", &StateTable::count, "The number of states.")
        .def_prop_ro("bytes", &StateTable::bytes, "The memory of the table in bytes.")
        .def("insert", &insert, array("states"), array("parents"), array("rows"), array("origins"),
             nb::arg("first_origin"), stop_argument(),
             "Add packed states, `rows` [n, words], and return the number of each, int32 [n].\n\n"
             "New ones are appended to `states` [room, words], which has those that were added before, and their\n"
             "`parents` [room] become `first_origin + origins`, int64 [n].  `ValueError` where `states` has not room\n"
             "for all of them.  A call that is stopped has added the first of them, or, while the table grew, spoiled it.");

    nb::class_<Survey>(m, "Survey",
                       "Statistics of expanded states, added chunk by chunk.  A lock serialises calls.")
        .def(nb::init<CircuitPtr>(), nb::arg("circuit"), Release())
        .def("add", &survey, array("states"), array("over"), array("legal"), array("counts"), array("starts"),
             stop_argument(),
             "Look at states, uint64 [n, words], and whether the game is `over` there, bool [n]; return those that are\n"
             "stuck, counted from 0: a role cannot move though the game is not over.\n\n"
             "`legal`, uint64 [n, legal_words], has their legal moves.  Fills `counts`, int32 [n, roles], with their\n"
             "numbers, and the sums of joint moves, `starts`, int64 [n + 1], after `starts[0]`; joint moves are cut at\n"
             "2**40 a state.")
        .def_prop_ro("branching", [](const Survey &s) { return as_array2(std::vector<i64>(s.branching), 2); },
                     nb::rv_policy::automatic,
                     "[roles, 2] over non-terminal states: the sum of legal moves, and the states with a choice.")
        .def_prop_ro("choosers", [](const Survey &s) { return copied(s.choosers); }, nb::rv_policy::automatic,
                     "[roles + 1] in how many non-terminal states so many roles have a choice.")
        .def_prop_ro("ever_true", [](const Survey &s) { return copied(s.ever); }, nb::rv_policy::automatic,
                     "Packed: the fluents that are true in some state.")
        .def_prop_ro("always_true", [](const Survey &s) { return copied(s.always); }, nb::rv_policy::automatic,
                     "Packed: the fluents that are true in every state.")
        .def_prop_ro("ever_legal", [](const Survey &s) { return copied(s.ever_legal); }, nb::rv_policy::automatic,
                     "Packed: the moves that are legal in some non-terminal state.");

    nb::class_<GraphArrays>(m, "StateGraph",
                      "The graph of the states of a game, on arrays of the caller.\n\n"
                      "The edges of state i are `starts[i] .. starts[i + 1]` of `children`, one for each joint move, in mixed\n"
                      "radix of `counts[i]`, the numbers of legal moves of the roles, the last role's changing fastest.\n"
                      "States from `len(counts)` on have no recorded edges.\n"
                      "Numbers that are none of a state or an edge are a `ValueError` of what meets them.  Calls raise\n"
                      "`herbrand.errors.Stopped` when their `stop` says so.")
        .def(nb::init<Array1<const i64>, Array1<const i32>, Array2<const i32>, i64>(), array("starts"),
             array("children"), array("counts"), nb::arg("states"),
             "`starts` int64 [expanded + 1], `children` int32 [transitions], `counts` int32 [expanded, roles], and the\n"
             "number of all states.")
        .def("order", &order, stop_argument(),
             "Sort the states so that each comes before its successors (Kahn 1962), omitting those on cycles and beyond.\n\n"
             "Returns those that could be sorted, int32, and the most joint moves that lead to each state, int32 [states].")
        .def("count_plays", &count_plays, array("sequence"), stop_argument(),
             "Return the lines of play from every state to an end, as 128-bit numbers: two uint64 [states], low and high.\n\n"
             "`sequence` has every state before its successors.  None if a number does not fit.")
        .def("spread", &spread, array("low"), array("high"), stop_argument(),
             "Return the lines of play one step on: each state hands its number, of 128 bits, to its successors.\n\n"
             "None if a number does not fit.")
        .def("random_values", &random_values, array("sequence"), array("values"), stop_argument(),
             "Fill `values`, float64 [states, ...], with the mean over the successors, where a state has some.")
        .def("force", &force, array("target"), nb::arg("role"), array("sequence").none() = nb::none(),
             stop_argument(),
             "Compute where a role can force a state of `target`, bool [states], whatever the others do.\n\n"
             "Returns in how many steps, or -1, and which of its legal moves does it: two int32 [states].  With a\n"
             "`sequence` of all states, each before its successors, this takes one pass.")
        .def("reply", &reply, nb::arg("state"), nb::arg("move"), nb::arg("role"), array("rank"),
             "Return an edge of a state with the role's move of that number, after which its `rank` is -1; -1 for none.")
        .def("lasso", &lasso, array("depth"), array("candidates"), nb::arg("work"), stop_argument(),
             "Find a shortest line of play that comes back to a state where it was.\n\n"
             "`candidates` are states in the order of `depth`, int64 [states], with every circle through one of them.  Looks\n"
             "at `work` edges at most.  Returns the states on the circle, from where it begins, none if there is none; and\n"
             "whether all were looked at.")
        .def("induce", &induce, array("over"), array("sequence"), nb::arg("begin"), nb::arg("chance"), nb::arg("role"),
             nb::arg("top"), array("values"), array("length"), array("best"), stop_argument(),
             "Backward induction: fill `values`, float64 [states, roles], of states, each after its successors.\n\n"
             "Terminal states have their values.  `sequence[begin:]` was done before; what `chance` (a role, or -1) does is\n"
             "equally likely.  With `role` -1 at most one other role may choose, and takes the first move that is best\n"
             "for it, and of equal ones the shorter play from `top` / 2 on, the longer below.  With a role, only its\n"
             "column of `values` is filled: what it gets at least, choosing at the same time as all others together.\n"
             "`length`, int32 [states], becomes the steps of best play, `best`, int32 [states], the number of the move\n"
             "taken, or -1 where no one chooses or choices are mixed.\n\n"
             "Returns a place in `sequence`, a number of ties, and payoffs: the place is -1 when all is done, or that of a\n"
             "state where mixing is needed, with the payoffs, float64 [moves of the role * moves of the others]; its value\n"
             "is to be filled in.  Ties are states in which another best move would be worth something else to somebody.");

    m.def("evaluate_ternary", &ternary, nb::arg("circuit"), array("can"), array("must"), stop_argument(),
          "Evaluate gates on what can be true and what must be true, bool [nodes] each, whose inputs are given.");
    m.def("distances", &distances, array("left"), array("right"), nb::arg("fluents"), array("literals"),
          array("weights"), array("starts"), array("members"), array("tables"), array("steps"), nb::arg("far"),
          array("states"), stop_argument(),
          "Return how far packed states, uint64 [n, words], are from those in which literals are true, float32 [n].\n\n"
          "Nodes are false, fluents, gates; a literal is 2 * node + inverted.  Of conjunctions what the sides need is\n"
          "added, up to `far`.  Group k has the fluents `members[starts[k]:starts[k + 1]]`, and at `tables[k]` of `steps`\n"
          "the steps from each of them, and from none, to each other.");
}

} // namespace herbrand
