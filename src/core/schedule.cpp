#include "schedule.hpp"

#include <algorithm>

namespace herbrand {

namespace {

// Limits of a step: candidate cones that are compared, operations in a cone, readers of a row that are considered.
constexpr i32 WAYS = 24, CONE = 32, READERS = 8;

// Rows that fit into registers and into the first level of the cache (48 KiB), and the cost of a read that misses the
// cache, on top of that of a read that misses the registers, which is 1.
constexpr i32 REGISTERS = 14, NEAR = 768, FAR = 2;

// A set of numbers below a limit, in the order of insertion: a doubly linked list in two arrays.
class Sequence {
public:
    explicit Sequence(i32 limit = 0) { reset(limit); }
    void reset(i32 limit) {
        end_ = limit;
        before_.assign(limit + 1, ABSENT);
        after_.assign(limit + 1, ABSENT);
        before_[limit] = after_[limit] = limit; // a ring, in which the limit stands between the last and the first
    }

    // The sentinel before the first and after the last one.
    i32 end() const { return end_; }
    i32 first() const { return after_[end_]; }
    i32 last() const { return before_[end_]; }
    i32 before(i32 i) const { return before_[i]; }
    bool has(i32 i) const { return before_[i] != ABSENT; }
    void add(i32 i) {
        const i32 last = before_[end_];
        before_[i] = last;
        after_[i] = end_;
        after_[last] = before_[end_] = i;
    }
    void remove(i32 i) {
        after_[before_[i]] = after_[i];
        before_[after_[i]] = before_[i];
        before_[i] = ABSENT;
    }

private:
    static constexpr i32 ABSENT = -1;

    i32 end_ = 0;
    std::vector<i32> before_, after_;
};

// A least-recently-used cache of `most` rows: counts the reads that miss it.  A temporary row leaves after its last read.
class Cache {
public:
    explicit Cache(const Program &p) : p_(p), reads_(p.rows, 0), rows_(p.rows) {}

    i64 misses(const std::vector<Op> &ops, i32 most) {
        most_ = most;
        for (const Op &op : ops) each(op, [&](i32 row) { ++reads_[row]; });
        i64 new_rows = 0;
        for (const Op &op : ops) {
            each(op, [&](i32 row) {
                if (!rows_.has(row)) ++new_rows;
                else remove(row);
                if (--reads_[row] || row < p_.kept) add(row);
            });
            if (!rows_.has(op.out)) add(op.out);
        }
        while (size_) remove(rows_.first());
        return new_rows;
    }

private:
    template <class Visit> static void each(const Op &op, Visit &&visit) {
        const i32 rows[3] = {op.a, op.b, op.c};
        for (i32 k = 0; k < operands(op); ++k)
            if (rows[k] > 1) visit(rows[k]); // the others are constants
    }
    void add(i32 row) {
        if (size_ == most_) remove(rows_.first());
        rows_.add(row);
        ++size_;
    }
    void remove(i32 row) {
        rows_.remove(row);
        --size_;
    }

    const Program &p_;
    std::vector<i32> reads_;
    Sequence rows_;
    i32 size_ = 0, most_ = 0;
};

// List scheduling of one unit after the other.  At each step it emits the cone (the operations not yet done on which an
// operation depends) that frees most rows, among those whose top reads a row produced recently.  This keeps the number
// of live rows small, which Sethi and Ullman (1970) minimise for trees, and for which general graphs need a heuristic.
class Scheduler {
public:
    explicit Scheduler(Program &p) : p_(p), cache_(p), maker_(p.rows, -1) {}

