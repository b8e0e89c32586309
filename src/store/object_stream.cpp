#include "store/object_stream.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "store/disk_sizes.hpp"
#include "util/check.hpp"
#include "util/hash.hpp"

namespace garner::store {

namespace {

// The head: 0 magic[8], 8 check, 16 version, 20 format of the records, 24 id, zeros up to 64. It is written twice, so that no
// single damage loses all objects. The check covers bytes 16 to 63.
constexpr std::string_view stream_magic = "GARNEROB";
constexpr std::uint32_t stream_version = 1;
constexpr Bytes stream_head = 64, stream_heads = 2 * stream_head, stream_check_at = 8, stream_checked_from = 16;

constexpr std::uint64_t generation_of_all = 1;
constexpr Bytes sink_block = 256 * KiB;   // handed over at a time

template <class T>
void put_at(std::string& bytes, std::size_t at, T value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

template <class T>
T get_at(std::string_view bytes, std::size_t at) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

std::string head_of(std::uint64_t id) {
    std::string head(stream_head, '\0');
    std::ranges::copy(stream_magic, head.begin());
    put_at(head, 16, stream_version);
    put_at(head, 20, disk::format_version);
    put_at(head, 24, id);
    put_at(head, stream_check_at, fingerprint(std::string_view(head).substr(stream_checked_from), 0));
    return head;
}

/// Nothing if the head is damaged, or of another version.
std::optional<std::uint64_t> id_in(std::string_view head) {
    bool const is_whole = head.size() >= stream_head && head.starts_with(stream_magic);
    if (!is_whole) return std::nullopt;
    auto const checked = head.substr(stream_checked_from, stream_head - stream_checked_from);
    if (get_at<std::uint64_t>(head, stream_check_at) != fingerprint(checked, 0)) return std::nullopt;
    bool const is_known =
        get_at<std::uint32_t>(head, 16) == stream_version && get_at<std::uint32_t>(head, 20) == disk::format_version;
    return is_known ? std::optional(get_at<std::uint64_t>(head, 24)) : std::nullopt;
}

bool is_in_memory(Body const& body) { return body.state() == Body::State::complete && body.is_resident() && !body.has_gaps(); }

/// Views of the body's bytes, which are all in memory.
std::vector<std::string_view> views_of_body(Body const& body, Bytes first, Bytes bytes) {
    std::vector<std::string_view> views;
    BodyReader reader(&body, first);
    std::array<std::string_view, 16> some;
    while (bytes > 0) {
        auto const count = reader.next(some, bytes);
        check(count > 0);
        for (std::size_t i = 0; i < count; ++i) {
            views.push_back(some[i]);
            bytes -= some[i].size();
            reader.advance(some[i].size());
        }
    }
    return views;
}

disk::ObjectMeta meta_of_parts(Object::Parts const& parts) {
    disk::ObjectMeta meta;
    meta.kind = parts.kind;
    meta.status = parts.status;
    meta.terms = parts.terms;
    meta.source = parts.source;
    meta.length = parts.body ? parts.body->size() : parts.bytes.size();
    return meta;
}

}   // namespace

// ---- writing ----

ObjectWriter::ObjectWriter(std::uint64_t id, Sink sink) : id_(id), sink_(std::move(sink)) {
    for (int i = 0; i < 2; ++i) waiting_ += head_of(id);
    offset_ = waiting_.size();
}

bool ObjectWriter::write(Object const& object, std::optional<std::uint64_t> rank) {
    auto const parts = object.parts();
    if (parts.body && !is_in_memory(*parts.body)) return !failed_;
    auto meta = meta_of_parts(parts);
    bool const in_pieces = meta.length > Object::inline_body_max;
    if (in_pieces) meta.body = ++bodies_;
    auto const encoded = disk::encode(meta);
    std::vector<std::string_view> body;
    if (!in_pieces) body = parts.body ? views_of_body(*parts.body, 0, meta.length) : std::vector{parts.bytes};
    disk::RecordParts record;
    record.head.kind = disk::RecordKind::object;
    record.head.in_pieces = in_pieces;
    record.head.hash = disk::hash_of(parts.key, id_);
    record.head.sequence = parts.sequence;
    record.key = parts.key;
    record.meta = encoded;
    record.text = parts.head;
    record.body = body;
    if (record.measure() > disk::record_max) return !failed_;
    if (rank) append_rank(*rank);
    append(record);
    if (in_pieces) append_pieces(*parts.body, meta.body);
    ++objects_;
    return !failed_;
}

void ObjectWriter::append_rank(std::uint64_t rank) {
    disk::RecordParts record;
    record.head.kind = disk::RecordKind::filler;
    record.head.sequence = rank;
    record.measure();
    append(record);
}

bool ObjectWriter::answer(std::string_view key) {
    disk::RecordParts record;
    record.head.kind = disk::RecordKind::tombstone;
    record.head.hash = disk::hash_of(key, id_);
    record.key = key;
    record.measure();
    append(record);
    return flush();
}

void ObjectWriter::append_pieces(Body const& body, std::uint64_t number) {
    for (Bytes first = 0; first < body.size() && !failed_; first += disk::piece_max) {
        auto const views = views_of_body(body, first, std::min(disk::piece_max, body.size() - first));
        disk::RecordParts record;
        record.head.kind = disk::RecordKind::piece;
        record.head.hash = disk::hash_of_piece(number, first, id_);
        record.head.sequence = number;
        record.head.first = first;
        record.body = views;
        record.measure();
        append(record);
    }
}

void ObjectWriter::append(disk::RecordParts& record) {
    auto const size = record.head.bytes();
    auto const before = waiting_.size();
    waiting_.resize(before + size);
    disk::encode(record, {id_, generation_of_all, offset_}, std::span(waiting_).subspan(before));
    offset_ += size;
    if (waiting_.size() >= sink_block) flush();
}

bool ObjectWriter::flush() {
    if (!failed_ && !waiting_.empty()) failed_ = !sink_(waiting_);
    waiting_.clear();
    return !failed_;
}

// ---- reading ----

void RecordStream::add(std::string_view bytes) {
    bytes_.erase(0, at_);
    at_ = 0;
    if (!foreign_) bytes_ += bytes;
}

void RecordStream::pass(Bytes bytes) {
    at_ += bytes;
    offset_ += bytes;
}

/// False while the head is not complete, and if both copies are damaged.
bool RecordStream::read_head() {
    std::string_view const begin(bytes_);
    if (foreign_ || (begin.size() < stream_heads && !ended_)) return false;
    auto const first = begin.substr(0, stream_head), second = begin.substr(first.size());
    id_ = id_in(first);
    if (!id_) id_ = id_in(second);
    foreign_ = !id_ || begin.size() < stream_heads;
    if (foreign_)
        bytes_.clear();
    else
        pass(stream_heads);
    return !foreign_;
}

/// Records begin at multiples of the unit: after a damaged one each of them is tried.
std::optional<disk::Record> RecordStream::next() {
    if (!id_ && !read_head()) return std::nullopt;
    while (!foreign_) {
        auto const rest = std::string_view(bytes_).substr(at_);
        auto const read = disk::decode(rest, {*id_, generation_of_all, offset_});
        auto const size = read.record.head.bytes();
        if (read.damage == disk::Damage::none) {
            pass(size);
            return read.record;
        }
        bool const is_cut = read.damage == disk::Damage::cut && size <= disk::record_max;
        bool const may_be_cut = is_cut || rest.size() < disk::record_head_bytes;
        if (rest.empty() || (may_be_cut && !ended_)) return std::nullopt;
        auto const step = std::min<Bytes>(read.damage == disk::Damage::body ? size : disk::unit, rest.size());
        damaged_ += step;
        pass(step);
    }
    return std::nullopt;
}

}   // namespace garner::store
