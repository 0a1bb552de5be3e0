// What Python asks about a single state, as functions that it calls directly: these calls are made hundreds of
// thousands of times a second, and most of their time would go into converting arguments.
#include "bind.hpp"
#include "state.hpp"

#include <algorithm>
#include <cstring>

namespace herbrand {

namespace {

// A reference to a Python object, or none with an exception set.
using Made = PyObject *;

constexpr int FEW = 8; // fewer legal moves than that are listed anew

Made failed(PyObject *error, const char *what) {
    PyErr_SetString(error, what);
    return nullptr;
}

Made none() {
    Py_INCREF(Py_None);
    return Py_None;
}

Made truth(bool value) {
    PyObject *made = value ? Py_True : Py_False;
    Py_INCREF(made);
    return made;
}

// For new lists and tuples; steals the reference.
void put_in_list(PyObject *list, Py_ssize_t i, PyObject *thing) {
#ifdef Py_LIMITED_API
    PyList_SetItem(list, i, thing);
#else
    PyList_SET_ITEM(list, i, thing);
#endif
}

Made as_bytes(const u64 *words, std::size_t count) {
    return PyBytes_FromStringAndSize(reinterpret_cast<const char *>(words), static_cast<Py_ssize_t>(8 * count));
}

// Makes a tuple and takes the things, of which some may be missing, with an exception set.
template <class... Things> Made new_tuple(Things... things) {
    PyObject *made = ((things != nullptr) && ...) ? PyTuple_New(sizeof...(things)) : nullptr;
    if (!made) {
        (Py_XDECREF(things), ...);
        return nullptr;
    }
    Py_ssize_t i = 0;
    (PyTuple_SetItem(made, i++, things), ...);
    return made;
}

int count_ones(const u64 *words, int count) {
    int total = 0;
    for (int w = 0; w < count; ++w) total += popcount(words[w]);
    return total;
}

// Objects that stand for numbers from 0 on.
class Things {
public:
    Things() = default;
    Things(const Things &) = delete;
    Things &operator=(const Things &) = delete;
    ~Things() {
        for (PyObject *thing : things_) Py_DECREF(thing);
    }
    void add(Made thing) {
        if (!thing) throw nb::python_error();
        things_.push_back(thing);
    }
    PyObject *const *data() const { return things_.data(); }
    std::size_t size() const { return things_.size(); }

private:
    std::vector<PyObject *> things_;
};

Made new_list(const u64 *words, int count, PyObject *const *objects) {
    PyObject *made = PyList_New(count_ones(words, count));
    if (!made) return nullptr;
    Py_ssize_t i = 0;
    for (int w = 0; w < count; ++w, objects += 64)
        for (u64 bits = words[w]; bits; bits &= bits - 1) {
            PyObject *thing = objects[lowest_bit(bits)];
            Py_INCREF(thing);
            put_in_list(made, i++, thing);
        }
    return made;
}

// Makes lists of the objects whose bits are set.  The last long list is cached with its bits: updating it by the few
// changes and copying it takes a fraction of the time.
class ListCache {
public:
    explicit ListCache(int words) : listed_(words) {
        list_ = PyList_New(0);
        if (!list_) throw nb::python_error();
    }
    ListCache(ListCache &&other) noexcept : listed_(std::move(other.listed_)), list_(other.list_) { other.list_ = nullptr; }
    ~ListCache() { Py_XDECREF(list_); }

    Made list(const u64 *words, PyObject *const *objects) {
        const int size = static_cast<int>(listed_.size());
        const int count = count_ones(words, size);
        if (count < FEW) return new_list(words, size, objects);
        int changes = 0;
        for (int w = 0; w < size; ++w) changes += popcount(words[w] ^ listed_[w]);
        if (3 * changes < count) return update(words, objects) ? PyList_GetSlice(list_, 0, count) : nullptr;
        PyObject *made = new_list(words, size, objects);
        if (made) {
            if (PyList_SetSlice(list_, 0, PyList_Size(list_), made) < 0) {
                Py_DECREF(made);
                return nullptr;
            }
            std::copy_n(words, size, listed_.begin());
        }
        return made;
    }

private:
    bool update(const u64 *words, PyObject *const *objects) {
        Py_ssize_t before = 0;
        for (std::size_t w = 0; w < listed_.size(); ++w) {
            const u64 now = words[w];
            for (u64 bits = listed_[w] ^ now; bits; bits &= bits - 1) {
                const u64 bit = bits & -bits;
                const Py_ssize_t i = before + popcount(now & (bit - 1));
                if ((now & bit ? PyList_Insert(list_, i, objects[64 * w + lowest_bit(bit)])
                               : PyList_SetSlice(list_, i, i + 1, nullptr)) < 0)
                    return false;
                listed_[w] ^= bit;
            }
            before += popcount(now);
        }
        return true;
    }

