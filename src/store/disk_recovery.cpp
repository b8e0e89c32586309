#include "store/disk_recovery.hpp"

#include <algorithm>
#include <string>

namespace garner::store::disk {

namespace {

// Of a segment's end: enough for the footer of most.
constexpr Bytes first_look = 64 * KiB;

bool is_blank(std::string_view bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == '\0'; });
}

}  // namespace

std::optional<Footer> read_footer(io::File const& file, StoreHeader const& header, std::uint32_t segment) {
    auto const end = header.start_of(segment) + header.segment_bytes;
    auto size = std::min<Bytes>(first_look, header.segment_bytes);
    for (int looks = 0; looks < 2; ++looks) {
        std::string bytes(size, '\0');
        if (file.read_at(end - size, bytes).error) return std::nullopt;
        auto read = decode_footer(bytes, header.id, end);
        if (read.footer || read.needed <= size || read.needed > header.segment_bytes) return std::move(read.footer);
        size = read.needed;
    }
    return std::nullopt;
}

Footer walk(io::File const& file, StoreHeader const& header, std::uint32_t number, SegmentHead const& head) {
    Footer footer{head.generation, head.opened, {}};
    std::string bytes(header.segment_bytes, '\0');
    auto const start = header.start_of(number);
    if (file.read_at(start, bytes).error) return footer;
    std::string_view const all(bytes);
    Bytes at = segment_head_bytes;
    while (at + record_head_bytes <= all.size()) {
        auto const read = decode_head(all.substr(at), {header.id, head.generation, start + at});
        if (read.damage != Damage::none) {
            // Nothing older may take the place of what was here, as far as that can be told.
            if (read.damage == Damage::head) footer.entries.push_back({.hash = read.record.head.hash, .kind = RecordKind::tombstone});
            at += unit;
            continue;
        }
        auto const& record = read.record.head;
        FooterEntry entry;
        entry.hash = record.hash;
        entry.offset = static_cast<std::uint32_t>(at / unit);
        entry.bytes = static_cast<std::uint32_t>(record.bytes());
        entry.kind = record.kind;
        entry.freshness = record.freshness;
        footer.entries.push_back(entry);
        at += record.bytes();
    }
    return footer;
}

void Recovery::bury(Fingerprint hash) {
    if (is_over()) return;
    std::lock_guard const lock(mutex_);
    buried_.insert(index_.known_bits(hash));
}

void Recovery::run() {
    auto const found = find_segments();
    if (stopping_) return;   // the newest may be among those not seen
    auto const newest = found.empty() ? Found{log_.segments() - 1, 0} : found.front();
    log_.begin(newest.segment + 1, std::max(newest.generation, log_.header().least_generation) + 1);
    for (auto const& [segment, generation] : found) {
        if (stopping_) return;
        auto footer = read_footer(file_, log_.header(), segment);
        if (!footer || footer->generation != generation) {
            auto const head = head_of(segment);
            if (head && head->generation == generation) leave_footer(segment, footer.emplace(walk(file_, log_.header(), segment, *head)));
        }
        if (footer && footer->generation == generation) take(segment, *footer);
        done_.fetch_add(1, std::memory_order_relaxed);
    }
    {
        std::lock_guard const lock(mutex_);
        over_.store(true, std::memory_order_release);
        buried_.clear();
    }
    if (order_.has_memory()) tell_order(found);
}

/// Policies want to hear of records in the order in which they came.
void Recovery::tell_order(std::vector<Found> const& found) {
    auto const& header = log_.header();
    for (auto segment = found.rbegin(); segment != found.rend() && !stopping_; ++segment) {
        auto const footer = read_footer(file_, header, segment->segment);
        if (!footer || footer->generation != segment->generation) continue;
        for (auto const& entry : footer->entries) {
            auto const there = index_.find(entry.hash);
            if (there && there->offset == header.start_of(segment->segment) + Bytes{entry.offset} * unit)
                order_.stored(entry.hash, entry.bytes);
        }
    }
}

/// Newest first. Others are free.
std::vector<Recovery::Found> Recovery::find_segments() {
    std::vector<Found> found;
    auto const& header = log_.header();
    for (std::uint32_t i = 0; i < header.segments && !stopping_; ++i) {
        Log::Segment segment;
        segment.use = Log::Use::free;
        auto const head = head_of(i);
        if (head && head->generation >= header.least_generation) {
            segment = {head->generation, head->opened, Log::Use::closed, 0};
            found.push_back({i, head->generation});
        }
        log_.adopt(i, segment);
    }
    std::sort(found.begin(), found.end(), [](Found const& a, Found const& b) { return a.generation > b.generation; });
    return found;
}

/// One whose head is damaged is known by its footer, or else by the records in it. Nothing for those that hold none.
std::optional<SegmentHead> Recovery::head_of(std::uint32_t segment) const {
    auto const& header = log_.header();
    auto const start = header.start_of(segment);
    std::string bytes(segment_head_bytes + record_head_bytes, '\0');
    if (file_.read_at(start, bytes).error) return std::nullopt;
    if (auto const head = decode_segment_head(bytes, header.id, start))
        return head->generation > 0 ? head : std::nullopt;
    if (auto const footer = read_footer(file_, header, segment)) return SegmentHead{footer->generation, footer->opened};
    if (is_blank(bytes)) return std::nullopt;
    return head_by_records(segment);
}

/// The newest generation of which a record is there. Opened at a time that promises nothing.
std::optional<SegmentHead> Recovery::head_by_records(std::uint32_t segment) const {
    auto const& header = log_.header();
    auto const start = header.start_of(segment);
    std::string bytes(header.segment_bytes, '\0');
    if (file_.read_at(start, bytes).error) return std::nullopt;
    SegmentHead head;
    std::string_view const all(bytes);
    for (Bytes at = segment_head_bytes; at + record_head_bytes <= all.size(); at += unit) {
        auto const generation = generation_said(all.substr(at));
        if (generation <= head.generation) continue;
        if (decode_head(all.substr(at), {header.id, generation, start + at}).damage == Damage::none) head.generation = generation;
    }
    return head.generation > 0 ? std::optional(head) : std::nullopt;
}

/// The next start finds it at once then.
void Recovery::leave_footer(std::uint32_t segment, Footer const& footer) const {
    auto const& header = log_.header();
    auto const end = header.start_of(segment) + header.segment_bytes;
    auto const last = footer.entries.empty() ? segment_head_bytes
                                             : footer.entries.back().offset * unit + footer.entries.back().bytes;
    if (last + footer.bytes() > header.segment_bytes) return;
    auto const text = encode(footer, Place{header.id, footer.generation, end});
    (void)file_.write_at(end - text.size(), text);   // else it is walked again
}

void Recovery::take(std::uint32_t segment, Footer const& footer) {
    auto const start = log_.header().start_of(segment);
    std::lock_guard const lock(mutex_);
    for (auto entry = footer.entries.rbegin(); entry != footer.entries.rend(); ++entry) {
        if (entry->kind == RecordKind::tombstone)
            buried_.insert(index_.known_bits(entry->hash));
        else if (entry->kind != RecordKind::filler && !buried_.contains(index_.known_bits(entry->hash)) &&
                 index_.put_if_absent(entry->hash, start + Bytes{entry->offset} * unit, entry->bytes, entry->freshness))
            came_(entry->bytes);
    }
}

}  // namespace garner::store::disk
