#include "bind.hpp"
#include "lanes.hpp"
#include "x86.hpp"

namespace herbrand {

namespace {

std::vector<i32> flat(const std::vector<Op> &ops) {
    std::vector<i32> rows;
    rows.reserve(5 * ops.size());
    for (const Op &op : ops) rows.insert(rows.end(), {op.out, op.a, op.b, op.c, op.code});
    return rows;
}

nb::dict describe(const Program &p) {
    nb::dict d;
    d["plays"] = p.plays;
    d["arity"] = p.arity;
    d["states"] = p.states;
    d["kept"] = p.kept;
    d["rows"] = p.rows;
    d["ops"] = as_array2(flat(p.ops), 5);
    std::vector<i32> units, back;
    for (const Unit &u : p.units) units.insert(units.end(), {u.begin, u.end, u.first_back, u.last_back});
    for (const Back &b : p.back) back.insert(back.end(), {b.row, b.source});
    d["units"] = as_array2(std::move(units), 4);
    d["back"] = as_array2(std::move(back), 2);
    const auto stage = [](const Stage &s) { return nb::make_tuple(s.begin, s.end); };
    d["legal"] = stage(p.legal);
    d["next"] = stage(p.next);
    d["goals"] = stage(p.goals);
    d["goal_row"] = p.goal_row;
    if (!p.plays) {
        d["move_row"] = p.move_row;
        d["legal_row"] = p.legal_row;
        d["next_row"] = p.next_row;
        d["sees_row"] = p.sees_row;
        d["terminal_row"] = p.terminal_row;
        return d;
    }
    d["active"] = p.active;
    d["late"] = p.late;
    d["restart"] = p.restart;
    d["over"] = p.over;
    d["playing"] = p.playing;
    d["stuck"] = p.stuck;
    d["conflict"] = p.conflict;
    d["stuck_role"] = p.stuck_role;
    nb::list choices;
    for (const Choice &choice : p.choices) {
        nb::dict entry;
        entry["roles"] = choice.roles;
        entry["places"] = choice.places;
        entry["count"] = choice.count;
        entry["rank"] = choice.rank;
        entry["again"] = choice.again;
        choices.append(entry);
    }
    d["choices"] = choices;
    d["random"] = p.random;
    d["randoms"] = p.randoms;
    nb::list counters;
    for (const auto &[first, bits] : p.counters) counters.append(nb::make_tuple(first, bits));
    d["counters"] = counters;
    d["flush_steps"] = (1 << COUNTER_BITS) - 1;
    return d;
}

} // namespace

void bind_lanes(nb::module_ &m) {
    nb::class_<Program>(m, "CompiledProgram",
                        "A lane program ready to run; `herbrand.network.LaneProgram` shows its contents.")
        .def("__len__", [](const Program &p) { return p.ops.size(); }, "The number of operations.")
        .def_prop_ro("code", [](const Program &p) { return std::string(p.code ? p.code->kind() : "walked"); },
                     "How it is executed: `avx512` or `avx2` machine code, or `walked`, interpreted.")
        .def_prop_ro("why_walked", [](const Program &p) { return p.why_walked; },
                     "Why it has no machine code; empty if it has.")
        .def_prop_ro("code_bytes", [](const Program &p) { return p.code ? p.code->bytes() : 0; },
                     "Bytes of machine code, whole pages; 0 where there is none.")
        .def("machine_code",
             [](const Program &p, const std::string &kind) {
                 require(kind == "avx512" || kind == "avx2", "machine code is `avx512` or `avx2`");
                 require(kind == "avx512" || p.arity == 2, "AVX2 has functions of two bits");
                 const Written written = write(p, kind == "avx512");
                 return nb::make_tuple(nb::bytes(written.bytes.data(), written.bytes.size()), written.begins, written.rows, 8 * written.pitch);
             },
             nb::arg("kind"),
             "Write machine code of a kind, whether or not this processor executes it: the bytes, where each unit\n"
             "begins, how many rows of memory they need, and how many bytes are from one to the next: 64, or 32 where each\n"
             "half of the rows has memory of its own.  `ValueError` where there is no encoder.")
        .def("describe", &describe,
             "All of the program as arrays and numbers, by the names that `herbrand.network.LaneProgram` explains.");
    m.def("evaluating_program",
          [](const CircuitPtr &c, int arity) {
              require(arity == 0 || arity == 2 || arity == 3, "functions of two or three bits");
              return arity ? evaluating(*c, arity) : c->evaluating();
          },
          nb::arg("circuit"), nb::arg("arity") = 0, Release(),
          "The lane program that evaluates a circuit: the one that is used, or one of functions of two or three bits.");
    m.def("playing_program",
          [](const CircuitPtr &c, bool assume, int arity) {
              require(arity == 0 || arity == 2 || arity == 3, "functions of two or three bits");
              return arity ? playing(*c, arity, assume) : c->playing(assume);
          },
          nb::arg("circuit"), nb::arg("assume") = true, nb::arg("arity") = 0, Release(),
          "The lane program of random play: the one that is used, or one of functions of two or three bits.\n\n"
          "With `assume` it relies on regularities of sampled games, and checks them in every step.");
    m.def("allow_code", &allow_code, nb::arg("allowed"), "Enable or disable machine code for programs created from now on.");
    m.def("why_no_code", &why_no_code, "Why programs get no machine code here; empty if they do.");
    m.def("code_kind", &code_kind, "Which machine code programs get: `avx512`, `avx2`, or an empty string for none.");
}

} // namespace herbrand
