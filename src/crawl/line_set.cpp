#include "crawl/line_set.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "crawl/mixed_bits.hpp"
#include "util/check.hpp"

namespace garner::crawl {

namespace {

using Line = LineSet::Line;
using Segment = LineSet::Segment;
using Home = LineSet::Home;

// A key's bits from the top: those for the segment, for the line (and a remainder), and the rest.
constexpr unsigned high_bits = 32, low_bits = 64 - 6 - high_bits;
constexpr std::uint64_t low_mask = (std::uint64_t{1} << low_bits) - 1;

// Slot widths, for the number of slots in a line. The upper five bits of the last byte are reserved.
struct Layout {
    std::uint32_t slots, width;
};
constexpr std::array layouts{Layout{12, 42}, Layout{11, 46}, Layout{10, 50}, Layout{9, 56}, Layout{8, 63}};
static_assert(std::ranges::all_of(layouts, [](Layout const& one) { return one.slots * one.width <= 512 - 5; }));

// Beyond this load an insertion moves too many others.
constexpr double fullest = 0.955;
// At the fullest, about one line of thirty has room: the chance of a failed insertion is negligible, even among 1e8.
constexpr std::size_t moves_at_most = 1'500;
// Lines. Smaller segments grow faster: the memory saved is not worth the repeated reinsertion.
constexpr std::uint32_t small_segment = 64 * 1024;

constexpr std::uint64_t fewest_lines = 2;   // with one line the reciprocal does not fit in 64 bits
// The last byte: bits 0 to 2 may belong to a slot, bit 3 is the overflow flag, bits 4 to 7 are the count.
constexpr unsigned overflow_flag = 0x08, one_more = 0x10;

std::uint32_t count_of(Line const& line) { return line.bytes[63] / one_more; }
bool has_overflowed(Line const& line) { return line.bytes[63] & overflow_flag; }

std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64);
}

Home home_of(Segment const& segment, std::uint64_t key) {
    auto const product = ((key >> low_bits) & 0xffffffff) * segment.line_count;
    // The line is the product's upper half. The lower half, divided by the number of lines, distinguishes the keys of
    // this line.
    auto const left_over = high_product(product & 0xffffffff, segment.reciprocal);
    return {static_cast<std::uint32_t>(product >> 32), left_over << low_bits | (key & low_mask)};
}

// An involution: the other line of the other line is the first line again.
std::uint32_t other_line(Segment const& segment, std::uint32_t line, std::uint64_t remainder) {
    auto const hash = static_cast<std::uint32_t>((remainder * 0xd6e8feb86659fd93) >> 32);
    auto const sum = static_cast<std::uint32_t>((std::uint64_t{hash} * segment.line_count) >> 32);
    return sum >= line ? sum - line : sum + segment.line_count - line;
}

// A slot's value: the remainder, and as lowest bit whether it is in its second line.
std::uint64_t slot_value(std::uint64_t remainder, bool second) { return remainder << 1 | (second ? 1 : 0); }

// The upper part of the lowest key whose first line this is.
std::uint64_t first_high(Segment const& segment, std::uint64_t line) {
    return ((line << 32) + segment.line_count - 1) / segment.line_count;
}

std::uint64_t key_of(std::uint64_t first_high_of_line, std::uint64_t remainder) {
    return (first_high_of_line + (remainder >> low_bits)) << low_bits | (remainder & low_mask);
}

// Restores the key, except its segment.
std::uint64_t key_at(Segment const& segment, std::uint32_t line, std::uint64_t value) {
    auto const remainder = value >> 1;
    return key_of(first_high(segment, value & 1 ? other_line(segment, line, remainder) : line), remainder);
}

struct Window {
    std::uint32_t byte, shift;
};
Window window_of(Segment const& segment, std::uint32_t slot) {
    auto const bit = 32 * segment.slots + slot * segment.rest_bits;
    auto const byte = std::min(bit / 8, 56u);   // stays within the line
    return {byte, bit - 8 * byte};
}

std::uint64_t rest_of(Segment const& segment, Line const& line, std::uint32_t slot) {
    auto const [byte, shift] = window_of(segment, slot);
    std::uint64_t word;
    std::memcpy(&word, line.bytes + byte, sizeof word);
    return word >> shift & ((std::uint64_t{1} << segment.rest_bits) - 1);
}

std::uint64_t value_of(Segment const& segment, Line const& line, std::uint32_t slot) {
    std::uint32_t tag;
    std::memcpy(&tag, line.bytes + 4 * slot, sizeof tag);
    return rest_of(segment, line, slot) << 32 | tag;
}

