#include "bind.hpp"
#include "cpu.hpp"
#include "play.hpp"
#include "x86.hpp"

#include <algorithm>
#include <chrono>

namespace herbrand {

namespace {

// Random games from the initial state: what `BatchSimulator` is made of.
class Playouts {
public:
    Playouts(CircuitPtr circuit, i64 playouts, u64 seed, i64 max_steps, bool walk)
        : circuit_(std::move(circuit)), walk_(walk) {
        require(playouts >= 0 && playouts < (i64(1) << 50), "the number of playouts is out of range");
        require(max_steps >= 0, "the number of steps is out of range");
        std::vector<i64> quota(LANES, playouts / LANES);
        for (i64 lane = 0; lane < playouts % LANES; ++lane) ++quota[lane];
        block_ = std::make_unique<Block>(*circuit_, circuit_->playing(true), seed, quota, max_steps, walk);
    }

    // Play on until all games are played, `seconds` have gone by, or `stop` says so.  Returns whether all are played.
    bool play(double seconds, Stop &stop) {
        const auto begin = std::chrono::steady_clock::now();
        i64 passes = 1;
        while (block_->games < wanted() && !block_->done()) {
            const auto before = std::chrono::steady_clock::now();
            kernels().play(*block_, passes);
            if (block_->conflict) {
                block_->conflict = false;
                ++conflicts_;
                block_->change(circuit_->playing(false), walk_);
                continue;
            }
            const auto now = std::chrono::steady_clock::now();
            const double spent = std::chrono::duration<double>(now - before).count();
            if (spent < 0.5e-3) passes = std::min<i64>(2 * passes, 4096);
            else if (spent > 2e-3) passes = std::max<i64>(1, passes / 2);
            if (stop.due()) break;
            if (std::chrono::duration<double>(now - begin).count() >= seconds) break;
        }
        block_->flush();
        return block_->done();
    }

    std::string code() const {
        const Program &program = block_->machine.program();
        return walk_ || !program.code ? "walked" : program.code->kind();
    }
    int conflicts() const { return conflicts_; }
    const Block &block() const { return *block_; }
    const Circuit &circuit() const { return *circuit_; }

private:
    i64 wanted() const { return std::numeric_limits<i64>::max(); }

    CircuitPtr circuit_;
    bool walk_;
    int conflicts_ = 0;
    std::unique_ptr<Block> block_;
};

} // namespace

void bind_play(nb::module_ &m) {
    nb::class_<Playouts>(m, "Playouts",
                         "Uniformly random games from the initial state, 512 at a time.\n\n"
                         "Every lane plays a fixed number of games, so that short games are not over-represented.  The\n"
                         "same seed and number of games give the same games, whatever they are computed with.")
        .def(nb::init<CircuitPtr, i64, u64, i64, bool>(), nb::arg("circuit"), nb::arg("playouts"), nb::arg("seed"),
             nb::arg("max_steps"), nb::arg("walk") = false, Release(),
             "`walk` interprets the program instead of compiling it.  Games end after `max_steps` steps in any case.")
        .def("play", &Playouts::play, nb::arg("seconds"), nb::arg("stop"), Release(),
             "Play for so many wall-clock seconds, or until `stop` is set; return whether all games are played.")
        .def_prop_ro("code", &Playouts::code, "How it plays: `avx512` or `avx2` machine code, or `walked`, interpreted.")
        .def_prop_ro("played", [](const Playouts &p) { return p.block().games; }, "Games that have ended.")
        .def_prop_ro("transitions", [](const Playouts &p) { return p.block().transitions(); },
                     "Steps made, including those of unfinished games.")
        .def_prop_ro("truncated", [](const Playouts &p) { return p.block().truncated; },
                     "Games that reached the step limit.")
        .def_prop_ro("stuck", [](const Playouts &p) { return p.block().stuck; },
                     "Games that ended because a role had no legal move.")
        .def_prop_ro("ended", [](const Playouts &p) { return p.block().ended; }, "Games that ended in a terminal state.")
        .def_prop_ro("conflicts", &Playouts::conflicts,
                     "How often an assumption of the program failed and another program took over: 0 or 1.")
        .def_prop_ro("stuck_role", [](const Playouts &p) { return p.block().stuck_role; },
                     "The role that had no legal move in the first such state; -1 if there was none.")
        .def_prop_ro("stuck_state", [](const Playouts &p) { return as_array(std::vector<u64>(p.block().stuck_state)); }, nb::rv_policy::automatic,
                     "The first such state, packed.")
        .def_prop_ro("lengths", [](const Playouts &p) { return as_array(std::vector<i64>(p.block().lengths)); }, nb::rv_policy::automatic,
                     "[...] the number of games by length.")
        .def_prop_ro("goals", [](const Playouts &p) { return as_array(std::vector<i64>(p.block().goals)); }, nb::rv_policy::automatic,
                     "[goals] games that ended with each goal, where it was the only one of its role.")
        .def_prop_ro("choices", [](const Playouts &p) { return as_array(std::vector<i64>(p.block().choices)); }, nb::rv_policy::automatic,
                     "[roles] the sum of the numbers of legal moves over all states in which one was chosen.");
    m.def("peak",
          [] {
              // the best of some short runs: others may use the processor, too
              constexpr i64 TURNS = 20000;
              double best = 0;
              for (int run = 0; run < 20; ++run) {
                  const auto before = std::chrono::steady_clock::now();
                  volatile u64 kept = kernels().spin(TURNS);
                  (void)kept;
                  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - before;
                  best = std::max(best, TURNS * 64.0 * LANES / spent.count());
              }
              return best;
          },
          Release(),
          "Measure how many functions of three bits one core computes in a second, on values in registers, over all lanes.");
}

} // namespace herbrand
