#include "diagrams.hpp"

#include <algorithm>

namespace herbrand {

namespace {

constexpr i64 FIRST_BUCKETS = 1 << 12, FIRST_RESULTS = 1 << 12;

// The greatest power of two up to a number, at least `least`.
i64 power_below(i64 number, i64 least) {
    i64 power = least;
    while (2 * power <= number) power *= 2;
    return power;
}

} // namespace

Diagrams::Diagrams(std::vector<i32> values, i64 bytes) : values_(std::move(values)) {
    require(values_.size() <= MOST_LEVELS, "too many levels");
    require(bytes >= 1 << 20, "diagrams need a megabyte");
    for (const i32 n : values_) {
        require(n >= 2 && n <= MOST_VALUES, "a level has 2 to 4 values");
        sizes_.push_back(HEAD + n);
    }
    for (const i32 n : values_) sizes_.push_back(HEAD + n * n);
    // Most of the memory is for nodes, of four to six words, one word a node for the table that finds them.
    pool_ = Zeros<u32>(std::min<i64>(bytes / 100 * 55 / 4, FREE - 1));
    most_buckets_ = power_below(bytes / 5 / 4, FIRST_BUCKETS);
    most_results_ = power_below(bytes / 5 / static_cast<i64>(sizeof(Result)), FIRST_RESULTS);
    buckets_ = Zeros<u32>(FIRST_BUCKETS);
    results_ = Zeros<Result>(FIRST_RESULTS);
    results_shift_ = 64 - std::countr_zero(static_cast<u64>(FIRST_RESULTS));
}

// -- nodes ----------------------------------------------------------------------------------------------------

u64 Diagrams::hash(u32 kind, const u32 *children, int count) const {
    u64 h = kind;
    for (int k = 0; k < count; ++k) {
        h = (h ^ children[k]) * 0x9E3779B97F4A7C15u;
        h ^= h >> 32;
    }
    return h;
}

Diagrams::Ref Diagrams::make(u32 kind, const u32 *children) {
    const int size = size_of(kind), count = size - HEAD;
    u32 *bucket = &buckets_[static_cast<i64>(hash(kind, children, count) & static_cast<u64>(buckets_.size() - 1))];
    for (u32 ref = *bucket; ref != NONE; ref = pool_[ref + 1])
        if (kind == (pool_[ref] & KIND) && std::equal(children, children + count, this->children(ref))) return ref;
    u32 ref = free_[static_cast<std::size_t>(size)];
    if (ref != NONE) {
        free_[static_cast<std::size_t>(size)] = pool_[ref + 1];
    } else {
        if (end_ + size > pool_.size()) throw std::bad_alloc();
        ref = static_cast<u32>(end_);
        end_ += size;
    }
    u32 *node = pool_.data() + ref;
    node[0] = kind;
    node[1] = *bucket;
    std::copy(children, children + count, node + HEAD);
    *bucket = ref;
    if (++nodes_ > buckets_.size() && buckets_.size() < most_buckets_) rebuild(buckets_.size() * 4, false);
    return ref;
}

Diagrams::Ref Diagrams::make_set(int level, const u32 *children) {
    for (int k = 1; k < values(level); ++k)
        if (children[k]) return make(static_cast<u32>(level), children);
    return children[0];
}

Diagrams::Ref Diagrams::make_relation(int level, const u32 *children) {
    const int n = values(level);
    bool identity = true;
    for (int i = 0; i < n && identity; ++i)
        for (int j = 0; j < n; ++j) identity &= children[i * n + j] == (i == j ? children[0] : 0);
    return identity ? children[0] : make(static_cast<u32>(levels() + level), children);
}

// Puts all nodes into a hash table of this size.  With `sweep` those that are not marked become free.
void Diagrams::rebuild(i64 buckets, bool sweep) {
    if (buckets != buckets_.size()) {
        buckets_ = Zeros<u32>();
        buckets_ = Zeros<u32>(std::min(buckets, most_buckets_));
    } else {
        buckets_.clear();
    }
    if (sweep) {
        free_.fill(NONE);
        nodes_ = 0;
    }
    for (i64 at = HEAD, size; at < end_; at += size) {
        u32 *node = pool_.data() + at;
        size = node[0] & FREE ? node[0] & KIND : size_of(node[0] & KIND);
        if (sweep && !(node[0] & MARK)) {
            node[0] = FREE | static_cast<u32>(size);
            node[1] = free_[static_cast<std::size_t>(size)];
            free_[static_cast<std::size_t>(size)] = static_cast<u32>(at);
            continue;
        }
        if (node[0] & FREE) continue;
        node[0] &= KIND;
        nodes_ += sweep;
        const u64 h = hash(node[0], node + HEAD, static_cast<int>(size) - HEAD);
        u32 &bucket = buckets_[static_cast<i64>(h & static_cast<u64>(buckets_.size() - 1))];
        node[1] = bucket;
        bucket = static_cast<u32>(at);
    }
}

void Diagrams::check(Ref ref) const {
    require(ref < 2 || (ref < end_ && !(pool_[ref] & FREE) && (pool_[ref] & KIND) < sizes_.size()), "there is no such node");
}

void Diagrams::check(Ref ref, bool is_relation) const {
    check(ref);
    if (ref < 2) return;
    require((kind(ref) >= static_cast<u32>(levels())) == is_relation, is_relation ? "a set is no relation" : "a relation is no set");
}

Diagrams::Ref Diagrams::state(const std::vector<i32> &values) {
    require(values.size() == values_.size(), "a state has a value for each level");
    Ref ref = 1;
    for (int k = levels() - 1; k >= 0; --k) {
        const i32 value = values[static_cast<std::size_t>(k)];
        require(value >= 0 && value < this->values(k), "a level has no such value");
        std::array<u32, MOST_VALUES> some{};
        some[static_cast<std::size_t>(value)] = ref;
        ref = make_set(k, some.data());
    }
    return ref;
}

Diagrams::Ref Diagrams::relation(int level, const std::vector<u32> &children) {
    require(level >= 0 && level < levels(), "there is no such level");
    require(i64(children.size()) == values(level) * values(level), "a relation has a child for each pair of values");
    for (const u32 child : children) {
        check(child, true);
        require(relation_level(child) > level, "children are of later levels");
    }
    return make_relation(level, children.data());
}

// -- operations -----------------------------------------------------------------------------------------------

// Before an operation on two sets, or with relations.
void Diagrams::prepare(Ref a, bool a_is_relation, Ref b, bool b_is_relation, Stop *stop) {
    check(a, a_is_relation);
    check(b, b_is_relation);
    stop_ = stop;
    if (stop && stop->due()) throw Stopped();
    if (nodes_ > results_.size() && results_.size() < most_results_) enlarge(power_below(2 * nodes_, FIRST_RESULTS));
}

// Makes the table of results larger: an operation that forgets what it did does it again and again.
void Diagrams::enlarge(i64 results) {
    const i64 size = std::min(most_results_, results);
    if (size <= results_.size()) return;
    Zeros<Result> old = std::move(results_);
    results_ = Zeros<Result>(size);
    results_shift_ = 64 - std::countr_zero(static_cast<u64>(size));
    replaced_ = 0;
    for (i64 k = 0; k < old.size(); ++k)
        if (const Result &known = old[k]; known.operation) entry(known.operation, known.a, known.b) = known;
}

Diagrams::Ref Diagrams::image(Ref set, Ref relation, Stop *stop) {
    prepare(set, false, relation, true, stop);
    return image_of(set, relation);
}

Diagrams::Ref Diagrams::unite(Ref a, Ref b, Stop *stop) {
    prepare(a, false, b, false, stop);
    return union_of(a, b);
}

Diagrams::Ref Diagrams::intersect(Ref a, Ref b, Stop *stop) {
    prepare(a, false, b, false, stop);
    return intersection_of(a, b);
}

Diagrams::Ref Diagrams::subtract(Ref a, Ref b, Stop *stop) {
    prepare(a, false, b, false, stop);
    return difference_of(a, b);
}

Diagrams::Ref Diagrams::unite_relations(Ref a, Ref b, Stop *stop) {
    prepare(a, true, b, true, stop);
    return relation_union_of(a, b);
}

Diagrams::Ref Diagrams::image_of(Ref set, Ref relation) {
    if (!set || !relation) return 0;
    if (relation == 1) return set;
    poll();
    if (const Result *known = remembered(IMAGE, set, relation)) return known->value;
    const int set_level = level(set), changed = relation_level(relation), k = std::min(set_level, changed), n = values(k);
    // copies: nodes never move, but the compiler cannot know it
    std::array<u32, MOST_VALUES> before{}, after{};
    if (set_level == k)
        std::copy_n(children(set), n, before.begin());
    else
        before[0] = set;
    if (changed > k) {
        for (int i = 0; i < n; ++i) after[static_cast<std::size_t>(i)] = image_of(before[static_cast<std::size_t>(i)], relation);
    } else {
        const u32 *pairs = children(relation);
        for (int i = 0; i < n; ++i) {
            const Ref rest = before[static_cast<std::size_t>(i)];
            if (!rest) continue;
            for (int j = 0; j < n; ++j)
                if (const Ref next = pairs[i * n + j]) {
                    u32 &sum = after[static_cast<std::size_t>(j)];
                    sum = union_of(sum, image_of(rest, next));
                }
        }
    }
    const Ref result = make_set(k, after.data());
    remember(IMAGE, set, relation, result);
    return result;
}

Diagrams::Ref Diagrams::union_of(Ref a, Ref b) {
    if (!a || a == b) return b;
    if (!b) return a;
    if (a > b) std::swap(a, b);
    poll();
    if (const Result *known = remembered(UNITE, a, b)) return known->value;
    const int of_a = level(a), of_b = level(b), k = std::min(of_a, of_b), n = values(k);
    std::array<u32, MOST_VALUES> some{};
    for (int i = 0; i < n; ++i) {
        const Ref left = of_a == k ? children(a)[i] : i ? 0 : a, right = of_b == k ? children(b)[i] : i ? 0 : b;
        some[static_cast<std::size_t>(i)] = union_of(left, right);
    }
    const Ref result = make_set(k, some.data());
    remember(UNITE, a, b, result);
    return result;
}

Diagrams::Ref Diagrams::intersection_of(Ref a, Ref b) {
    if (a == b) return a;
    if (!a || !b) return 0;
    if (a > b) std::swap(a, b);
    poll();
    if (const Result *known = remembered(INTERSECT, a, b)) return known->value;
    const int of_a = level(a), of_b = level(b);
    Ref result;
    if (of_a != of_b) {
        result = of_a < of_b ? intersection_of(children(a)[0], b) : intersection_of(a, children(b)[0]);
    } else {
        const int n = values(of_a);
        std::array<u32, MOST_VALUES> some{};
        for (int i = 0; i < n; ++i) some[static_cast<std::size_t>(i)] = intersection_of(children(a)[i], children(b)[i]);
        result = make_set(of_a, some.data());
    }
    remember(INTERSECT, a, b, result);
    return result;
}

Diagrams::Ref Diagrams::difference_of(Ref a, Ref b) {
    if (!a || a == b) return 0;
    if (!b) return a;
    poll();
    if (const Result *known = remembered(SUBTRACT, a, b)) return known->value;
    const int of_a = level(a), of_b = level(b);
    Ref result;
    if (of_b < of_a) {
        result = difference_of(a, children(b)[0]);
    } else {
        const int n = values(of_a);
        std::array<u32, MOST_VALUES> some{};
        for (int i = 0; i < n; ++i)
            some[static_cast<std::size_t>(i)] = difference_of(children(a)[i], of_a == of_b ? children(b)[i] : i ? 0 : b);
        result = make_set(of_a, some.data());
    }
    remember(SUBTRACT, a, b, result);
    return result;
}

Diagrams::Ref Diagrams::relation_union_of(Ref a, Ref b) {
    if (!a || a == b) return b;
    if (!b) return a;
    if (a > b) std::swap(a, b);
    poll();
    if (const Result *known = remembered(UNITE_RELATIONS, a, b)) return known->value;
    const int of_a = relation_level(a), of_b = relation_level(b), k = std::min(of_a, of_b), n = values(k);
    Children some{};
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const Ref left = of_a == k ? children(a)[i * n + j] : i == j ? a : 0;
            const Ref right = of_b == k ? children(b)[i * n + j] : i == j ? b : 0;
            some[static_cast<std::size_t>(i * n + j)] = relation_union_of(left, right);
        }
    const Ref result = make_relation(k, some.data());
    remember(UNITE_RELATIONS, a, b, result);
    return result;
}