void write_value(Segment const& segment, Line& line, std::uint32_t slot, std::uint64_t value) {
    auto const tag = static_cast<std::uint32_t>(value);
    std::memcpy(line.bytes + 4 * slot, &tag, sizeof tag);
    auto const [byte, shift] = window_of(segment, slot);
    auto const mask = ((std::uint64_t{1} << segment.rest_bits) - 1) << shift;
    std::uint64_t word;
    std::memcpy(&word, line.bytes + byte, sizeof word);
    word = (word & ~mask) | value >> 32 << shift;
    std::memcpy(line.bytes + byte, &word, sizeof word);
}

bool take_in(Segment const& segment, Line& line, std::uint64_t value) {
    auto const count = count_of(line);
    if (count == segment.slots) return false;
    write_value(segment, line, count, value);
    line.bytes[63] += one_more;
    return true;
}

template <class Ops>
[[gnu::always_inline]] inline std::uint32_t slots_that_may_hold(Line const& line, std::uint64_t value) {
    return Ops::match32(&line, static_cast<std::uint32_t>(value)) & ((1u << count_of(line)) - 1);
}

template <class Ops>
[[gnu::always_inline]] inline bool holds(Segment const& segment, Line const& line, std::uint64_t value) {
    auto found = slots_that_may_hold<Ops>(line, value);
    for (; found; found &= found - 1)
        if (rest_of(segment, line, static_cast<std::uint32_t>(std::countr_zero(found))) == value >> 32) return true;
    return false;
}

// A branch-free holds(), because matches of tags are unpredictable. It checks only the first matching tag, so it has
// false negatives.
template <class Ops>
[[gnu::always_inline]] inline bool surely_holds(Segment const& segment, Line const& line, std::uint64_t value) {
    auto const found = slots_that_may_hold<Ops>(line, value);
    auto const slot = static_cast<std::uint32_t>(std::countr_zero(found | 1u << 16)) & 15;   // 0 when no tag matches
    return static_cast<unsigned>(found != 0) & static_cast<unsigned>(rest_of(segment, line, slot) == value >> 32);
}

// A segment with this many lines, and the most slots per line that fit.
Segment segment_of(std::uint64_t lines) {
    Segment segment;
    check(lines >= fewest_lines && lines < UINT32_MAX);
    segment.line_count = static_cast<std::uint32_t>(lines);
    segment.reciprocal = UINT64_MAX / segment.line_count + 1;
    auto const left_over_bits = static_cast<std::uint32_t>(std::bit_width(UINT32_MAX / segment.line_count));
    auto const width = left_over_bits + low_bits + 1;
    auto const layout = std::ranges::find_if(layouts, [&](Layout const& one) { return width <= one.width; });
    segment.slots = layout->slots;
    segment.rest_bits = layout->width - 32;
    segment.room = static_cast<std::uint64_t>(fullest * segment.slots * segment.line_count);
    segment.lines = HugeArray<Line>(lines);
    return segment;
}

// The fewest lines for this many entries, over all layouts.
std::uint64_t lines_for(std::uint64_t entries) {
    std::uint64_t fewest = UINT64_MAX;
    for (auto const& layout : layouts) {
        auto const lines = static_cast<std::uint64_t>(std::ceil(static_cast<double>(entries) / fullest / layout.slots));
        auto const left_over_bits = std::min(layout.width - low_bits - 1, high_bits);
        auto const least = std::uint64_t{1} << (high_bits - left_over_bits);
        fewest = std::min(fewest, std::max({lines, least, fewest_lines}));
    }
    return fewest;
}

}   // namespace

LineSet::LineSet(Options const& options) : options_(options), random_(options.seed | 1) { clear(); }

std::uint64_t LineSet::lines_in_segment(std::uint64_t expected) {
    // The sizes of segments vary randomly.
    auto const each = static_cast<double>(expected) / segment_count;
    return lines_for(static_cast<std::uint64_t>(each + 5 * std::sqrt(each)));
}

Bytes LineSet::bytes_for(std::uint64_t expected) { return segment_count * lines_in_segment(expected) * sizeof(Line); }

void LineSet::clear() {
    auto const lines = lines_in_segment(options_.expected);
    for (auto& segment : segments_) segment = segment_of(lines);
    ++growths_;
}