    std::vector<u64> listed_;
    PyObject *list_;
};

std::vector<ListCache> lists_by_role(const StatePlan &plan) {
    std::vector<ListCache> lists;
    for (int r = 0; r < plan.circuit->roles; ++r) lists.emplace_back(plan.word_of[r + 1] - plan.word_of[r]);
    return lists;
}

// A `StateMemory` with the lists that Python gets from it.
struct StateQueries {
    explicit StateQueries(StatePlanPtr plan) : memory(plan), lists(lists_by_role(*plan)) {
        const Circuit &c = *plan->circuit;
        std::size_t most = std::max(c.goal.size(), c.sees.size());
        for (int r = 0; r < c.roles; ++r) most = std::max(most, std::size_t(c.bounds[r + 1] - c.bounds[r]));
        for (std::size_t i = 0; i < most; ++i) numbers.add(PyLong_FromSize_t(i));
    }

    const Circuit &circuit() const { return *memory.plan().circuit; }

    // Whether the state of a key is terminal, to which it goes; -1 with an exception for what is no key.
    int enter(PyObject *key) {
        char *bytes;
        Py_ssize_t size;
        if (PyBytes_AsStringAndSize(key, &bytes, &size) < 0) return -1;
        const std::size_t words = circuit().state_words();
        if (size != static_cast<Py_ssize_t>(8 * words)) {
            PyErr_Format(PyExc_ValueError, "a key is %zd bytes", static_cast<Py_ssize_t>(8 * words));
            return -1;
        }
        std::memcpy(key_words(words), bytes, 8 * words);
        const int rest = circuit().fluents & 63;
        if (rest != 0 || circuit().fluents == 0) {
            if (key_.back() >> rest) {
                PyErr_SetString(PyExc_ValueError, "no key: it has more bits than there are fluents");
                return -1;
            }
        }
        return memory.enter(key_.data());
    }

    Made legal_of(int role) {
        memory.look();
        return lists[role].list(memory.outputs() + memory.plan().word_of[role], numbers.data());
    }
    Made places(int begin, int end) const {
        return new_list(memory.outputs() + begin, end - begin, numbers.data());
    }
    // The legal moves of all roles as bits.
    Made answers() const { return as_bytes(memory.outputs(), memory.plan().word_next); }
    Made key() const { return as_bytes(memory.state(), circuit().state_words()); }

    StateMemory memory;
    std::vector<ListCache> lists;
    Things numbers;

private:
    u64 *key_words(std::size_t words) {
        key_.resize(words);
        return key_.data();
    }
    std::vector<u64> key_;
};

// The objects that stand for moves and roles.
struct MoveNames {
    MoveNames(nb::object of, nb::sequence roles, nb::sequence moves)
        : owner(std::move(of)), queries(*made<StateQueries>(owner)), lists(lists_by_role(queries.memory.plan())) {
        const Circuit &c = queries.circuit();
        require(nb::len(roles) == std::size_t(c.roles) && nb::len(moves) == std::size_t(c.roles),
                "names and moves are those of each role");
        int bits = 1;
        while ((std::size_t(1) << bits) <= 2 * std::size_t(c.moves)) ++bits;
        shift = 64 - bits;
        table.assign(std::size_t(1) << bits, {nullptr, 0});
        for (int r = 0; r < c.roles; ++r) {
            names.add(PySequence_GetItem(roles.ptr(), r));
            if (!PyUnicode_Check(names.data()[r])) throw nb::type_error("a role is a str");
            nb::object mine = moves[r];
            require(nb::len(mine) == std::size_t(c.bounds[r + 1] - c.bounds[r]),
                    "each role has an object for each of its moves");
            for (i32 i = c.bounds[r]; i < c.bounds[r + 1]; ++i) {
                objects.add(PySequence_GetItem(mine.ptr(), i - c.bounds[r]));
                PyObject *move = objects.data()[i];
                std::size_t slot = slot_of(move);
                for (; table[slot].first; slot = (slot + 1) & (table.size() - 1))
                    require(table[slot].first != move, "no object stands for two moves");
                table[slot] = {move, i};
            }
        }
    }

