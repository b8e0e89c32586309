#include "store/disk_recovery.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "io/log.hpp"

namespace garner::store::disk {

namespace {

// First read at a segment's end: enough for the footer of large records; for small ones it gives the full footer
// size.
constexpr Bytes first_look = 4 * KiB;
constexpr std::size_t ahead = 32;           // footer reads requested in advance
constexpr Bytes read_at_once = 64 * KiB;    // unit of segment reads: the most that one bad sector loses
constexpr unsigned generation_shift = 20;   // log2 of the generations of one start, unless it runs for very long

bool is_blank(std::string_view bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == '\0'; });
}

struct Tail {
    std::optional<Footer> footer;
    bool readable = true;
    bool blank = false;   // all zero: the segment was never closed, or was freed
};

Tail read_tail(io::File const& file, StoreHeader const& header, std::uint32_t segment, Bytes size = first_look) {
    Tail tail;
    auto const end = header.start_of(segment) + header.segment_bytes;
    for (int looks = 0; looks < 2; ++looks) {
        std::string bytes(size, '\0');
        tail.readable = !file.read_at(end - size, bytes).error;
        if (!tail.readable) return tail;
        tail.blank = is_blank(std::string_view(bytes).substr(size - footer_tail_bytes));
        auto read = decode_footer(bytes, header.id, end);
        tail.footer = std::move(read.footer);
        if (tail.footer || read.needed <= size || read.needed > header.segment_bytes) return tail;
        size = read.needed;
    }
    return tail;
}

/// The bytes of a segment; unreadable parts are zero.
struct SegmentBytes {
    std::string bytes;
    bool whole = true;
};

SegmentBytes read_segment(io::File const& file, StoreHeader const& header, std::uint32_t segment) {
    SegmentBytes read{std::string(header.segment_bytes, '\0')};
    for (Bytes at = 0; at < header.segment_bytes; at += read_at_once) {
        std::span<char> const into(read.bytes.data() + at, read_at_once);
        if (!file.read_at(header.start_of(segment) + at, into).error) continue;
        std::fill(into.begin(), into.end(), '\0');
        read.whole = false;
    }
    return read;
}

/// Searches for records in bytes that may be damaged. An origin can put fake record heads into a stored response,
/// nested and each with a large size. So the bytes checked for such heads are limited.
class Search {
public:
    Search(std::string_view bytes, StoreHeader const& header, std::uint32_t segment)
        : bytes_(bytes), id_(header.id), start_(header.start_of(segment)), in_vain_left_(in_vain_max * bytes.size()) {}

    std::size_t size() const { return bytes_.size(); }
    std::string_view from(Bytes at) const { return bytes_.substr(at); }
    Location place(Bytes at, std::uint64_t generation) const { return {id_, generation, start_ + at}; }

    /// Like decode_head(), whose cost depends on the size in the head; Damage::head, too, for a size that is
    /// impossible.
    RecordRead head_at(Bytes at, std::uint64_t generation) {
        auto const there = from(at);
        auto read = decode_head(there.substr(0, record_head_bytes), place(at, generation));
        if (read.damage != Damage::cut) return read;
        auto const& head = read.record.head;
        if (head.body_at() > there.size()) return read;
        bool const is_long = head.body_at() > always_looked_at;
        read.damage = Damage::head;
        if (head.bytes() > record_max || (is_long && head.body_at() > in_vain_left_)) return read;
        read = decode_head(there, place(at, generation));
        if (read.damage == Damage::head && is_long) in_vain_left_ -= read.record.head.body_at();
        return read;
    }

private:
    static constexpr Bytes in_vain_max = 8;   // times the bytes of the segment
    static constexpr Bytes always_looked_at = KiB;

    std::string_view bytes_;
    std::uint64_t id_;
    Bytes start_;
    Bytes in_vain_left_;
};

/// The newest generation of a record there; 0: none.
std::uint64_t newest_in(std::string_view bytes, StoreHeader const& header, std::uint32_t segment) {
    Search search(bytes, header, segment);
    std::uint64_t newest = 0;
    for (Bytes at = segment_head_bytes; at + record_head_bytes <= search.size(); at += unit) {
        auto const said = generation_said(search.from(at));
        if (said > newest && search.head_at(at, said).damage == Damage::none) newest = said;
    }
    return newest;
}

}   // namespace

std::optional<Footer> read_footer(io::File const& file, StoreHeader const& header, std::uint32_t segment) {
    return read_tail(file, header, segment).footer;
}

