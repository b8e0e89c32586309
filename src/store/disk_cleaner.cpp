#include "store/disk_cleaner.hpp"

#include <algorithm>
#include <array>

#include "store/disk_recovery.hpp"

namespace garner::store::disk {

namespace {

constexpr milliseconds for_room{20};
constexpr int tries_for_room = 50;
constexpr unsigned uses_max = 3;

}  // namespace

void Cleaner::clean(std::uint32_t segment) {
    auto const live = live_of(segment);
    if (!keep(segment, live)) return;
    // What was written again must be in the file before its first copy goes.
    constexpr milliseconds long_enough{1'000};
    (void)log_.wait_until_settled(Log::Reaches::file, long_enough);
    // A restart finds nothing there any more: what was evicted does not come back beside something newer that never came
    // to the disk.
    std::array<char, segment_head_bytes> head;
    auto const& header = log_.header();
    encode(SegmentHead{}, Place{header.id, 0, header.start_of(segment)}, head);
    (void)file_.write_at(header.start_of(segment), {head.data(), head.size()});
    log_.free(segment);
}

/// The records that the index still knows here, in the order of the log.
std::vector<Cleaner::Live> Cleaner::live_of(std::uint32_t segment) {
    std::vector<Live> live;
    auto const start = log_.header().start_of(segment);
    auto const about = log_.segment(segment);
    auto footer = read_footer(file_, log_.header(), segment);
    if (!footer || footer->generation != about.generation)
        footer = walk(file_, log_.header(), segment, {about.generation, about.opened});
    for (auto const& entry : footer->entries) {
        if (entry.kind != RecordKind::object && entry.kind != RecordKind::piece) continue;
        auto const offset = start + Bytes{entry.offset} * unit;
        auto const known = index_.find(entry.hash);
        if (known && known->offset == offset) live.push_back({entry.hash, offset, entry.bytes, known->uses});
    }
    return live;
}

/// The most used first, as many as the share allows.
unsigned Cleaner::least_uses(std::vector<Live> const& live) const {
    std::array<Bytes, uses_max + 1> bytes{};
    for (auto const& record : live) bytes[record.uses] += record.bytes;
    auto const most = static_cast<Bytes>(share_ * static_cast<double>(log_.header().segment_bytes));
    Bytes sum = 0;
    unsigned least = uses_max;
    for (unsigned uses = uses_max;; --uses) {
        sum += bytes[uses];
        if (sum > most) break;
        least = uses;
        if (uses == 0) break;
    }
    return least;
}

/// False when it was to stop: then nothing that has not been written again has left.
bool Cleaner::keep(std::uint32_t number, std::vector<Live> const& live) {
    auto const& header = log_.header();
    Place place{header.id, log_.segment(number).generation, 0};
    auto const least = least_uses(live);
    auto const most = static_cast<Bytes>(share_ * static_cast<double>(header.segment_bytes));
    Bytes kept = 0;
    bool room = true;
    std::string bytes;
    for (auto const& record : live) {
        bool const wanted = record.uses >= least && kept + record.bytes <= most && room &&
                            keeps_(record.hash, record.uses);
        if (stopping_) return false;
        if (!wanted) {
            evict(record);
            continue;
        }
        bytes.resize(record.bytes);
        place.offset = record.offset;
        bool const read = !file_.read_at(record.offset, bytes).error;
        auto const outcome = read ? write_again(place, bytes) : Again::damaged;
        room = outcome != Again::no_room;
        if (outcome == Again::written) {
            kept += record.bytes;
            figures_.reinserted.fetch_add(record.bytes, std::memory_order_relaxed);
        } else {
            evict(record);
        }
    }
    return true;
}

Cleaner::Again Cleaner::write_again(Place const& place, std::string_view bytes) {
    auto const read = decode(bytes, place);
    if (read.damage != Damage::none) {
        figures_.damaged.fetch_add(1, std::memory_order_relaxed);
        return Again::damaged;
    }
    for (int tries = 0; tries < tries_for_room; ++tries) {
        if (write_(read.record, place)) return Again::written;
        if (log_.failing() || !log_.wait_for_want(for_room)) break;
    }
    return Again::no_room;
}

void Cleaner::evict(Live const& record) {
    if (!index_.erase_at(record.hash, record.offset)) return;
    figures_.evicted.fetch_add(1, std::memory_order_relaxed);
    gone_(record.hash, record.bytes);
}

}  // namespace garner::store::disk
