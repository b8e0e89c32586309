#include "store/disk_cleaner.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

#include "store/disk_recovery.hpp"

namespace garner::store::disk {

namespace {

constexpr milliseconds for_settling{5'000};
constexpr milliseconds cleaner_pause{20};
constexpr double saved_share = 0.1;       // fraction of the store: the most allowance that can accumulate
constexpr double most_when_short = 0.5;   // fraction of a segment, once newcomers have had no room for short_for
constexpr milliseconds short_for{1'000};

}   // namespace

bool Cleaner::clean(std::uint32_t segment) {
    auto const leaving = keep(segment, live_of(segment));
    if (!leaving) return false;
    // Rewritten records must be in the file before their first copy is freed. The wiped head must be in the file
    // before the index forgets the rest: a purge of an unknown key writes no tombstone, and waits for the next sync
    // of the log, which covers the wipe. A separate sync for each segment would delay room for newcomers.
    if (!log_.wait_until_settled(Log::Reaches::file, for_settling) || !wipe(segment)) return false;
    for (auto const& record : *leaving) evict(record);
    log_.free(segment);
    return true;
}

/// A restart finds nothing in this segment afterwards. If the wipe fails, or the segment before this one is retired
/// and may hold records that tombstones in this one refer to, all segments up to this generation are invalidated.
bool Cleaner::wipe(std::uint32_t segment) {
    auto const& header = log_.header();
    auto const start = header.start_of(segment), end = start + header.segment_bytes;
    auto const generation = log_.segment(segment).generation;
    std::array<char, segment_head_bytes> head;
    // The disk may reorder wipes: each one must cover the earlier ones, which are then obsolete.
    SegmentHead const empty{.wiped = std::max(generation, log_.wiped_until())};
    encode(empty, Location{header.id, 0, start}, head);
    std::array<char, footer_tail_bytes> const no_footer{};
    log_.wiping(generation);
    bool const wiped = !file_.write_at(start, {head.data(), head.size()}).error &&
                       !file_.write_at(end - no_footer.size(), {no_footer.data(), no_footer.size()}).error;
    if (!wiped || log_.is_behind_retired(segment)) return void_(generation);
    log_.wiped(generation);
    return true;
}

/// The records in this segment that the index still refers to, in log order.
std::vector<Cleaner::Live> Cleaner::live_of(std::uint32_t segment) {
    std::vector<Live> live;
    auto const start = log_.header().start_of(segment);
    auto const about = log_.segment(segment);
    auto const contents = read_contents(file_, log_.header(), segment, {about.generation, about.opened});
    for (auto const& entry : contents.entries) {
        if (entry.kind != RecordKind::object && entry.kind != RecordKind::piece) continue;
        auto const offset = start + Bytes{entry.offset} * unit;
        auto const known = index_.find(entry.hash);
        if (known && known->offset == offset) live.push_back({entry.hash, offset, entry.bytes, known->uses});
    }
    for (auto const& [hash, entry] : unseen_in(index_, log_.header(), segment, contents))
        live.push_back({hash, entry.offset, entry.bytes, entry.uses});   // evicted with the others
    return live;
}

/// Records in use may have arrived together and fill adjacent segments.
Bytes Cleaner::most_saved() const {
    return static_cast<Bytes>(saved_share * static_cast<double>(log_.header().segment_bytes)) * log_.segments();
}

/// Grants once per segment, even if the segment is cleaned again after a failure.
void Cleaner::grant_share(std::uint64_t generation) {
    if (std::exchange(granted_, generation) == generation) return;
    auto const share = static_cast<Bytes>(share_ * static_cast<double>(log_.header().segment_bytes));
    allowance_ = std::min(allowance_ + share, most_saved());
}

/// Decides for each record whether to rewrite it: the most used first, within the allowance.
std::vector<bool> Cleaner::wanted(std::vector<Live> const& live) {
    auto const segment_bytes = static_cast<double>(log_.header().segment_bytes);
    auto const now = steady_now();
    if (log_.has_room_for_newcomers()) short_since_ = now;
    auto const most = now - short_since_ < short_for ? 1.0 : most_when_short;
    auto room = std::min(allowance_, static_cast<Bytes>(most * segment_bytes));
    std::vector<std::size_t> order(live.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return live[i].uses; });
    std::vector<bool> wanted(live.size());
    for (auto const i : order) {
        if (live[i].bytes > room || !keeps_(live[i].hash, live[i].uses)) continue;
        wanted[i] = true;
        room -= live[i].bytes;
    }
    return wanted;
}

/// Rewrites the records worth keeping and returns the others; nothing when stopping or when the disk fails, because
/// then no room is needed.
std::optional<std::vector<Cleaner::Live>> Cleaner::keep(std::uint32_t number, std::vector<Live> const& live) {
    auto const& header = log_.header();
    Location place{header.id, log_.segment(number).generation, 0};
    grant_share(place.generation);
    auto const wanted = this->wanted(live);
    bool room = true;
    std::string bytes;
    std::vector<Live> leaving;
    for (std::size_t i = 0; i < live.size(); ++i) {
        auto const& record = live[i];
        if (stopping_ || log_.failing()) return std::nullopt;
        auto outcome = Again::no_room;
        if (wanted[i] && room) {
            bytes.resize(record.bytes);
            place.offset = record.offset;
            int const error = file_.read_at(record.offset, bytes).error;
            outcome = error ? unreadable(record.offset, io::text_of_error(error)) : write_again(place, bytes);
            if (stopping_ || log_.failing()) return std::nullopt;   // the failure was not a lack of room
            room = outcome != Again::no_room;
        }
        if (outcome == Again::written) {
            allowance_ -= record.bytes;
            figures_.reinserted.fetch_add(record.bytes, std::memory_order_relaxed);
        } else {
            leaving.push_back(record);
        }
    }
    return leaving;
}

Cleaner::Again Cleaner::unreadable(Bytes offset, std::string const& why) {
    figures_.damaged.fetch_add(1, std::memory_order_relaxed);
    complaints_.add("a record at " + std::to_string(offset) + " cannot be rewritten: " + why +
                    "; dropped; the next request fetches the object again");
    return Again::damaged;
}

/// Retries however slow the disk is: newcomers get no more room than this does. If all segments are full, this is
/// what frees one.
Cleaner::Again Cleaner::write_again(Location const& place, std::string_view bytes) {
    auto const read = decode(bytes, place);
    if (read.damage != Damage::none) return unreadable(place.offset, "it is damaged");
    while (!stopping_) {
        if (write_(read.record, place)) return Again::written;
        if (log_.failing() || log_.is_full()) break;
        log_.wait_for_want(cleaner_pause);
    }
    return Again::no_room;
}

void Cleaner::evict(Live const& record) {
    if (!index_.erase_at(record.hash, record.offset)) return;
    figures_.evicted.fetch_add(1, std::memory_order_relaxed);
    gone_(record.hash, record.bytes);
}

}   // namespace garner::store::disk