UrlSet::Added LineSet::add(std::span<Fingerprint const> batch, std::span<std::uint8_t> is_new) {
    check(batch.size() == is_new.size());
    auto const add = [&](auto ops) __attribute__((always_inline)) { return add_all<decltype(ops)>(batch, is_new); };
    return {with_simd(options_.simd, add)};
}

// Processes blocks in three steps that overlap memory latency: find each first line; check it; then, in order, look
// up the remaining ones in both lines and insert them. Only the third step writes. So a match in the second step is
// reliable. A key that the second step misses, because it occurs earlier in the same blocks or is in its second line,
// is found by the third step.
template <class Ops>
std::uint64_t LineSet::add_all(std::span<Fingerprint const> batch, std::span<std::uint8_t> is_new) {
    constexpr std::size_t block = 64;
    struct Block {
        std::uint64_t keys[block];
        Home homes[block];
        std::uint16_t open[block];   // those left for the third step
        std::size_t begin = 0, size = 0, opened = 0;
        std::uint64_t growths = 0;   // before the homes were found
    };
    Block blocks[3];

    auto find_home = [&](Block & b, std::size_t i) __attribute__((always_inline)) {
        b.keys[i] = mixed(batch[b.begin + i] ^ options_.seed);
        auto const& segment = segments_[b.keys[i] >> (64 - segment_bits)];
        b.homes[i] = home_of(segment, b.keys[i]);
        __builtin_prefetch(segment.lines.data() + b.homes[i].line);
    };
    auto look_at = [&](Block & b, std::size_t i) __attribute__((always_inline)) {
        auto const& segment = segments_[b.keys[i] >> (64 - segment_bits)];
        auto const& [first, remainder] = b.homes[i];
        bool const held = surely_holds<Ops>(segment, segment.lines[first], slot_value(remainder, false));
        b.open[b.opened] = static_cast<std::uint16_t>(i);
        b.opened += !held;
    };
    // The lines of one block are prefetched while the previous block is checked.
    auto find_homes_and_look = [&](Block & found, Block & looked_at) __attribute__((always_inline)) {
        found.growths = growths_;
        if (looked_at.growths != growths_)
            for (std::size_t i = 0; i < looked_at.size; ++i) find_home(looked_at, i);
        auto const both = std::min(found.size, looked_at.size);
        for (std::size_t i = 0; i < both; ++i) find_home(found, i), look_at(looked_at, i);
        for (std::size_t i = both; i < found.size; ++i) find_home(found, i);
        for (std::size_t i = both; i < looked_at.size; ++i) look_at(looked_at, i);
        std::ranges::fill(is_new.subspan(looked_at.begin, looked_at.size), std::uint8_t{0});
        for (std::size_t i = 0; i < looked_at.opened; ++i) {
            auto const open = looked_at.open[i];
            auto const& segment = segments_[looked_at.keys[open] >> (64 - segment_bits)];
            auto const& [first, remainder] = looked_at.homes[open];
            auto const& line = segment.lines[first];
            if (has_overflowed(line) || count_of(line) == segment.slots)
                __builtin_prefetch(segment.lines.data() + other_line(segment, first, remainder));
        }
    };
    std::uint64_t fresh = 0;
    auto settle = [&](Block & b) __attribute__((always_inline)) {
        for (std::size_t i = 0; i < b.opened; ++i) {
            bool const added = add_one<Ops>(b.keys[b.open[i]]);
            is_new[b.begin + b.open[i]] = added;
            fresh += added;
        }
        b.opened = 0;
    };

    // Two more rounds than blocks, to finish the last one.
    auto const rounds = (batch.size() + block - 1) / block;
    for (std::size_t round = 0; round < rounds + 2; ++round) {
        auto& found = blocks[round % 3];
        auto& looked_at = blocks[(round + 2) % 3];
        auto& settled = blocks[(round + 1) % 3];
        if (round >= 2) settle(settled);
        found.begin = std::min(round * block, batch.size());
        found.size = std::min(block, batch.size() - found.begin);
        find_homes_and_look(found, looked_at);
    }
    return fresh;
}

template <class Ops>
bool LineSet::add_one(std::uint64_t key) {
    auto const number = key >> (64 - segment_bits);
    auto& segment = segments_[number];
    auto const [first, remainder] = home_of(segment, key);
    auto& line = segment.lines[first];
    if (holds<Ops>(segment, line, slot_value(remainder, false))) return false;
    bool const full = count_of(line) == segment.slots;
    if (has_overflowed(line) || full) {
        auto& other = segment.lines[other_line(segment, first, remainder)];
        if (has_overflowed(line) && holds<Ops>(segment, other, slot_value(remainder, true))) return false;
    }
    if (!full && segment.size < segment.room) {
        take_in(segment, line, slot_value(remainder, false));
        ++segment.size;
        return true;
    }
    put(number, key);
    return true;
}