// -- all nodes ------------------------------------------------------------------------------------------------

// While nodes are marked, the word for the next node in a hash table has other uses: the table is built anew afterwards.

void Diagrams::mark(Ref ref) {
    if (ref < 2 || pool_[ref] & MARK) return;
    pool_[ref] |= MARK;
    const int count = size_of(kind(ref)) - HEAD;
    for (int k = 0; k < count; ++k) mark(children(ref)[k]);
}

// Counts the states of a set; a marked node has the place of its number.
void Diagrams::measure(Ref ref, std::vector<unsigned __int128> &counts, bool &too_many) {
    if (ref < 2 || pool_[ref] & MARK) return;
    const int n = size_of(kind(ref)) - HEAD;
    unsigned __int128 sum = 0;
    for (int k = 0; k < n; ++k) {
        const Ref child = children(ref)[k];
        measure(child, counts, too_many);
        too_many |= __builtin_add_overflow(sum, child < 2 ? child : counts[pool_[child + 1]], &sum);
    }
    pool_[ref] |= MARK;
    pool_[ref + 1] = static_cast<u32>(counts.size());
    counts.push_back(sum);
}

Diagrams::Measured Diagrams::collect(const std::vector<u32> &roots) {
    for (const u32 root : roots) check(root);
    Measured measured;
    if (!roots.empty()) {
        const Ref first = roots[0];
        check(first, false);
        std::vector<unsigned __int128> counts;
        measure(first, counts, measured.too_many);
        measured.states = first < 2 ? first : counts[pool_[first + 1]];
        measured.nodes = static_cast<i64>(counts.size());
        for (const u32 root : roots) mark(root);
    }
    results_.clear();
    rebuild(buckets_.size(), true);
    return measured;
}