    void unit(const Unit &unit) {
        ops_ = p_.ops.data() + unit.begin;
        size_ = unit.end - unit.begin;
        read();
        order_.clear();
        // Every operation is in the cone of some root.
        for (i32 root = 0;;) {
            while (root < size_ && (done_[root] || !is_root(root))) ++root;
            if (root == size_) break;
            if (!go_on()) { // every candidate needs more rows: take the next root, unless its cone is much larger
                cone(root, NO_LIMIT);
                if (best_.empty() || cone_.size() <= 4 * best_.size()) best_ = cone_;
            }
            for (const i32 i : best_)
                if (!done_[i]) emit(i);
        }
        for (i32 i = 0; i < size_; ++i) maker_[ops_[i].out] = -1;
        const std::vector<Op> before(ops_, ops_ + size_);
        std::vector<Op> after;
        after.reserve(size_);
        for (const i32 i : order_) after.push_back(ops_[i]);
        // The greedy order may be worse than the depth-first one.
        if (cost(after) <= cost(before)) std::copy(after.begin(), after.end(), p_.ops.begin() + unit.begin);
    }

private:
    static constexpr i32 NO_LIMIT = 1 << 30;

    i64 cost(const std::vector<Op> &ops) {
        return cache_.misses(ops, REGISTERS) + FAR * cache_.misses(ops, NEAR);
    }

    // Set up the data dependencies between the operations of the unit.
    void read() {
        made_of_.assign(std::size_t(size_) * 3, -1);
        waits_.assign(size_, 0);
        unread_.assign(size_, 0);
        done_.assign(size_, 0);
        stamp_.assign(size_, 0);
        count_.assign(size_, 0);
        alive_.reset(size_);
        now_ = 0;
        for (i32 i = 0; i < size_; ++i) {
            const Op &op = ops_[i];
            const i32 rows[3] = {op.a, op.b, op.c};
            i32 *made_of = &made_of_[3 * std::size_t(i)];
            for (i32 k = 0; k < operands(op); ++k) {
                const i32 of = maker_[rows[k]];
                if (of < 0 || std::find(made_of, made_of + waits_[i], of) != made_of + waits_[i]) continue;
                made_of[waits_[i]++] = of;
                ++unread_[of];
            }
            maker_[op.out] = i;
        }
        first_reader_.assign(size_ + 1, 0);
        for (i32 i = 0; i < size_; ++i) first_reader_[i + 1] = first_reader_[i] + unread_[i];
        readers_.resize(first_reader_[size_]);
        head_.assign(first_reader_.begin(), first_reader_.end() - 1);
        for (i32 i = 0; i < size_; ++i)
            for (const i32 of : made_of(i)) readers_[head_[of]++] = i;
        head_.assign(first_reader_.begin(), first_reader_.end() - 1);
    }

    struct Span {
        const i32 *first, *last;
        const i32 *begin() const { return first; }
        const i32 *end() const { return last; }
    };
    Span made_of(i32 i) const {
        const i32 *first = &made_of_[3 * std::size_t(i)];
        i32 n = 0;
        while (n < 3 && first[n] >= 0) ++n;
        return {first, first + n};
    }
    // The rows below `kept` (constants, states, results) have fixed places and do not count as live.
    bool temporary(i32 i) const { return ops_[i].out >= p_.kept; }
    // Whether its result has a fixed place, or no operation of this unit reads it.
    bool is_root(i32 i) const { return !temporary(i) || first_reader_[i] == first_reader_[i + 1]; }
    // The live rows before the operation minus those after it.
    i32 freed(i32 i) const {
        i32 change = is_root(i) ? 0 : -1;
        for (const i32 of : made_of(i)) change += unread_[of] == 1 && temporary(of);
        return change;
    }

    // Emit an operation, then ready operations that do not increase the number of live rows.
    void emit(i32 first) {
        ready_.push_back(first);
        bool forced = true;
        while (!ready_.empty()) {
            const i32 i = ready_.back();
            ready_.pop_back();
            if (done_[i] || waits_[i] || (!forced && freed(i) < 0)) continue;
            forced = false;
            done_[i] = 1;
            order_.push_back(i);
            for (const i32 of : made_of(i)) {
                const i32 left = --unread_[of];
                if (left == 0 && temporary(of)) alive_.remove(of);
                if (left == 1 && temporary(of)) {
                    const i32 reader = next_reader(of);
                    if (!waits_[reader]) ready_.push_back(reader);
                }
            }
            for (i32 r = first_reader_[i]; r < first_reader_[i + 1]; ++r)
                if (--waits_[readers_[r]] == 0) ready_.push_back(readers_[r]);
            if (!is_root(i)) alive_.add(i);
        }
    }