Contents read_contents(io::File const& file, StoreHeader const& header, std::uint32_t segment, SegmentHead const& head) {
    auto footer = read_footer(file, header, segment);
    if (footer && footer->generation == head.generation) return {std::move(*footer), false};
    return {walk(file, header, segment, head), true};
}

std::vector<Index::Known> unseen_in(Index const& index, StoreHeader const& header, std::uint32_t segment,
                                    Contents const& contents) {
    if (!contents.walked) return {};
    auto const start = header.start_of(segment);
    auto known = index.within(start, start + header.segment_bytes);
    std::unordered_set<Bytes> seen;
    for (auto const& entry : contents.entries)
        if (entry.kind != RecordKind::tombstone) seen.insert(start + Bytes{entry.offset} * unit);
    std::erase_if(known, [&](Index::Known const& one) { return seen.contains(one.entry.offset); });
    return known;
}

namespace {

/// Records at the end without a valid record after them were being written when the process ended, and their
/// durability was never reported. Still no older record may replace them.
void drop_unfinished(Walked& walked, Search const& search, std::uint64_t generation) {
    for (auto entry = walked.entries.rbegin(); entry != walked.entries.rend(); ++entry) {
        Bytes const at = Bytes{entry->offset} * unit;
        bool const good = !is_lost(*entry) && decode(search.from(at), search.place(at, generation)).damage == Damage::none;
        if (good) return;
        *entry = {.hash = entry->hash, .offset = segment_head_bytes / unit, .kind = RecordKind::tombstone};
    }
}

}   // namespace

Walked walk(io::File const& file, StoreHeader const& header, std::uint32_t number, SegmentHead const& head) {
    auto const read = read_segment(file, header, number);
    Walked walked;
    walked.generation = head.generation;
    walked.opened = head.opened;
    walked.whole = read.whole;
    Search search(read.bytes, header, number);
    Bytes at = segment_head_bytes;
    while (at + record_head_bytes <= search.size()) {
        auto const found = search.head_at(at, head.generation);
        auto const& record = found.record.head;
        if (found.damage != Damage::none) {
            // No older record may replace the damaged one, as far as its hash is known.
            if (found.damage == Damage::head) walked.entries.push_back({.hash = record.hash, .kind = RecordKind::tombstone});
            at += unit;
            continue;
        }
        FooterEntry entry;
        entry.hash = record.hash;
        entry.offset = static_cast<std::uint32_t>(at / unit);
        entry.bytes = static_cast<std::uint32_t>(record.bytes());
        entry.kind = record.kind;
        entry.freshness = record.freshness;
        entry.in_pieces = record.in_pieces;
        walked.entries.push_back(entry);
        at += record.bytes();
        walked.end = at;
    }
    if (walked.whole) drop_unfinished(walked, search, head.generation);
    return walked;
}

void Recovery::note_removed(Fingerprint hash) {
    if (is_over()) return;
    MutexLock const lock(mutex_);
    buried_.insert(index_.known_bits(hash));
}

void Recovery::run() {
    auto found = find_segments();
    if (stopping_) return;   // the newest segment may be among the unread ones
    auto const& header = log_.header();
    auto const newest = found.empty() ? Found{log_.segments() - 1, 0, {}} : found.front();
    // The last records may be lost, and with them their generation. So each start uses generations that no earlier
    // start can have used.
    auto const generation =
        std::max({newest.generation + 1, header.least_generation + 1, wiped_ + 1, header.epoch << generation_shift});
    log_.begin(newest.segment + 1, generation, wiped_);
    auto const entries = entries_of_each(found);
    index_.reserve(static_cast<std::uint64_t>(entries * static_cast<double>(found.size())));
    footer_ = std::max(Footer::footer_bytes(static_cast<std::size_t>(entries)), first_look);
    for (std::size_t i = 0; i < ahead; ++i) ask_for_footer(found, i);
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (stopping_) return;
        ask_for_footer(found, i + ahead);
        if (auto const footer = contents_of(found[i])) {
            take(found[i].segment, *footer);
            if (std::ranges::any_of(footer->entries, &FooterEntry::in_pieces)) with_pieces_.push_back(found[i]);
        }
        done_.fetch_add(1, std::memory_order_relaxed);
    }
    {
        MutexLock const lock(mutex_);
        over_.store(true, std::memory_order_release);
        buried_.clear();
    }
    found_ = std::move(found);
}