void LineSet::put(std::size_t number, std::uint64_t key) {
    if (segments_[number].size >= segments_[number].room) grow(number);
    while (!insert(segments_[number], key)) grow(number);
}

// False when it finds no room; then only overflow flags have changed.
bool LineSet::insert(Segment& segment, std::uint64_t key) {
    auto const [first, remainder] = home_of(segment, key);
    auto line = first;
    auto value = slot_value(remainder, false);
    // The moves so far, to undo them on failure.
    struct Move {
        std::uint32_t line, slot;
    };
    std::array<Move, moves_at_most> moves;
    for (std::size_t moved = 0;; ++moved) {
        // The value's own line was tried before, or it was moved out of that line.
        if (take_in(segment, segment.lines[line], value)) break;
        auto const other = other_line(segment, line, value >> 1);
        if (!(value & 1)) segment.lines[line].bytes[63] |= overflow_flag;
        line = other;
        value ^= 1;
        if (take_in(segment, segment.lines[line], value)) break;
        if (moved == moves_at_most) {
            for (auto back = moved; back-- > 0;) {
                // The value's bit means its other line: flip it for the slot that it came from.
                auto const [from, slot] = moves[back];
                value ^= 1;
                auto const was = value;
                value = value_of(segment, segment.lines[from], slot);
                write_value(segment, segment.lines[from], slot, was);
            }
            return false;
        }
        random_ = random_ * 6364136223846793005 + 1442695040888963407;
        auto const slot = static_cast<std::uint32_t>((random_ >> 33) % segment.slots);
        auto const pushed = value_of(segment, segment.lines[line], slot);
        write_value(segment, segment.lines[line], slot, value);
        moves[moved] = {line, slot};
        value = pushed;
    }
    ++segment.size;
    return true;
}

void LineSet::grow(std::size_t number) {
    auto& segment = segments_[number];
    ++growths_;
    auto const step = segment.line_count < small_segment ? 4 : 8;
    for (std::uint64_t lines = segment.line_count + segment.line_count / step + 1;; lines += lines / step + 1) {
        auto larger = segment_of(lines);
        if (!fill(larger, segment)) continue;
        segment = std::move(larger);
        return;
    }
}

// Copies line by line, because both segments order their lines by key. The few keys in second lines are inserted
// separately.
bool LineSet::fill(Segment& larger, Segment const& segment) {
    std::vector<std::uint64_t> others;
    for (std::uint32_t line = 0; line < segment.line_count; ++line) {
        auto const first = first_high(segment, line);
        for (std::uint32_t slot = 0; slot < count_of(segment.lines[line]); ++slot) {
            auto const value = value_of(segment, segment.lines[line], slot);
            auto const key = value & 1 ? key_at(segment, line, value) : key_of(first, value >> 1);
            auto const home = home_of(larger, key);
            if (value & 1 || !take_in(larger, larger.lines[home.line], slot_value(home.remainder, false)))
                others.push_back(key);
            else
                ++larger.size;
        }
    }
    constexpr std::size_t ahead = 16;
    for (std::size_t i = 0; i < others.size(); ++i) {
        if (i + ahead < others.size()) __builtin_prefetch(larger.lines.data() + home_of(larger, others[i + ahead]).line, 1);
        if (!insert(larger, others[i])) return false;
    }
    return true;
}

std::uint64_t LineSet::size() const {
    std::uint64_t all = 0;
    for (auto const& segment : segments_) all += segment.size;
    return all;
}

Bytes LineSet::memory_bytes() const {
    Bytes all = sizeof *this;
    for (auto const& segment : segments_) all += segment.lines.bytes();
    return all;
}

std::vector<Fingerprint> LineSet::entries() const {
    std::vector<Fingerprint> all;
    all.reserve(size());
    for (std::uint64_t number = 0; number < segment_count; ++number) {
        auto const& segment = segments_[number];
        for (std::uint32_t line = 0; line < segment.line_count; ++line)
            for (std::uint32_t slot = 0; slot < count_of(segment.lines[line]); ++slot) {
                auto const key = key_at(segment, line, value_of(segment, segment.lines[line], slot));
                all.push_back(unmixed(number << (64 - segment_bits) | key) ^ options_.seed);
            }
    }
    return all;
}

}   // namespace garner::crawl