    // The first reader that is not done; there must be one.
    i32 next_reader(i32 i) {
        while (done_[readers_[head_[i]]]) ++head_[i];
        return readers_[head_[i]];
    }

    // Collect in `cone_` the cone of an operation in depth-first order, the operation last; false if it exceeds `most`.
    bool cone(i32 top, i32 most) {
        cone_.clear();
        path_.clear();
        ++now_;
        stamp_[top] = now_;
        path_.push_back({top, 0});
        i32 seen = 1;
        while (!path_.empty()) {
            auto &[i, k] = path_.back();
            const i32 *of = &made_of_[3 * std::size_t(i)];
            while (k < 3 && of[k] >= 0 && (done_[of[k]] || stamp_[of[k]] == now_)) ++k;
            if (k == 3 || of[k] < 0) {
                cone_.push_back(i);
                path_.pop_back();
                continue;
            }
            const i32 below = of[k++];
            stamp_[below] = now_;
            if (++seen > most) return false;
            path_.push_back({below, 0});
        }
        return true;
    }
    // The live rows before the operations of the cone minus those after them.
    i32 freed_by_cone() {
        i32 change = 0;
        for (const i32 i : cone_)
            for (const i32 of : made_of(i)) ++count_[of];
        for (const i32 i : cone_) {
            if (!is_root(i) && unread_[i] > count_[i]) --change;
            for (const i32 of : made_of(i)) {
                if (stamp_[of] != now_ && temporary(of) && count_[of] == unread_[of]) ++change;
                if (stamp_[of] != now_) count_[of] = 0;
            }
        }
        for (const i32 i : cone_) count_[i] = 0;
        return change;
    }

    // Set `best_` to the cone that frees most rows, the smallest of several; returns whether it does not add live rows.
    bool go_on() {
        i32 ways = 0, most = -NO_LIMIT;
        best_.clear();
        for (i32 i = alive_.last(); i != alive_.end() && ways < WAYS && most < 1; i = alive_.before(i)) {
            next_reader(i);
            for (i32 r = head_[i]; r < std::min(first_reader_[i + 1], head_[i] + READERS); ++r) {
                if (done_[readers_[r]]) continue;
                ++ways;
                if (!cone(readers_[r], CONE)) continue;
                const i32 change = freed_by_cone();
                if (change < most || (change == most && cone_.size() >= best_.size())) continue;
                most = change;
                best_ = cone_;
                if (most >= 1) break;
            }
        }
        return most >= 0;
    }

    Program &p_;
    Cache cache_;
    const Op *ops_ = nullptr;
    i32 size_ = 0;
    std::vector<i32> maker_;                  // [rows] the operation of this unit that computes it, or -1
    std::vector<i32> made_of_;                // [operations, 3] the operations that compute its operands, then -1
    std::vector<i32> first_reader_, readers_; // the operations that read its result: a compressed sparse row matrix
    std::vector<i32> head_;                   // its readers before this index are done
    std::vector<i32> waits_, unread_;         // numbers of its operands, and of its readers, that are not done
    std::vector<u8> done_;
    Sequence alive_;                          // live temporary rows, as the operations that computed them
    std::vector<i32> stamp_, count_;          // `now_` for members of the current cone; reads of an operand by the cone
    i32 now_ = 0;
    std::vector<i32> order_, ready_, cone_, best_;
    std::vector<std::pair<i32, i32>> path_;
};

} // namespace

void schedule(Program &program) {
    Scheduler scheduler(program);
    for (const Unit &unit : program.units) scheduler.unit(unit);
}

} // namespace herbrand