void Recovery::tell() {
    if (order_.has_memory()) tell_order();
    order_told_.store(true, std::memory_order_release);
    tell_in_pieces();
    found_ = with_pieces_ = {};
}

/// Policies need the records in the order of their insertion.
void Recovery::tell_order() {
    auto const& header = log_.header();
    for (auto segment = found_.rbegin(); segment != found_.rend() && !stopping_; ++segment) {
        auto const footer = read_footer(file_, header, segment->segment);
        if (!footer || footer->generation != segment->generation) continue;
        for (auto const& entry : footer->entries) {
            auto const there = index_.find(entry.hash);
            if (there && there->offset == header.start_of(segment->segment) + Bytes{entry.offset} * unit)
                order_.stored(entry.hash, entry.bytes);
        }
    }
}

/// Drops heads of bodies whose pieces have been overwritten by the log.
void Recovery::tell_in_pieces() {
    auto const& header = log_.header();
    for (auto const& [number, generation, opened] : with_pieces_) {
        if (log_.segment(number).generation != generation) continue;
        auto const contents = read_contents(file_, header, number, {generation, opened});
        for (auto const& entry : contents.entries) {
            if (stopping_) return;
            auto const there = entry.in_pieces ? index_.find(entry.hash) : std::nullopt;
            if (there && there->offset == header.start_of(number) + Bytes{entry.offset} * unit) in_pieces_(entry.hash, *there);
        }
    }
}

// ---- segments ----

/// Newest first; sets the state of every segment in the log.
std::vector<Recovery::Found> Recovery::find_segments() {
    std::vector<Found> found;
    auto const doubtful = read_heads(found);
    std::uint64_t newest = 0;
    std::uint32_t used = 1;   // the log uses segments in turn: those after the last used one were never used
    for (auto const& one : found) {
        newest = std::max(newest, one.generation);
        used = std::max(used, one.segment + 2);
    }
    for (auto const& one : doubtful) {
        if (stopping_) break;
        if (one.blank && one.segment >= used) {
            log_.adopt(one.segment, {0, {}, Log::Use::free, 0});
            continue;
        }
        auto const known = look_closer(one, newest, one.segment < used);
        if (!known) continue;
        found.push_back(*known);
        used = std::max(used, one.segment + 2);
    }
    for (auto const& one : found) log_.adopt(one.segment, {one.generation, one.opened, Log::Use::closed, 0});
    std::sort(found.begin(), found.end(), [](Found const& a, Found const& b) { return a.generation > b.generation; });
    return found;
}

/// Adds segments with valid heads to `found`, or frees them; returns the others.
std::vector<Recovery::Doubtful> Recovery::read_heads(std::vector<Found>& found) {
    std::vector<Doubtful> doubtful;
    auto const& header = log_.header();
    std::array<char, segment_head_bytes + record_head_bytes> bytes;
    std::string_view const view(bytes.data(), bytes.size());
    auto const ask_for = [&](std::uint32_t i) {
        if (i >= header.segments) return;
        file_.will_read(header.start_of(i), bytes.size());
        file_.will_read(header.start_of(i) + header.segment_bytes - first_look, first_look);
    };
    for (std::uint32_t i = 0; i < ahead; ++i) ask_for(i);
    for (std::uint32_t i = 0; i < header.segments && !stopping_; ++i) {
        ask_for(i + ahead);
        bool const readable = !file_.read_at(header.start_of(i), bytes).error;
        auto const head = readable ? decode_segment_head(view, header.id, header.start_of(i)) : std::nullopt;
        if (!head)
            doubtful.push_back({i, readable, readable && is_blank(view)});
        else
            found.push_back({i, head->generation, head->opened});
        if (head) wiped_ = std::max(wiped_, head->wiped);
    }
    leave_out_wiped(found);
    return doubtful;
}

/// After a power failure, the wipe of one segment may be on disk while the wipe of an earlier one is not.
void Recovery::leave_out_wiped(std::vector<Found>& found) {
    std::erase_if(found, [this](Found const& one) {
        if (!holds_nothing(one.generation)) return false;
        log_.adopt(one.segment, {0, {}, Log::Use::free, 0});
        return true;
    });
}

