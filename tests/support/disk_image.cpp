#include "support/disk_image.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "support/child.hpp"
#include "support/wire.hpp"

namespace garner::test {

namespace {

constexpr std::uint64_t header_area = 65'536, header_copy = 4'096, unit = 16, block = 65'536, head_bytes = 64;
constexpr std::uint64_t record_bytes = 48, first_bytes = 8, entry_bytes = 16, tail_bytes = 64, sum_bytes = 8;

std::uint64_t sum_of(std::string_view bytes, std::uint64_t seed) { return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed); }

std::uint64_t rounded(std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; }

}   // namespace

DiskImage DiskImage::read(std::filesystem::path const& file) { return of(read_file(file)); }

DiskImage DiskImage::of(std::string bytes) {
    DiskImage image;
    image.bytes_ = std::move(bytes);
    for (std::uint64_t at = 0; at + header_copy <= std::min<std::uint64_t>(header_area, image.bytes_.size()); at += header_copy)
        if (auto const header = image.header_at(at)) image.headers_.push_back(*header);
    if (image.headers_.empty()) throw Trouble("no store's header in " + std::to_string(image.bytes_.size()) + " bytes");
    for (std::uint32_t number = 0; number < image.header().segments; ++number) image.segments_.push_back(image.segment_at(number));
    return image;
}

DiskImage::Header const& DiskImage::header() const {
    auto const older = [](Header const& a, Header const& b) { return a.epoch < b.epoch; };
    return *std::max_element(headers_.begin(), headers_.end(), older);
}

std::vector<DiskImage::Record> DiskImage::records() const {
    std::vector<Record> all;
    for (auto const& segment : segments_) all.insert(all.end(), segment.records.begin(), segment.records.end());
    std::sort(all.begin(), all.end(),
              [](Record const& a, Record const& b) { return std::pair(a.generation, a.at()) < std::pair(b.generation, b.at()); });
    return all;
}

std::vector<DiskImage::Kinds> DiskImage::structures() const {
    std::vector<Place> headers, segments, heads, keys, metas, sums, bodies, entries, tails;
    auto add = [](std::vector<Place>& to, Place place) {
        if (place.bytes > 0) to.push_back(place);
    };
    for (auto const& header : headers_) add(headers, {header.at, header_copy});
    for (auto const& segment : segments_) {
        if (segment.generation > 0) add(segments, segment.head);
        for (auto const& record : segment.records) {
            add(heads, record.head);
            add(keys, record.key_place);
            add(metas, record.meta);
            add(sums, record.sums);
            add(bodies, record.body);
        }
        if (!segment.footer) continue;
        add(entries, segment.footer->entries_place);
        add(tails, segment.footer->tail);
    }
    return {{"header", headers}, {"segment head", segments}, {"record head", heads},      {"key", keys},         {"meta", metas},
            {"checksums", sums}, {"body", bodies},           {"footer entries", entries}, {"footer tail", tails}};
}

template <class T>
T DiskImage::get(std::uint64_t at) const {
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
}

std::uint64_t DiskImage::seed_of(std::uint64_t generation, std::uint64_t at) const {
    std::array<std::uint64_t, 3> const parts{header().id, generation, at};
    return XXH3_64bits(parts.data(), sizeof parts);
}

std::optional<DiskImage::Header> DiskImage::header_at(std::uint64_t at) const {
    if (view({at, 8}) != "GARNERDS") return std::nullopt;
    if (get<std::uint64_t>(at + 8) != sum_of(view({at + 16, header_copy - 16}), 0)) return std::nullopt;
    Header header;
    header.at = at;
    header.version = get<std::uint32_t>(at + 16);
    header.segment_bytes = get<std::uint32_t>(at + 20);
    header.segments = get<std::uint32_t>(at + 24);
    header.alignment = get<std::uint32_t>(at + 28);
    header.id = get<std::uint64_t>(at + 32);
    header.seed = get<std::uint64_t>(at + 40);
    header.epoch = get<std::uint64_t>(at + 48);
    header.least_generation = get<std::uint64_t>(at + 56);
    if (header.version != 3) return std::nullopt;
    return header;
}

