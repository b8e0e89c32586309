// Inspection of a store for operators: lists and verifies its objects.
#include <algorithm>
#include <filesystem>
#include <iterator>

#include "io/log.hpp"
#include "net/waiter.hpp"
#include "store/log_store.hpp"

namespace garner::store {

Result<std::unique_ptr<DiskStore>> DiskStore::open_existing(DiskOptions const& options) {
    auto const file = disk::file_of(options.path);
    std::error_code error;
    if (!std::filesystem::exists(file, error)) return Fault{"there is no store at " + file + (error ? ": " + error.message() : "")};
    auto store = std::make_unique<disk::LogStore>(options);
    if (auto const started =
            store->start({.when = disk::StoreFile::When::as_it_is, .refuses = disk::LogStore::Refuses::every_error});
        !started)
        return started.fault();
    return store;
}

}   // namespace garner::store

namespace garner::store::disk {

namespace {

/// The number of body bytes stored in pieces.
Bytes bytes_in_pieces(ObjectMeta const& meta) {
    if (meta.spans.empty()) return meta.body != 0 ? meta.length : 0;
    Bytes sum = 0;
    for (auto const& span : meta.spans) sum += span.last - span.first + 1;
    return sum;
}

bool is_whole(ObjectMeta const& meta) { return meta.spans.empty() || bytes_in_pieces(meta) == meta.length; }

Contents contents_of(OpenStore const& works, std::uint32_t segment) {
    if (auto pending = works.log.pending(segment)) return {std::move(*pending), false};
    auto const about = works.log.segment(segment);
    if (about.generation == 0) return {};
    return read_contents(works.file, works.log.header(), segment, {about.generation, about.opened});
}

/// Calls `see` for each record of a segment that the index still refers to, in log order.
template <class See>
void each_live(OpenStore const& works, std::uint32_t segment, Footer const& contents, See&& see) {
    auto const start = works.log.header().start_of(segment);
    for (auto const& entry : contents.entries) {
        auto const known = works.index.find(entry.hash);
        if (known && known->offset == start + Bytes{entry.offset} * unit) see(entry, *known);
    }
}

}   // namespace

namespace {

constexpr Bytes head_enough = 4 * KiB;   // usually enough to decode an object's head
constexpr Bytes look_step = 256 * KiB;   // bytes read at once if heads are close together
constexpr std::size_t close_together = 8;

/// nullptr when the head is longer than usual, damaged or gone, or a part of the body is missing.
ObjectPtr object_told(Core& core, std::string_view bytes, Location const& place) {
    auto const read = decode_head(bytes, place);
    bool const told = read.damage == Damage::none || (read.damage == Damage::cut && !read.record.key.empty());
    auto text = read.record.meta;
    auto const meta = told ? decode_meta(text) : std::nullopt;
    if (!meta) return nullptr;
    if (read.record.head.in_pieces && !object_of(core, {nullptr, read.record})) return nullptr;
    Object::Parts parts;
    parts.kind = meta->kind;
    parts.key = read.record.key;
    parts.head = text;
    parts.terms = meta->terms;
    parts.status = meta->status;
    return Object::make(parts, nullptr);
}

/// A read buffer over the file, for heads requested in ascending order.
class Window {
public:
    Window(OpenStore const& works, std::uint32_t segment)
        : works_(works), end_(works.log.header().start_of(segment) + works.log.header().segment_bytes) {}

    /// `many`: more reads nearby will follow. Empty when the file cannot be read.
    std::string_view at(Bytes offset, Bytes wanted, bool many) {
        if (offset < begin_ || offset + wanted > begin_ + bytes_.size()) read(offset, many ? look_step : wanted);
        auto const from = std::min<Bytes>(offset - begin_, bytes_.size());
        return std::string_view(bytes_).substr(from, head_enough);
    }

private:
    void read(Bytes offset, Bytes size) {
        begin_ = offset;
        bytes_.resize(std::min(size, end_ - offset));
        if (works_.file.read_at(offset, bytes_).error) bytes_.clear();
    }

    OpenStore const& works_;
    Bytes const end_;
    Bytes begin_ = 0;
    std::string bytes_;
};

}   // namespace

std::vector<ObjectPtr> LogStore::heads_of(std::uint32_t segment) {
    auto const& works = *this->works();
    std::vector<Index::Entry> wanted;
    each_live(works, segment, contents_of(works, segment), [&](FooterEntry const& entry, Index::Entry const& known) {
        if (entry.kind == RecordKind::object) wanted.push_back(known);
    });
    Window window(works, segment);
    std::vector<ObjectPtr> objects;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        auto const offset = wanted[i].offset;
        bool const many = i + close_together < wanted.size() && wanted[i + close_together].offset < offset + look_step;
        auto const here = works.log.find(offset);
        auto const bytes = here.owner ? here.bytes : window.at(offset, std::min(wanted[i].bytes, head_enough), many);
        if (auto object = object_told(*this, bytes, here.place)) objects.push_back(std::move(object));
    }
    return objects;
}