    // The legal moves of a role, from answers that were checked.
    Made moves_of(int role, const u64 *answers) {
        return lists[role].list(answers + queries.memory.plan().word_of[role],
                               objects.data() + queries.circuit().bounds[role]);
    }
    // The words of answers; null with an exception for any other object.
    const u64 *words_of(PyObject *answers) {
        const StatePlan &plan = queries.memory.plan();
        char *bytes;
        Py_ssize_t size;
        if (PyBytes_AsStringAndSize(answers, &bytes, &size) < 0) return nullptr;
        if (size != 8 * static_cast<Py_ssize_t>(plan.word_next)) {
            PyErr_SetString(PyExc_ValueError, "answers of another game");
            return nullptr;
        }
        words.resize(plan.word_next);
        std::memcpy(words.data(), bytes, size);
        for (int w = 0; w < plan.word_next; ++w) words[w] &= plan.valid[w];
        return words.data();
    }
    // The place of a move among the moves of all roles; -1 if it is none of the objects.
    i32 place_of(PyObject *move) const {
        for (std::size_t slot = slot_of(move);; slot = (slot + 1) & (table.size() - 1)) {
            if (table[slot].first == move) return move ? table[slot].second : -1;
            if (!table[slot].first) return -1;
        }
    }

    nb::object owner;
    StateQueries &queries;
    std::vector<ListCache> lists;
    Things names, objects;

private:
    // 2**64 by the golden ratio: multiplied by it, addresses are spread over the table (Knuth, volume 3, 6.4).
    std::size_t slot_of(PyObject *move) const {
        return reinterpret_cast<std::uintptr_t>(move) * u64(0x9E3779B97F4A7C15) >> shift;
    }
    std::vector<std::pair<PyObject *, i32>> table;
    int shift = 0;
    std::vector<u64> words;
};

// A list or a tuple of a thing for each role; what is neither, or has another length, is none.
class PerRole {
public:
    PerRole(PyObject *things, int roles) : things_(things) {
        if (PyList_CheckExact(things))
            is_list_ = true;
        else if (!PyTuple_CheckExact(things))
            return;
        fits_ = (is_list_ ? PyList_Size(things) : PyTuple_Size(things)) == roles;
    }
    explicit operator bool() const { return fits_; }
    PyObject *operator[](int i) const {
#ifdef Py_LIMITED_API
        return is_list_ ? PyList_GetItem(things_, i) : PyTuple_GetItem(things_, i);
#else
        return is_list_ ? PyList_GET_ITEM(things_, i) : PyTuple_GET_ITEM(things_, i);
#endif
    }

private:
    PyObject *things_;
    bool is_list_ = false, fits_ = false;
};

// A number from 0 to `end` - 1; -1 for anything else.
Py_ssize_t number_of(PyObject *thing, Py_ssize_t end) {
    const Py_ssize_t number = PyLong_AsSsize_t(thing);
    if (number < 0) {
        PyErr_Clear();
        return -1;
    }
    return number < end ? number : -1;
}

StateQueries &queries_of(PyObject *self) { return *nb::inst_ptr<StateQueries>(self); }
MoveNames &names_of(PyObject *self) { return *nb::inst_ptr<MoveNames>(self); }

// -- questions in numbers -----------------------------------------------------------------

Made go(PyObject *self, PyObject *key) {
    const int terminal = queries_of(self).enter(key);
    return terminal < 0 ? nullptr : truth(terminal);
}

Made legal(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    StateQueries &queries = queries_of(self);
    const int roles = queries.circuit().roles;
    if (count > 2) return failed(PyExc_TypeError, "legal([role[, key]])");
    if (count > 0) {
        const Py_ssize_t role = PyLong_AsSsize_t(arguments[0]);
        if (role == -1 && PyErr_Occurred()) return nullptr;
        if (role < 0 || role >= roles) return failed(PyExc_IndexError, "no such role");
        if (count > 1 && queries.enter(arguments[1]) < 0) return nullptr;
        return queries.legal_of(static_cast<int>(role));
    }
    PyObject *made = PyList_New(roles);
    for (int role = 0; made && role < roles; ++role) {
        PyObject *mine = queries.legal_of(role);
        if (!mine) {
            Py_DECREF(made);
            return nullptr;
        }
        put_in_list(made, role, mine);
    }
    return made;
}

Made scores(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    StateQueries &queries = queries_of(self);
    if (count > 1) return failed(PyExc_TypeError, "scores([key])");
    if (count > 0 && queries.enter(arguments[0]) < 0) return nullptr;
    queries.memory.score();
    return queries.places(queries.memory.plan().word_goal, queries.memory.plan().word_sees);
}

Made look_ahead(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    StateQueries &queries = queries_of(self);
    const Circuit &c = queries.circuit();
    if (count < 1 || count > 2) return failed(PyExc_TypeError, "look_ahead(inputs[, key])");
    if (count > 1 && queries.enter(arguments[1]) < 0) return nullptr;
    const PerRole inputs(arguments[0], c.roles);
    if (!inputs) return failed(PyExc_ValueError, "inputs are a list or a tuple of a number for each role");
    for (int r = 0; r < c.roles; ++r) {
        const Py_ssize_t move = number_of(inputs[r], c.moves);
        if (move < 0) return failed(PyExc_ValueError, "no such move");
        queries.memory.joint()[r] = static_cast<i32>(move);
    }
    queries.memory.follow();
    const StatePlan &plan = queries.memory.plan();
    return new_tuple(as_bytes(queries.memory.outputs() + plan.word_next, c.state_words()),
                     queries.places(plan.word_sees, plan.words));
}

Made play(PyObject *self, PyObject *moves) {
    StateQueries &queries = queries_of(self);
    const Circuit &c = queries.circuit();
    const PerRole numbers(moves, c.roles);
    if (!numbers) return none();
    for (int r = 0; r < c.roles; ++r) {
        const Py_ssize_t number = number_of(numbers[r], c.bounds[r + 1] - c.bounds[r]);
        if (number < 0) return none();
        queries.memory.joint()[r] = queries.memory.plan().order[c.bounds[r] + number];
    }
    const int terminal = queries.memory.forward();
    return terminal < 0 ? none() : truth(terminal);
}

// -- questions in objects -----------------------------------------------------------------

Made state(PyObject *self, PyObject *key) {
    StateQueries &queries = names_of(self).queries;
    const int terminal = queries.enter(key);
    return terminal < 0 ? nullptr : new_tuple(queries.answers(), truth(terminal));
}

Made go_on(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    MoveNames &names = names_of(self);
    StateQueries &queries = names.queries;
    const Circuit &c = queries.circuit();
    if (count != 2) return failed(PyExc_TypeError, "go_on(key, moves)");
    const PerRole moves(arguments[1], c.roles);
    if (!moves) return none();
    for (int r = 0; r < c.roles; ++r) {
        const i32 place = names.place_of(moves[r]);
        if (place < c.bounds[r] || place >= c.bounds[r + 1]) return none();
        queries.memory.joint()[r] = queries.memory.plan().order[place];
    }
    if (queries.enter(arguments[0]) < 0) return nullptr;
    const int terminal = queries.memory.forward();
    return terminal < 0 ? none() : new_tuple(queries.key(), queries.answers(), truth(terminal));
}

Made answer_of_role(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    MoveNames &names = names_of(self);
    if (count != 2) return failed(PyExc_TypeError, "answer_of_role(answers, role)");
    const u64 *words = names.words_of(arguments[0]);
    if (!words) return nullptr;
    const Py_ssize_t role = number_of(arguments[1], names.queries.circuit().roles);
    if (role < 0) return failed(PyExc_IndexError, "no such role");
    return names.moves_of(static_cast<int>(role), words);
}

Made answer(PyObject *self, PyObject *answers) {
    MoveNames &names = names_of(self);
    const u64 *words = names.words_of(answers);
    PyObject *made = words ? PyDict_New() : nullptr;
    for (int r = 0; made && r < names.queries.circuit().roles; ++r) {
        PyObject *moves = names.moves_of(r, words);
        const bool kept = moves && PyDict_SetItem(made, names.names.data()[r], moves) == 0;
        Py_XDECREF(moves);
        if (!kept) Py_CLEAR(made);
    }
    return made;
}

// -- as attributes ------------------------------------------------------------------------

using Several = Made (*)(PyObject *, PyObject *const *, Py_ssize_t);

PyMethodDef define(const char *name, PyCFunction function, const char *doc) { return {name, function, METH_O, doc}; }
PyMethodDef define(const char *name, Several function, const char *doc) {
    return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL, doc};
}

// Adds a read-only attribute that is the function of `definition`, bound to the object.
template <PyMethodDef &definition, class Class> void offer(nb::class_<Class> &to) {
    to.def_prop_ro(
        definition.ml_name,
        [](nb::handle self) {
            (void)made<Class>(self);
            return nb::steal<nb::object>(PyCFunction_NewEx(&definition, self.ptr(), nullptr));
        },
        definition.ml_doc);
}

PyMethodDef go_def = define("go", go, "go(key): make a state the current one; returns whether it is terminal.");
PyMethodDef legal_def =
    define("legal", legal,
           "legal([role[, key]]): the numbers of the legal moves, ascending; without a role a list for each of them.\n\n"
           "`IndexError` for a role that is none.");
PyMethodDef scores_def =
    define("scores", scores, "scores([key]): the goals that hold, as places among the goals of the network.");
PyMethodDef look_ahead_def =
    define("look_ahead", look_ahead,
           "look_ahead(inputs[, key]): the key of the next state, and the percepts by their places.\n\n"
           "`inputs` has a move, numbered as in the network, for each role; they need not be legal.");
PyMethodDef play_def = define(
    "play", play,
    "play(moves): whether the state is terminal, to which it goes by a joint move, a number for each role.\n\n"
    "None where a move is not legal, the game is over, or `moves` is no list or tuple of integers; the state stays then.");
PyMethodDef state_def =
    define("state", state, "state(key): the answers about a state, for `answer`, and whether it is terminal.");
PyMethodDef go_on_def =
    define("go_on", go_on,
           "go_on(key, moves): the key of the next state and what `state` tells about it.\n\n"
           "None unless `moves` is a list or a tuple of a legal move, the very object, for each role.");
PyMethodDef answer_of_role_def =
    define("answer_of_role", answer_of_role, "answer_of_role(answers, role): the legal moves of a role.");
PyMethodDef answer_def = define("answer", answer, "answer(answers): the legal moves by role.");

} // namespace

