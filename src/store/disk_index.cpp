#include "store/disk_index.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "store/disk_sizes.hpp"
#include "util/check.hpp"
#include "util/mutex.hpp"

namespace garner::store::disk {
namespace {

// From the lowest bit: 2 bits of uses, 3 of freshness, 5 of size, the location (offset / alignment), the tag. A size
// is never 0, so all zeros is an empty slot.
using Slot = std::uint64_t;
constexpr std::uint64_t uses_max = 3;
constexpr unsigned freshness_shift = 2, freshness_bits = 3;
constexpr unsigned size_shift = 5;
constexpr unsigned location_shift = 10, location_bits_max = 34;

constexpr std::uint64_t low_bits(std::uint64_t value, unsigned bits) { return value & ((std::uint64_t{1} << bits) - 1); }

unsigned bits_of_region(Bytes store_bytes) {
    // A region has a few thousand entries, which move in microseconds when its array grows.
    return std::clamp(static_cast<unsigned>(std::bit_width(store_bytes / (32 * MiB))), 6u, 12u);
}

/// An array of slots, initially empty. A large one has its own mapping: on the heap, freed arrays that are too small
/// for reuse would waste a fifth of it.
class Slots {
public:
    Slots() = default;
    explicit Slots(std::uint32_t capacity) : slots_(mapped(capacity) ? map(capacity) : new Slot[capacity]{}), capacity_(capacity) {}
    Slots(Slots&& other) noexcept : slots_(std::exchange(other.slots_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
    Slots& operator=(Slots&& other) noexcept {
        std::swap(slots_, other.slots_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }
    ~Slots() {
        if (mapped(capacity_))
            ::munmap(slots_, capacity_ * sizeof(Slot));
        else
            delete[] slots_;
    }

    Slot& operator[](std::uint32_t place) const { return slots_[place]; }
    std::uint32_t capacity() const { return capacity_; }
    /// The capacity for a tenth more entries. Never more, so that the memory for each entry stays constant; whole
    /// pages are mapped.
    std::uint32_t larger() const {
        auto more = capacity_ + capacity_ / 10;
        return mapped(more) ? more / page * page : more;
    }
    Bytes metadata_bytes() const {
        auto const bytes = capacity_ * sizeof(Slot);
        return mapped(capacity_) || !bytes ? bytes : heap_block(bytes);
    }

private:
    static constexpr std::uint32_t page = 4 * KiB / sizeof(Slot);
    static bool mapped(std::uint32_t capacity) { return capacity >= 12 * page; }
    static Slot* map(std::uint32_t capacity) {
        void* at = ::mmap(nullptr, capacity * sizeof(Slot), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) throw std::bad_alloc();
        return static_cast<Slot*>(at);
    }

    Slot* slots_ = nullptr;
    std::uint32_t capacity_ = 0;
};

}   // namespace

/// A hash table with linear probing. A slot's home is a monotonic function of its tag, and slots are ordered by tag
/// (Robin Hood). A search ends at the first slot that is nearer to its home than the searched one would be, or has
/// the same home and a higher tag.
struct Index::Region {
    Slots slots;
    std::uint32_t used = 0;

    std::uint32_t next(std::uint32_t place) const { return ++place == slots.capacity() ? 0 : place; }
    std::uint32_t home(std::uint64_t tag, unsigned tag_bits) const {
        return static_cast<std::uint32_t>(tag * slots.capacity() >> tag_bits);
    }
    std::uint32_t distance(std::uint32_t place, std::uint32_t home) const {
        return place >= home ? place - home : place + slots.capacity() - home;
    }
    void fetch(std::uint64_t tag, unsigned tag_bits) const {
        if (slots.capacity()) __builtin_prefetch(&slots[home(tag, tag_bits)], 1);
    }
    bool full() const { return used >= slots.capacity() - slots.capacity() / 10; }
    /// The capacity for this many entries. Regions fill evenly: different first capacities keep them from growing all
    /// at once.
    static std::uint32_t first_capacity(std::size_t number, std::uint64_t entries) {
        constexpr std::uint64_t kinds = 6;
        auto const least = std::max<std::uint64_t>(64, entries + entries / 8);   // so that it is not full() with them
        return static_cast<std::uint32_t>(least + least * (number % kinds) / 64);
    }
};

// Avoids false sharing of cache lines.
struct alignas(64) Index::Lock : Mutex {};

/// The position of a hash in its region. The caller holds the region's lock.
class Index::Probe {
public:
    Probe(Index const& index, Fingerprint hash) REQUIRES(index.lock_of_hash(hash))
        : index_(index), number_(index.region_of(hash)), tag_(low_bits(hash >> tag_end(), index.tag_bits_)),
          region_(index.region(number_)) {
        search();
    }

    bool found() const { return found_; }
    bool stands_at(Bytes offset) const { return found_ && entry()->offset == offset; }
    std::optional<Entry> entry() const;
    void count_use() {
        if (low_bits(slot(), 2) < uses_max) ++slot();
    }
    /// Overwrites the found slot, or inserts a new one.
    void store(Bytes offset, Bytes bytes, std::uint8_t freshness);
    /// Moves the found entry to another offset and halves its uses.
    void move(Bytes offset, std::uint8_t freshness);
    void erase();

private:
    unsigned tag_end() const { return 64 - index_.region_bits_ - index_.tag_bits_; }
    unsigned tag_shift() const { return location_shift + index_.location_bits_; }
    std::uint64_t tag(Slot slot) const { return slot >> tag_shift(); }
    Slot& slot() const { return region_.slots[place_]; }
    std::uint32_t distance(std::uint32_t place) const {
        return region_.distance(place, region_.home(tag(region_.slots[place]), index_.tag_bits_));
    }
    Slot make(Bytes offset, std::uint64_t size, std::uint64_t freshness, std::uint64_t uses) const;
    void search();
    void grow();
    void insert(Slot);

    Index const& index_;
    std::size_t number_;
    std::uint64_t tag_;
    Region& region_;
    std::uint32_t place_ = 0;   // the found slot, or the place to insert
    bool found_ = false;
};

Index::Index(Bytes store_bytes, Bytes alignment)
    : offset_shift_(static_cast<unsigned>(std::countr_zero(alignment))),
      location_bits_(static_cast<unsigned>(std::bit_width((store_bytes - 1) >> offset_shift_))),
      region_bits_(bits_of_region(store_bytes)),
      tag_bits_(std::min(64 - location_shift - location_bits_, hash_bits_max - region_bits_)),
      regions_(std::make_unique<Region[]>(regions())), locks_(std::make_unique<Lock[]>(locks())) {
    check(location_bits_ <= location_bits_max);
}

Index::~Index() = default;

Bytes Index::alignment(Bytes store_bytes) {
    check(store_bytes > 0);
    return std::max<Bytes>(16, std::bit_ceil(((store_bytes - 1) >> location_bits_max) + 1));
}

Bytes Index::store_max(Bytes alignment) { return alignment << location_bits_max; }

void Index::reserve(std::uint64_t entries) {
    for (std::size_t i = 0; i < regions(); ++i) {
        auto const capacity = Region::first_capacity(i, entries / regions());
        MutexLock const lock(lock_of(i));
        if (region(i).used == 0 && region(i).slots.capacity() < capacity) region(i).slots = Slots(capacity);
    }
}

std::optional<Index::Entry> Index::find(Fingerprint hash) const {
    MutexLock const lock(lock_of_hash(hash));
    return Probe(*this, hash).entry();
}

std::optional<Index::Entry> Index::use(Fingerprint hash) {
    MutexLock const lock(lock_of_hash(hash));
    Probe probe(*this, hash);
    if (probe.found()) probe.count_use();
    return probe.entry();
}

std::optional<Index::Entry> Index::put(Fingerprint hash, Bytes offset, Bytes bytes, std::uint8_t freshness) {
    MutexLock const lock(lock_of_hash(hash));
    Probe probe(*this, hash);
    auto before = probe.entry();
    probe.store(offset, bytes, freshness);
    return before;
}

std::vector<bool> Index::put_absent(std::span<Newcomer const> newcomers) {
    constexpr std::size_t ahead = 16;
    auto const order = by_region(newcomers);
    auto const region_at = [&](std::size_t i) { return region_of(newcomers[order[i]].hash); };
    auto const tag_at = [&](std::size_t i) { return known_bits(newcomers[order[i]].hash) & low_bits(~0ull, tag_bits_); };
    std::vector<bool> put(newcomers.size());
    for (std::size_t i = 0, end = 0; i < order.size(); i = end) {
        auto const number = region_at(i);
        MutexLock const lock(lock_of(number));
        for (end = i; end < order.size() && region_at(end) == number; ++end)
            if (end - i < ahead) region(number).fetch(tag_at(end), tag_bits_);
        for (auto at = i; at < end; ++at) {
            if (at + ahead < end) region(number).fetch(tag_at(at + ahead), tag_bits_);
            auto const& newcomer = newcomers[order[at]];
            lock_of_hash(newcomer.hash).assert_held();   // all newcomers of this batch are of one region
            Probe probe(*this, newcomer.hash);
            if (probe.found()) continue;
            probe.store(newcomer.offset, newcomer.bytes, newcomer.freshness);
            put[order[at]] = true;
        }
    }
    return put;
}

/// The newcomers' positions, grouped by region; stable within a region.
std::vector<std::uint32_t> Index::by_region(std::span<Newcomer const> newcomers) const {
    std::vector<std::uint32_t> ends(regions() + 1), order(newcomers.size());
    for (auto const& newcomer : newcomers) ++ends[region_of(newcomer.hash) + 1];
    for (std::size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
    for (std::uint32_t i = 0; i < newcomers.size(); ++i) order[ends[region_of(newcomers[i].hash)]++] = i;
    return order;
}

bool Index::move(Fingerprint hash, Bytes from, Bytes to, std::uint8_t freshness) {
    MutexLock const lock(lock_of_hash(hash));
    Probe probe(*this, hash);
    if (!probe.stands_at(from)) return false;
    probe.move(to, freshness);
    return true;
}

std::optional<Index::Entry> Index::erase(Fingerprint hash) {
    MutexLock const lock(lock_of_hash(hash));
    Probe probe(*this, hash);
    auto before = probe.entry();
    if (before) probe.erase();
    return before;
}

bool Index::erase_at(Fingerprint hash, Bytes offset) {
    MutexLock const lock(lock_of_hash(hash));
    Probe probe(*this, hash);
    if (!probe.stands_at(offset)) return false;
    probe.erase();
    return true;
}

void Index::clear() {
    for (std::size_t i = 0; i < regions(); ++i) {
        MutexLock const lock(lock_of(i));
        region(i) = {};
    }
}

std::vector<Index::Known> Index::within(Bytes begin, Bytes end) const {
    std::vector<Known> found;
    for (std::size_t i = 0; i < regions(); ++i) {
        MutexLock const lock(lock_of(i));
        auto const& slots = region(i).slots;
        for (std::uint32_t place = 0; place < slots.capacity(); ++place) {
            Slot const slot = slots[place];
            if (!slot) continue;
            auto const entry = entry_of(slot);
            auto const tag = slot >> (location_shift + location_bits_);
            auto const known = Fingerprint{i} << tag_bits_ | tag;
            if (entry.offset >= begin && entry.offset < end) found.push_back({known << (64 - region_bits_ - tag_bits_), entry});
        }
    }
    return found;
}

Index::Entry Index::entry_of(std::uint64_t slot) const {
    return {.offset = low_bits(slot >> location_shift, location_bits_) << offset_shift_,
            .bytes = size_of_class(low_bits(slot >> size_shift, size_bits)),
            .freshness = static_cast<std::uint8_t>(low_bits(slot >> freshness_shift, freshness_bits)),
            .uses = static_cast<std::uint8_t>(slot & uses_max)};
}

std::uint64_t Index::size() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < regions(); ++i) {
        MutexLock const lock(lock_of(i));
        sum += region(i).used;
    }
    return sum;
}

Bytes Index::metadata_bytes() const {
    Bytes sum = sizeof *this + heap_block(regions() * sizeof(Region)) + heap_block(locks() * sizeof(Lock));
    for (std::size_t i = 0; i < regions(); ++i) {
        MutexLock const lock(lock_of(i));
        sum += region(i).slots.metadata_bytes();
    }
    return sum;
}

std::size_t Index::locks() const { return std::min<std::size_t>(regions(), 256); }

Mutex& Index::lock_of(std::size_t region) const { return locks_[region % locks()]; }

Index::Region& Index::region(std::size_t number) const { return regions_[number]; }

void Index::Probe::search() {
    if (!region_.slots.capacity()) return;
    place_ = region_.home(tag_, index_.tag_bits_);
    for (std::uint32_t away = 0;; ++away, place_ = region_.next(place_)) {
        if (!slot()) return;
        found_ = tag(slot()) == tag_;
        if (found_) return;
        auto const theirs = distance(place_);
        if (theirs < away || (theirs == away && tag(slot()) > tag_)) return;
    }
}

std::optional<Index::Entry> Index::Probe::entry() const {
    if (!found_) return {};
    return index_.entry_of(slot());
}

Slot Index::Probe::make(Bytes offset, std::uint64_t size, std::uint64_t freshness, std::uint64_t uses) const {
    Bytes const location = offset >> index_.offset_shift_;
    check(location << index_.offset_shift_ == offset && location >> index_.location_bits_ == 0);
    check(freshness >> freshness_bits == 0);
    return tag_ << tag_shift() | location << location_shift | size << size_shift | freshness << freshness_shift | uses;
}

void Index::Probe::store(Bytes offset, Bytes bytes, std::uint8_t freshness) {
    Slot const made = make(offset, size_class(bytes), freshness, 0);
    if (found_) {
        slot() = made;
        return;
    }
    if (region_.full()) {
        grow();
        search();
    }
    insert(made);
    found_ = true;
}

void Index::Probe::move(Bytes offset, std::uint8_t freshness) {
    slot() = make(offset, low_bits(slot() >> size_shift, size_bits), freshness, (slot() & uses_max) / 2);
}

/// Shifts all slots up to the next empty one.
void Index::Probe::insert(Slot newcomer) {
    for (auto place = place_; newcomer; place = region_.next(place)) std::swap(region_.slots[place], newcomer);
    ++region_.used;
}

/// Backward shift: the following slots, up to the first one at its home, move one place nearer to theirs.
void Index::Probe::erase() {
    auto hole = place_;
    for (auto place = region_.next(hole); region_.slots[place] && distance(place) > 0; place = region_.next(place))
        region_.slots[std::exchange(hole, place)] = region_.slots[place];
    region_.slots[hole] = 0;
    --region_.used;
    found_ = false;
}

/// Slots keep their tag order: each one moves to its home, or directly after the previous slot. Slots that wrapped
/// around the end, or would have to, are handled separately.
void Index::Probe::grow() {
    auto const capacity = region_.slots.capacity() ? region_.slots.larger() : Region::first_capacity(number_, 0);
    Region const old = std::exchange(region_, {Slots(capacity), 0});
    std::vector<Slot> round_the_end;
    std::uint32_t next = 0;
    for (std::uint32_t place = 0; place < old.slots.capacity(); ++place) {
        Slot const slot = old.slots[place];
        if (!slot) continue;
        auto const at = std::max(next, region_.home(this->tag(slot), index_.tag_bits_));
        if (at >= capacity || old.home(this->tag(slot), index_.tag_bits_) > place) {
            round_the_end.push_back(slot);
            continue;
        }
        region_.slots[at] = slot;
        ++region_.used;
        next = at + 1;
    }
    auto const tag = tag_;
    for (Slot const slot : round_the_end) {
        tag_ = this->tag(slot);
        search();
        insert(slot);
    }
    tag_ = tag;
}

}   // namespace garner::store::disk