void Diagrams::number(Ref ref, Exported &saved) {
    if (ref < 2 || pool_[ref] & MARK) return;
    const int count = size_of(kind(ref)) - HEAD;
    for (int k = 0; k < count; ++k) number(children(ref)[k], saved);
    for (int k = 0; k < count; ++k) {
        const Ref child = children(ref)[k];
        saved.children.push_back(child < 2 ? child : pool_[child + 1]);
    }
    pool_[ref] |= MARK;
    pool_[ref + 1] = static_cast<u32>(saved.levels.size()) + 2;
    saved.levels.push_back(static_cast<u16>(kind(ref)));
}

Diagrams::Exported Diagrams::exported(const std::vector<u32> &roots) {
    for (const u32 root : roots) check(root, false);
    Exported saved;
    for (const u32 root : roots) number(root, saved);
    for (const u32 root : roots) saved.roots.push_back(root < 2 ? root : pool_[root + 1]);
    rebuild(buckets_.size(), false);
    return saved;
}

std::vector<u32> Diagrams::imported(const Exported &saved) {
    std::vector<u32> refs{0, 1};
    std::size_t at = 0;
    for (const u16 level : saved.levels) {
        require(level < levels(), "there is no such level");
        const std::size_t n = static_cast<std::size_t>(values(level));
        require(at + n <= saved.children.size(), "children are missing");
        std::array<u32, MOST_VALUES> some{};
        for (std::size_t k = 0; k < n; ++k) {
            const u32 child = saved.children[at + k];
            require(child < refs.size() && this->level(refs[child]) > level, "children come before their parents");
            some[k] = refs[child];
        }
        at += n;
        refs.push_back(make_set(level, some.data()));
    }
    require(at == saved.children.size(), "there are more children than nodes have");
    std::vector<u32> roots;
    for (const u32 root : saved.roots) {
        require(root < refs.size(), "there is no such node");
        roots.push_back(refs[root]);
    }
    return roots;
}

} // namespace herbrand