/// Uses the footer and the records, whichever is newer. Returns nothing for an empty segment, which is freed. It also
/// returns nothing for a segment of which too little is readable; that segment is not touched, because the next start
/// may be able to read it.
std::optional<Recovery::Found> Recovery::look_closer(Doubtful const& doubtful, std::uint64_t newest, bool was_used) {
    auto const& header = log_.header();
    auto const number = doubtful.segment;
    auto const tail = read_tail(file_, header, number);
    bool readable = doubtful.readable && tail.readable;
    Found found{number, 0, {}};
    if (tail.footer) found = {number, tail.footer->generation, tail.footer->opened};
    bool const untouched = doubtful.blank && tail.blank;
    if (tail.footer || (was_used && !untouched)) {
        auto const read = read_segment(file_, header, number);
        readable = readable && read.whole;
        auto const of_records = newest_in(read.bytes, header, number);
        // A freed segment also has records and no footer: only the newest segment can be one that was never closed.
        // Its opening time is unknown, so the index promises no freshness for its records.
        if (of_records > found.generation && (!tail.blank || of_records > newest)) found = {number, of_records, {}};
    }
    if (!readable) missed_.store(true, std::memory_order_relaxed);
    if (!holds_nothing(found.generation)) return found;
    if (readable) {
        log_.adopt(number, {0, {}, Log::Use::free, 0});
    } else {
        spdlog::error("disk: segment {} cannot be read and is no longer used", number);
        log_.adopt(number, {0, {}, Log::Use::unknown, Log::failures_max});
    }
    return std::nullopt;
}

// ---- segment contents ----

/// Estimated from the footers of a few segments.
double Recovery::entries_of_each(std::vector<Found> const& found) const {
    auto const& header = log_.header();
    auto const step = std::max<std::size_t>(found.size() / ahead, 1);
    double entries = 0, looks = 0;
    for (std::size_t i = 0; i < found.size(); i += step) {
        auto const footer = read_footer(file_, header, found[i].segment);   // an incomplete footer could claim any size
        ++looks;
        if (footer) entries += static_cast<double>(footer->entries.size());
    }
    return looks > 0 ? entries / looks : 0;
}

/// Does nothing past the last segment.
void Recovery::ask_for_footer(std::vector<Found> const& found, std::size_t number) const {
    if (number >= found.size()) return;
    auto const& header = log_.header();
    file_.will_read(header.start_of(found[number].segment) + header.segment_bytes - footer_, footer_);
}

/// Uses the footer if it has the generation of the head, otherwise the records. If the footer is newer than the head,
/// the segment was reopened and its new contents did not fully reach the disk: none of it counts.
std::optional<Footer> Recovery::contents_of(Found const& found) {
    auto tail = read_tail(file_, log_.header(), found.segment, footer_);
    if (!tail.readable) missed_.store(true, std::memory_order_relaxed);
    if (tail.footer && tail.footer->generation == found.generation) return std::move(tail.footer);
    if (tail.footer && tail.footer->generation > found.generation) return std::nullopt;
    auto walked = walk(file_, log_.header(), found.segment, {found.generation, found.opened});
    if (walked.whole)
        leave_footer(found.segment, walked);
    else
        missed_.store(true, std::memory_order_relaxed);
    return walked;
}

/// Writes the footer, so that the next start need not walk the segment.
void Recovery::leave_footer(std::uint32_t segment, Walked const& walked) const {
    auto const& header = log_.header();
    auto const end = header.start_of(segment) + header.segment_bytes;
    if (walked.end + walked.bytes() > header.segment_bytes) return;
    auto const text = encode(walked, Location{header.id, walked.generation, end});
    (void)file_.write_at(end - text.size(), text);   // on an error the next start walks it again
}

void Recovery::take(std::uint32_t segment, Footer const& footer) {
    auto const start = log_.header().start_of(segment);
    std::vector<Index::Newcomer> newcomers;
    newcomers.reserve(footer.entries.size());
    MutexLock const lock(mutex_);
    for (auto entry = footer.entries.rbegin(); entry != footer.entries.rend(); ++entry) {
        if (entry->kind == RecordKind::tombstone)
            buried_.insert(index_.known_bits(entry->hash));
        else if (entry->kind != RecordKind::filler && !buried_.contains(index_.known_bits(entry->hash)))
            newcomers.push_back({entry->hash, start + Bytes{entry->offset} * unit, entry->bytes, entry->freshness});
    }
    auto const put = index_.put_absent(newcomers);
    LiveBytes::Sum came;
    for (std::size_t i = 0; i < put.size(); ++i)
        if (put[i]) came.add(newcomers[i].bytes);
    came_(came);
}

}   // namespace garner::store::disk