net::awaitable<bool> LogStore::heads(std::uint32_t segment, std::vector<ObjectPtr>& into, net::Executor executor) {
    auto* works = this->works();
    if (!works || segment >= works->log.segments()) co_return false;
    net::Waiter waiter(executor);
    auto found = std::make_shared<std::vector<ObjectPtr>>();
    auto job = [this, segment, found, handle = waiter.handle()] {
        *found = heads_of(segment);
        handle.wake(net::Wake::ready);
    };
    constexpr milliseconds long_enough{10'000};
    if (!works->lookers.run(std::move(job))) co_return true;
    if (co_await waiter.wait(long_enough) != net::Wake::ready) co_return true;
    into.insert(into.end(), std::make_move_iterator(found->begin()), std::make_move_iterator(found->end()));
    co_return true;
}

bool LogStore::list(std::uint32_t segment, std::vector<Listed>& into) {
    auto* works = this->works();
    if (!works || segment >= works->log.segments()) return false;
    auto const now = wall_now();
    each_live(*works, segment, contents_of(*works, segment), [&](FooterEntry const& entry, Index::Entry const& known) {
        if (entry.kind != RecordKind::object) return;
        auto const read = works->reader.read_here(entry.hash, known);
        if (!read || !is_complete(read)) return;
        auto text = read.record.meta;
        auto const meta = decode_meta(text);
        if (!meta || meta->kind != Object::Kind::response) return;
        Listed listed;
        listed.key = read.record.key;
        listed.status = meta->status;
        listed.length = meta->spans.empty() ? meta->length : bytes_in_pieces(*meta);
        listed.bytes = read.record.head.bytes() + bytes_in_pieces(*meta);
        listed.stored = meta->terms.response_time;
        listed.fresh_for = std::int64_t{meta->terms.lifetime} - http::current_age(meta->terms, now);
        listed.whole = is_whole(*meta);
        into.push_back(std::move(listed));
    });
    return true;
}

ObjectPtr LogStore::peek(std::string_view key) {
    auto* works = this->works();
    auto const hash = works ? hash_of(key, seed()) : Fingerprint{};
    auto const entry = works ? works->index.find(hash) : std::nullopt;
    if (!entry) return nullptr;
    auto const read = works->reader.read_here(hash, *entry);
    bool const is_it = read && read.record.head.kind == RecordKind::object && read.record.key == key;
    return is_it ? object_of(*this, read) : nullptr;
}

std::optional<DiskStore::Stretch> LogStore::segment_from(std::uint64_t generation) const {
    auto const* works = this->works();
    return works ? works->log.segment_from(generation) : std::nullopt;
}

void LogStore::list_waiting(std::vector<Listed>& into) const {
    auto const now = wall_now();
    for (auto const& object : long_.waiting()) {
        if (object->kind() != Object::Kind::response) continue;
        Listed listed;
        listed.key = object->key();
        listed.status = object->status();
        listed.length = object->length().value_or(0);
        listed.stored = object->terms().response_time;
        listed.fresh_for = std::int64_t{object->terms().lifetime} - http::current_age(object->terms(), now);
        into.push_back(std::move(listed));
    }
}

/// Returns the number of dropped records.
std::uint64_t LogStore::forget_unseen(OpenStore& works, std::uint32_t segment, Contents const& contents) {
    auto const unseen = unseen_in(works.index, works.log.header(), segment, contents);
    if (works.log.segment(segment).generation != contents.generation) return 0;   // reopened since
    for (auto const& [hash, entry] : unseen) bad(hash, entry.offset);
    if (!unseen.empty())
        spdlog::error("disk: segment {} has lost {} records; the next requests fetch the objects again", segment, unseen.size());
    return unseen.size();
}

bool LogStore::verify(std::uint32_t segment, Verified& sum) {
    auto* works = this->works();
    if (!works || segment >= works->log.segments()) return false;
    auto const contents = contents_of(*works, segment);
    auto const lost = static_cast<std::uint64_t>(std::ranges::count_if(contents.entries, is_lost));
    auto const gone = std::max(lost, forget_unseen(*works, segment, contents));   // the two counts may overlap
    sum.records += gone;
    sum.damaged += gone;
    each_live(*works, segment, contents, [&](FooterEntry const& entry, Index::Entry const& known) {
        auto const read = works->reader.read_here(entry.hash, known);   // for a damaged record the reader calls bad()
        if (read.gone) return;
        ++sum.records;
        sum.bytes += entry.bytes;
        if (!read) ++sum.damaged;
    });
    return true;
}

}   // namespace garner::store::disk