DiskImage::Segment DiskImage::segment_at(std::uint32_t number) const {
    Segment segment;
    segment.number = number;
    segment.place = {header_area + std::uint64_t{number} * header().segment_bytes, header().segment_bytes};
    segment.head = {segment.place.at, head_bytes};
    auto const end = segment.place.at + segment.place.bytes;
    if (end > bytes_.size()) return segment;
    auto const at = segment.head.at;
    auto const generation = get<std::uint64_t>(at + 16);
    if (view({at, 8}) == std::string_view("SEGM\0\0\0\0", 8) &&
        get<std::uint64_t>(at + 8) == sum_of(view({at + 16, head_bytes - 16}), seed_of(generation, at)))
        segment.generation = generation, segment.wiped = get<std::uint64_t>(at + 32);
    segment.footer = footer_before(end);
    for (auto next = at + std::max<std::uint64_t>(head_bytes, header().alignment); next + record_bytes <= end;) {
        auto const record = record_at(next, end);
        next += record ? record->bytes() : unit;
        if (record) (record->generation == segment.generation ? segment.records : segment.left).push_back(*record);
    }
    return segment;
}

std::optional<DiskImage::Record> DiskImage::record_at(std::uint64_t at, std::uint64_t end) const {
    if (view({at, 4}) != "GREC") return std::nullopt;
    Record record;
    auto const word = get<std::uint32_t>(at + 4);
    record.kind = static_cast<Kind>(word & 15);
    record.freshness = word >> 4 & 7;
    record.in_pieces = word >> 7 & 1;
    record.hash = get<std::uint64_t>(at + 16);
    record.sequence = get<std::uint64_t>(at + 24);
    record.generation = get<std::uint64_t>(at + 32);
    std::uint64_t const body_bytes = get<std::uint32_t>(at + 44);
    auto const blocks = (body_bytes + block - 1) / block;
    auto behind = [](Place before, std::uint64_t bytes) { return Place{before.at + before.bytes, bytes}; };
    bool const has_first = record.kind == Kind::piece && at + record_bytes + first_bytes <= end;
    if (has_first) record.first = get<std::uint64_t>(at + record_bytes);
    record.head = {at, record_bytes + (record.kind == Kind::piece ? first_bytes : 0)};
    record.key_place = behind(record.head, word >> 8);
    record.meta = behind(record.key_place, get<std::uint32_t>(at + 40));
    record.sums = behind(record.meta, blocks * sum_bytes);
    record.body = behind(record.sums, body_bytes);
    auto const body_end = record.body.at + body_bytes;
    record.padding = {body_end, at + rounded(body_end - at, unit) - body_end};
    if (record.padding.at + record.padding.bytes > end) return std::nullopt;

    auto const seed = seed_of(record.generation, at);
    auto const checked = view({at + 16, record.body.at - at - 16});
    if (get<std::uint64_t>(at + 8) != sum_of(checked, seed ^ get<std::uint32_t>(at + 4))) return std::nullopt;
    record.key = view(record.key_place);
    record.good_body = true;
    for (std::uint64_t i = 0; i < blocks; ++i)
        record.good_body &=
            get<std::uint64_t>(record.sums.at + i * sum_bytes) == sum_of(view(record.body).substr(i * block, block), seed + i);
    return record;
}

std::optional<DiskImage::Footer> DiskImage::footer_before(std::uint64_t end) const {
    Footer footer;
    footer.tail = {end - tail_bytes, tail_bytes};
    auto const at = footer.tail.at;
    if (view({at, 8}) != std::string_view("FOOT\0\0\0\0", 8)) return std::nullopt;
    footer.generation = get<std::uint64_t>(at + 16);
    std::uint64_t const count = get<std::uint32_t>(at + 32), bytes = count * entry_bytes;
    if (bytes + tail_bytes + head_bytes > header().segment_bytes) return std::nullopt;
    footer.entries_place = {at - bytes, bytes};
    auto const sum = sum_of(view({at + 16, tail_bytes - 16}), sum_of(view(footer.entries_place), seed_of(footer.generation, end)));
    if (get<std::uint64_t>(at + 8) != sum) return std::nullopt;
    auto const start = end - header().segment_bytes;
    for (auto entry = footer.entries_place.at; entry < at; entry += entry_bytes)
        footer.entries.push_back({.hash = get<std::uint64_t>(entry),
                                  .at = start + get<std::uint32_t>(entry + 8) * unit,
                                  .bytes = (get<std::uint32_t>(entry + 12) >> 8) * static_cast<std::uint32_t>(unit),
                                  .kind = static_cast<Kind>(get<std::uint8_t>(entry + 12) & 15),
                                  .freshness = static_cast<std::uint8_t>(get<std::uint8_t>(entry + 12) >> 4 & 7),
                                  .in_pieces = get<std::uint8_t>(entry + 12) >= 128});
    return footer;
}

}   // namespace garner::test
