#include "bind.hpp"
#include "search.hpp"

#include <algorithm>
#include <cmath>
#include <nanobind/stl/optional.h>

namespace herbrand {

using namespace search;

namespace {

using Self = nb::handle_t<Tree>;
Tree &tree_of(Self self) { return *made<Tree>(self); }

// No lock is held where Python may be called: it could let another thread run, which waits for the lock.

// Arrays of a tree, read-only: Python sees them change as the tree grows.
template <class T>
nb::ndarray<nb::numpy, const T, nb::ndim<1>> view(Self self, i64 size, const T *data, i64 stride = 1) {
    return nb::ndarray<nb::numpy, const T, nb::ndim<1>>(data, {std::size_t(size)}, self, {stride});
}
template <class T> auto of_positions(Self self, Field<T> Tree::*which) {
    Tree &t = tree_of(self);
    return view<T>(self, t.room, (t.*which).at(0), (t.*which).stride());
}
template <class T> auto of_positions(Self self, Field<T> Tree::*which, i64 columns) {
    Tree &t = tree_of(self);
    return nb::ndarray<nb::numpy, const T, nb::ndim<2>>(
        (t.*which).at(0), {std::size_t(t.room), std::size_t(columns)}, self, {(t.*which).stride(), 1});
}
template <class T> auto of_arms(Self self, Field<T> Tree::*which) {
    Tree &t = tree_of(self);
    return view<T>(self, (t.*which).stride() ? t.arm_room : 0, (t.*which).at(0), (t.*which).stride());
}
template <class T> auto lazily(Self self, Zeros<T> Tree::*which) {
    Zeros<T> &array = tree_of(self).*which;
    return view<T>(self, array.size(), array.data());
}

i64 checked(const Tree &t, i64 at) {
    require(t.has(at), "no such position");
    return at;
}

const u64 *one_state(const Tree &t, const Array2<const u64> &state) {
    require(state.shape(0) == 1 && state.shape(1) == std::size_t(t.words), "a packed state of this tree is [1, words]");
    return state.data();
}

void check_roots(const Tree &t, const Array1<const i64> &roots) {
    for (std::size_t i = 0; i < roots.size(); ++i)
        require(roots(i) == -1 || t.has(roots(i)), "no such position");
}

int checked_role(const Tree &t, i64 role) {
    require(role >= 0 && role < t.roles, "no such role");
    return static_cast<int>(role);
}

void make_tree(Tree *self, CircuitPtr circuit, i64 memory, i64 most, u64 seed, bool labelled, double exploration,
               int chance, bool regret, double amaf, double reference) {
    require(circuit != nullptr && circuit->roles > 0 && circuit->roles < (1 << 15), "a tree is for one role or more");
    require(memory >= 0, "memory is a number of bytes");
    require(most > 0 && most <= i64(1) << 28, "too many positions");
    require(std::isfinite(exploration) && exploration >= 0.0, "exploration is a number from 0 on");
    require(std::isfinite(amaf) && amaf >= 0.0, "amaf is a number from 0 on");
    require(std::isfinite(reference) && reference >= 0.0, "reference is a number from 0 on");
    require(chance >= -1 && chance < circuit->roles, "no such role");
    Tree::Settings settings;
    settings.exploration = exploration;
    settings.chance = chance;
    settings.regret = regret;
    settings.amaf = amaf;
    settings.reference = reference;
    const WithoutGil without_gil;
    new (self) Tree(std::move(circuit), labelled, settings, memory, most, seed);
}

i64 after(Tree &t, i64 at, const std::vector<i64> &arms) {
    std::lock_guard hold(t.lock);
    require(t.is_open(checked(t, at)), "the position was not expanded");
    require(arms.size() == std::size_t(t.roles), "there is an arm for each role");
    i64 begin = t.first[at];
    for (int r = 0; r < t.roles; ++r) {
        require(arms[r] >= begin && arms[r] < begin + t.size(at)[r], "the role has no such arm there");
        begin += t.size(at)[r];
    }
    return t.after(at, arms.data());
}

void prove(Tree &t, i64 at, const std::vector<double> &low, const std::vector<double> &high, int plies) {
    std::lock_guard hold(t.lock);
    checked(t, at);
    require(low.size() == std::size_t(t.roles) && high.size() == low.size(), "there are bounds for each role");
    for (int r = 0; r < t.roles; ++r)
        require(low[r] >= 0.0 && low[r] <= high[r] && high[r] <= 1.0, "bounds are from 0 to 1, the lower one first");
    require(plies >= 0, "a proof looks ahead, not back");
    std::copy(low.begin(), low.end(), t.low(at));
    std::copy(high.begin(), high.end(), t.high(at));
    t.plies[at] = plies;
}

bool tighten(Tree &t, i64 at) {
    std::lock_guard hold(t.lock);
    return t.is_open(checked(t, at)) && t.tighten(at);
}

i64 add(Tree &t, Array2<const u64> state) {
    std::lock_guard hold(t.lock);
    return t.add(one_state(t, state));
}

auto plant(Tree &t, Array2<const u64> states) {
    const std::size_t words = t.circuit->state_words();
    require(states.shape(1) == words, "packed states of this game are [n, words]");
    std::vector<i64> roots(states.shape(0));
    {
        WithoutGil without_gil;
        std::lock_guard hold(t.lock);
        std::vector<u64> state(t.words);
        for (std::size_t i = 0; i < roots.size(); ++i) {
            std::copy_n(states.data() + i * words, words, state.begin());
            if (std::size_t(t.words) > words) state[words] = i;
            roots[i] = t.add(state.data());
        }
    }
    return as_array(std::move(roots));
}

auto unsettled(Tree &t, Array1<const i64> roots) {
    std::vector<u8> open(roots.size());
    {
        std::lock_guard hold(t.lock);
        check_roots(t, roots);
        for (std::size_t i = 0; i < open.size(); ++i)
            open[i] = roots(i) >= 0 && t.kind[roots(i)] != OVER && !t.is_exact(roots(i));
    }
    return as_array(std::move(open));
}

auto best_moves(Tree &t, Array1<const i64> roots, Array1<const i64> roles) {
    require(roles.size() == roots.size(), "there is a role for each root");
    std::vector<i64> moves(roots.size());
    {
        std::lock_guard hold(t.lock);
        check_roots(t, roots);
        for (std::size_t i = 0; i < moves.size(); ++i) moves[i] = t.best_move(roots(i), checked_role(t, roles(i)));
    }
    return as_array(std::move(moves));
}

nb::tuple add_up(Tree &t, Array1<const i64> roots, Array1<const i64> groups, Array1<const i64> roles, i64 columns) {
    require(groups.size() == roots.size(), "there is a group for each root");
    require(columns >= 0 && columns <= t.circuit->moves, "too many columns");
    for (std::size_t g = 0; g < roles.size(); ++g) {
        const int role = checked_role(t, roles(g));
        require(t.circuit->bounds[role + 1] - t.circuit->bounds[role] <= columns, "there is a column for each move");
    }
    const std::size_t size = roles.size() * static_cast<std::size_t>(columns);
    std::vector<double> values(size), looked_at(size), games(size);
    {
        std::lock_guard hold(t.lock);
        check_roots(t, roots);
        for (std::size_t i = 0; i < roots.size(); ++i) {
            require(groups(i) >= 0 && groups(i) < i64(roles.size()), "no such group");
            const i64 row = groups(i) * columns;
            t.add_up(roots(i), static_cast<int>(roles(groups(i))), values.data() + row, looked_at.data() + row,
                     games.data() + row);
        }
    }
    return nb::make_tuple(as_array2(std::move(values), columns), as_array2(std::move(looked_at), columns),
                          as_array2(std::move(games), columns));
}

void make_round(Round *self, TreePtr tree, int ways, int rows) {
    require(tree != nullptr, "a round needs a tree");
    require(ways > 0 && ways <= 1 << 20 && rows > 0 && rows <= 1 << 24, "too many ways or rows, or none");
    const WithoutGil without_gil;
    new (self) Round(std::move(tree), ways, rows);
}

i64 expand(Round &round, Array1<const i64> roots, int most, int widest, double weight) {
    require(roots.size() > 0, "there is a root to start from");
    require(most > 0 && widest > 0, "there is a way, and a joint move from a leaf, at least");
    require(std::isfinite(weight) && weight >= 0.0, "the weight of a way under way is a number from 0 on");
    const std::vector<i64> kept(roots.data(), roots.data() + roots.size());
    WithoutGil without_gil;
    return round.expand(kept.data(), static_cast<i64>(kept.size()), most, widest, weight);
}

using Played = std::optional<Array2<u64>>;

void backpropagate(Round &round, Array2<const i16> goals, Array1<const i64> lengths, const Played &played) {
    Tree &t = round.tree();
    require(goals.shape(0) == lengths.size() && goals.shape(1) == std::size_t(t.roles),
            "goals are [games, roles], lengths [games]");
    u64 *bits = nullptr;
    i64 words = 0;
    if (played) {
        words = static_cast<i64>(played->shape(1));
        require(played->shape(0) == std::size_t(t.circuit->moves) && 64 * words >= i64(lengths.size()),
                "played moves are [moves, words], with a bit for each game");
        bits = played->data();
    }
    WithoutGil without_gil;
    round.backpropagate(goals.data(), lengths.data(), static_cast<i64>(lengths.size()), bits, words);
}

i64 run(Round &round, i64 root, Expander &players, Array1<u64> generator, Stop &stop, double each, int widest,
        i64 max_steps, i64 rounds, double seconds, const std::optional<Array1<const i64>> &places) {
    const Circuit &theirs = players.circuit(), &ours = *round.tree().circuit;
    require(theirs.roles == ours.roles && theirs.state_words() == ours.state_words(),
            "playouts are of a game with other roles or states");
    require(generator.size() == 4 * WORDS, "a generator has 32 words");
    require(std::isfinite(each) && each > 0.0, "there are playouts after a position");
    require(widest > 0 && rounds > 0 && max_steps >= 0 && max_steps < i64(1) << 60,
            "there is a joint move from a leaf, and a round, at least");
    if (places) {
        require(places->size() == std::size_t(ours.moves), "there is a place for each move");
        for (std::size_t m = 0; m < places->size(); ++m)
            require((*places)(m) >= (m ? (*places)(m - 1) : 0) && (*places)(m) <= theirs.moves, "no such place");
    } else {
        require(theirs.moves == ours.moves, "playouts are of a game with other moves");
    }
    Round::Plan plan;
    plan.each = each;
    plan.widest = widest;
    plan.max_steps = max_steps;
    plan.rounds = rounds;
    plan.seconds = seconds;
    std::vector<i64> kept;
    if (places) {
        kept.assign(places->data(), places->data() + places->size());
        plan.places = kept.data();
    }
    plan.generator = generator.data();
    WithoutGil without_gil;
    return round.run(root, players, plan, stop);
}

} // namespace

void bind_search(nb::module_ &m) {
    nb::class_<Tree>(
        m, "SearchTree",
        "A Monte Carlo search tree; values are goals divided by 100.\n\n"
        "Positions are numbered from 0 in the order in which they were added, but numbers of recycled ones are used\n"
        "again; a state is one position, however it was reached.  The position after a move is added when the move\n"
        "is taken a second time, at the root after the first round, and where several roles have a choice at once.\n"
        "  When a position is expanded its arms, the legal moves of role 0, then of role 1 and so on,\n"
        "get consecutive numbers.  Arrays are read-only views that change as the tree grows; of those that begin\n"
        "with [positions] the first `positions` rows mean something, of those with [arms] the first `arms`.\n"
        "Calls may come from several threads.")
        .def("__init__", &make_tree, nb::arg("circuit"), nb::kw_only(), nb::arg("memory"),
             nb::arg("most") = i64(1) << 27, nb::arg("seed") = 0, nb::arg("labelled") = false,
             nb::arg("exploration") = 0.5, nb::arg("chance") = -1, nb::arg("regret") = false, nb::arg("amaf") = 0.0,
             nb::arg("reference") = 0.0,
             "Make an empty tree that takes at most `memory` bytes, and has at most `most` positions.\n\n"
             "The memory is taken as the tree grows; when it is used up, positions that were visited little are\n"
             "recycled.  `labelled`: states have one more word, by which `plant` tells equal ones apart, and\n"
             "nothing is recycled.  `exploration` is the constant of UCB1, `chance` the number of the role\n"
             "`random` or -1; with `regret`, roles that move at once choose by regret matching instead of UCB1.\n"
             "`amaf` is after how many playouts a move's own mean counts as much as that of playouts in which it\n"
             "came later, 0 for never; positions with fewer playouts than `reference` use the AMAF means of the last\n"
             "one before them with as many.  `MemoryError` where there is not so much memory.")
        .def_ro("words", &Tree::words, "Words of 64 bits in a state of the tree.")
        .def_ro("roles", &Tree::roles)
        .def_ro("room", &Tree::room, "The most positions, if there were hardly any arms.")
        .def_ro("arm_room", &Tree::arm_room, "The most arms, if there were hardly any positions.")
        .def_ro("positions", &Tree::positions)
        .def_ro("arms", &Tree::arms)
        .def_ro("recycled", &Tree::recycled, "Positions recycled for lack of memory so far.")
        .def_prop_ro("bytes", &Tree::bytes, "The bytes of the memory in use.")
        .def_ro("edges", &Tree::edges, "The number of joint moves made where several roles have a choice.")
        .def_ro("sum", &Tree::sum,
                "The constant sum of the values of two players; -1 if it varies, -2 while unknown.")
        .def_prop_ro("exploration", [](Tree &t) { return t.settings.exploration; })
        .def_prop_ro("chance", [](Tree &t) { return t.settings.chance; })
        .def_prop_ro("regret", [](Tree &t) { return t.settings.regret; })
        .def_prop_ro("amaf", [](Tree &t) { return t.settings.amaf; })
        .def_prop_ro("reference", [](Tree &t) { return t.settings.reference; })
        .def_rw("is_full", &Tree::full, "Whether the tree is full; rounds then start playouts at the leaves.")
        .def_prop_ro("state", [](Self s) { return of_positions(s, &Tree::states, tree_of(s).words); },
                     "[positions, words] packed states.")
        .def_prop_ro("games", [](Self s) { return of_positions(s, &Tree::games); },
                     "[positions] playouts at or below it.")
        .def_prop_ro("best", [](Self s) { return of_positions(s, &Tree::best); },
                     "[positions] the highest value of role 0 in any of them.")
        .def_prop_ro("total", [](Self s) { return of_positions(s, &Tree::totals, tree_of(s).roles); },
                     "[positions, roles] the sums of their values.")
        .def_prop_ro("low", [](Self s) { return of_positions(s, &Tree::lows, tree_of(s).roles); },
                     "[positions, roles] proved lower bound of a role's value.")
        .def_prop_ro("high", [](Self s) { return of_positions(s, &Tree::highs, tree_of(s).roles); },
                     "[positions, roles] proved upper bound of a role's value.")
        .def_prop_ro("plies", [](Self s) { return of_positions(s, &Tree::plies); },
                     "[positions] the length of the proof in steps.")
        .def_prop_ro("kind", [](Self s) { return of_positions(s, &Tree::kind); },
                     "[positions] LEAF, ALONE, JOINT or OVER of `herbrand.play.search.tree`, or FREE, 4.")
        .def_prop_ro("mover", [](Self s) { return of_positions(s, &Tree::mover); },
                     "[positions] the role that has a choice; 0 if none has.")
        .def_prop_ro("first", [](Self s) { return of_positions(s, &Tree::first); }, "[positions] the first arm.")
        .def_prop_ro("sizes", [](Self s) { return of_positions(s, &Tree::sizes, tree_of(s).roles); },
                     "[positions, roles] the number of arms of each role.")
        .def_prop_ro("seen", [](Self s) { return of_positions(s, &Tree::seen); },
                     "[positions] the number of the last descent through it, or BUSY.")
        .def_prop_ro("move", [](Self s) { return of_arms(s, &Tree::move); },
                     "[arms] the move, by its number among the moves of all roles.")
        .def_prop_ro("arm_count", [](Self s) { return of_arms(s, &Tree::arm_count); }, "[arms] playouts through it.")
        .def_prop_ro("arm_total", [](Self s) { return of_arms(s, &Tree::arm_total); },
                     "[arms] the sum of the values of the arm's role.")
        .def_prop_ro("arm_virtual", [](Self s) { return of_arms(s, &Tree::arm_virtual); },
                     "[arms] descents in progress through it.")
        .def_prop_ro("arm_child", [](Self s) { return of_arms(s, &Tree::arm_child); },
                     "[arms] the position after it where one role has a choice, -1 if that was not made; where\n"
                     "several have, the first arm has the last edge.")
        .def_prop_ro("amaf_count", [](Self s) { return of_arms(s, &Tree::amaf_count); },
                     "[arms] AMAF: playouts in which the role made the move here or later.")
        .def_prop_ro("amaf_total", [](Self s) { return of_arms(s, &Tree::amaf_total); },
                     "[arms] the sum of the role's values in these.")
        .def_prop_ro("arm_regret", [](Self s) { return of_arms(s, &Tree::arm_regret); }, "[arms] cumulative regret.")
        .def_prop_ro("arm_share", [](Self s) { return of_arms(s, &Tree::arm_share); }, "[arms] cumulative strategy.")
        .def_prop_ro("edge_child", [](Self s) { return lazily(s, &Tree::edge_child); },
                     "[edges] the position after the joint move.")
        .def_prop_ro("edge_next", [](Self s) { return lazily(s, &Tree::edge_next); },
                     "[edges] the previous edge of the same position, or -1.")
        .def("find", [](Tree &t, Array2<const u64> state) {
                 std::lock_guard hold(t.lock);
                 return t.find(one_state(t, state));
             }, array("state"), "Return the position of a packed state, [1, words]; -1 if there is none.")
        .def("add", &add, array("state"),
             "Return the position of a packed state, [1, words], created if it is new; -1 if the tree is full.")
        .def("clear", [](Tree &t) {
                 std::lock_guard hold(t.lock);
                 t.clear();
             }, Release(), "Remove all positions.")
        .def("forget", [](Tree &t, i64 root) {
                 std::lock_guard hold(t.lock);
                 return t.forget(checked(t, root));
             }, nb::arg("root"), Release(),
             "Drop all positions that are unreachable from `root`; return the new number of the root.\n\n"
             "Rounds in progress cannot be finished afterwards.")
        .def("is_exact", [](Tree &t, i64 at) {
                 std::lock_guard hold(t.lock);
                 return t.is_exact(checked(t, at));
             }, nb::arg("position"), Release(),
             "Return whether the values of a position are proved for all roles but chance.")
        .def("after", &after, nb::arg("position"), nb::arg("arms"),
             "Return the position after a joint move, given by the arm of each role; -1 if it was not made.")
        .def("prove", &prove, nb::arg("position"), nb::arg("low"), nb::arg("high"), nb::arg("plies"),
             "Set what is proved of a position: bounds of each role's value, and how many steps that looks ahead.")
        .def("tighten", &tighten, nb::arg("position"),
             "Update the proved bounds of a position from its successors; return whether they changed.")
        .def("plant", &plant, array("states"),
             "Return the positions of packed states of the game, [n, words]; of equal ones too, in a labelled tree.\n\n"
             "-1 if the tree is full.")
        .def("unsettled", &unsettled, array("roots"),
             "Return for each position, -1 for none, whether there is more to find out: uint8 [n].")
        .def("best_moves", &best_moves, array("roots"), array("roles"),
             "Return the move of a role at each root that promises most, by its number among those of all roles.\n\n"
             "What is proved decides where it can; else the mean less its uncertainty.  -1 where the root was not\n"
             "expanded.")
        .def("add_up", &add_up, array("roots"), array("groups"),
             array("roles"), nb::arg("columns"),
             "Add up, over the roots of each group g, what the moves of `roles[g]` are worth.\n\n"
             "Returns values, how many roots a move was looked at, and playouts after it: each [groups, columns],\n"
             "by the number of the move among the role's.");
    nb::class_<Round>(
        m, "Round",
        "Rounds of selection, expansion and backpropagation on a tree, for one thread.\n\n"
        "A way is a path from a root to a leaf; a row a joint move that is made at its end; rows that lead to new\n"
        "positions are fresh, and playouts start there.  At most `ways` and `rows` in a round.")
        .def("__init__", &make_round, nb::arg("tree"), nb::kw_only(), nb::arg("ways") = 512, nb::arg("rows") = 8192)
        .def("expand", &expand, array("roots"), nb::kw_only(), nb::arg("most"), nb::arg("widest"),
             nb::arg("weight"),
             "Go down the tree at most `most` times, from the roots in turn, and expand the leaves.\n\n"
             "At most `widest` joint moves are made from a leaf.  `weight` is what a way under way counts, in\n"
             "playouts lost.  Returns how many rows are fresh.  If the tree is full, these are the leaves themselves.\n"
             "An unfinished round is abandoned first.")
        .def("starts", [](Round &round) {
                 return as_array2(round.starts(), round.tree().circuit->state_words());
             }, "Return the packed states after the fresh rows, [fresh, words].")
        .def("backpropagate", &backpropagate, array("goals"), array("lengths"),
             array("played").none() = nb::none(),
             "Add the ends of playouts, int16 [games, roles], up to the roots, and end the round.\n\n"
             "Game i of g started after fresh row `i * fresh // g`; one of length 0 started where the game is over.\n"
             "`played`, uint64 [moves, words], has the games in which a move was made, for AMAF; it is changed.\n"
             "`ValueError` where no round is under way, or the tree has forgotten since.")
        .def("run", &run, nb::arg("root"), nb::arg("players"), array("generator"), nb::arg("stop"),
             nb::kw_only(), nb::arg("each") = 1.0, nb::arg("widest") = int(LANES), nb::arg("max_steps") = 1000,
             nb::arg("rounds") = 1, nb::arg("seconds") = 0.0, array("places").none() = nb::none(),
             "Do whole rounds from a root, with playouts by a `StateEvaluator`; return how many playouts there were.\n\n"
             "At most `rounds`; after so many seconds none is begun but the first.  Ends where the root is solved, a\n"
             "round had no playouts, or `stop` says so, which abandons the round.  `each` is how many playouts\n"
             "there are after a new position, on the average; `generator`, uint64 [32], their random numbers, used\n"
             "up.  Where the players' circuit has several copies of moves, `places`, int64 [moves], says where those\n"
             "of each begin.")
        .def("abandon", &Round::abandon, Release(), "End the round without playouts.")
        .def("line", &Round::line, nb::arg("fresh"),
             "Return the moves of role 0 from the root to where a fresh row leads, after `backpropagate`, too.")
        .def_prop_ro("per_leaf", &Round::per_leaf, "Moving average of the rows from a leaf.")
        .def_prop_ro("rows", &Round::rows)
        .def_prop_ro("fresh", &Round::fresh)
        .def_prop_ro("asked", &Round::asked, "Ways that ended with a leaf or a joint move to expand.")
        .def_prop_ro("is_under_way", &Round::is_under_way);
}

} // namespace herbrand