void bind_state(nb::module_ &m) {
    nb::class_<StateQueries> memory(
        m, "StateMemory",
        "Evaluates single states incrementally: the cost of a step is proportional to what changes.\n\n"
        "At first all fluents are false.  `order[i]` is the i-th move as answers shall have them, sorted by role;\n"
        "the number of a move is its place among those of its role.  Keys are packed states: `Circuit.state_words`\n"
        "words as bytes; a wrong one is a `ValueError`.  Each answer is one call that nothing interrupts.");
    memory
        .def(
            "__init__",
            [](StateQueries *self, CircuitPtr circuit, Array1<const i64> order) {
                std::vector<i32> moves(order.size());
                for (std::size_t i = 0; i < moves.size(); ++i) {
                    require(order(i) >= 0 && order(i) < circuit->moves, "an order has all moves");
                    moves[i] = static_cast<i32>(order(i));
                }
                std::shared_ptr<const StatePlan> plan;
                {
                    const WithoutGil without_gil;
                    plan = std::make_shared<const StatePlan>(std::move(circuit), std::move(moves));
                }
                new (self) StateQueries(std::move(plan));
            },
            nb::arg("circuit"), array("order"))
        .def(
            "again",
            [](const StateQueries &self) {
                auto made = std::make_unique<StateQueries>(self.memory.shared_plan());
                made->memory.set_reckons(self.memory.reckons());
                made->memory.set_kept(self.memory.kept());
                return made.release();
            },
            nb::rv_policy::take_ownership,
            "Return another memory in the initial condition; the two share immutable tables.")
        .def_prop_rw(
            "reckons", [](const StateQueries &self) { return self.memory.reckons(); },
            [](StateQueries &self, bool reckons) { self.memory.set_reckons(reckons); },
            "Whether changes are propagated instead of evaluating all gates.  Setting it makes all fluents false.")
        .def_prop_rw(
            "kept", [](const StateQueries &self) { return self.memory.kept(); },
            [](StateQueries &self, int states) {
                require(states >= 1 && states <= StateMemory::MOST_KEPT, "1 to 16 states are kept");
                self.memory.set_kept(states);
            },
            "The number of cached states; others are computed from the nearest.  Setting it makes all fluents false.")
        .def_prop_ro(
            "key", [](const StateQueries &self) { return nb::steal<nb::bytes>(self.key()); }, "The current state, packed.");
    memory.attr("MOST_KEPT") = StateMemory::MOST_KEPT;
    offer<go_def>(memory);
    offer<legal_def>(memory);
    offer<scores_def>(memory);
    offer<look_ahead_def>(memory);
    offer<play_def>(memory);

    nb::class_<MoveNames> names(
        m, "MoveNames",
        "The objects that stand for the moves and roles of a `StateMemory`, and questions in these terms.\n\n"
        "`moves[r][i]` is the object for the i-th move of role r; they are lists apart by identity.");
    names.def(
        "__init__",
        [](MoveNames *self, nb::object of, nb::sequence roles, nb::sequence moves) {
            if (!nb::isinstance<StateQueries>(of)) throw nb::type_error("names are for a StateMemory");
            new (self) MoveNames(std::move(of), roles, moves);
        },
        nb::arg("memory"), nb::arg("roles"), nb::arg("moves"));
    offer<state_def>(names);
    offer<go_on_def>(names);
    offer<answer_of_role_def>(names);
    offer<answer_def>(names);
}

} // namespace herbrand
