// The format of a disk store: records decode to their contents, and damaged, moved, old or truncated ones are detected.
#include "store/disk_format.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "store/format_bytes.hpp"
#include "support/disk_image.hpp"

namespace garner::store::disk {

bool operator==(FooterEntry const& a, FooterEntry const& b) {
    return a.hash == b.hash && a.offset == b.offset && a.bytes == b.bytes && a.kind == b.kind && a.freshness == b.freshness;
}

namespace {

// ---- header ----

StoreHeader some_header() {
    auto header = shape_of(100 * MiB);
    header.id = here.store;
    header.seed = 42;
    header.epoch = 3;
    header.least_generation = 9;
    return header;
}

TEST(DiskHeader, is_read_as_it_was_written) {
    auto const bytes = encode(some_header());
    ASSERT_EQ(bytes.size(), header_bytes);
    auto const read = decode_header(bytes + "what follows");
    ASSERT_TRUE(read.header);
    EXPECT_EQ(read.version, format_version);
    EXPECT_EQ(read.header->id, here.store);
    EXPECT_EQ(read.header->seed, 42u);
    EXPECT_EQ(read.header->epoch, 3u);
    EXPECT_EQ(read.header->least_generation, 9u);
    EXPECT_EQ(read.header->segment_bytes, some_header().segment_bytes);
    EXPECT_EQ(read.header->segments, some_header().segments);
    EXPECT_EQ(read.header->alignment, some_header().alignment);
}

TEST(DiskHeader, is_none_with_any_byte_changed_or_missing) {
    auto const bytes = encode(some_header());
    with_each_byte_changed(bytes, [](std::string_view changed, std::size_t at) {
        auto const read = decode_header(changed);
        EXPECT_FALSE(read.header) << at;
        EXPECT_EQ(read.version, 0u) << at;
    });
    for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode_header({bytes.data(), size}).header) << size;
    EXPECT_FALSE(decode_header(std::string(header_bytes, '\0')).header);
    EXPECT_FALSE(decode_header(bytes_of(header_bytes)).header);
}

std::string header_with(std::size_t at, std::string_view bytes) {
    auto changed = with(encode(some_header()), at, bytes);
    return with(changed, 8, as_bytes(fingerprint(std::string_view(changed).substr(16), 0)));
}

TEST(DiskHeader, of_another_version_says_which) {
    auto const read = decode_header(header_with(16, as_bytes(std::uint32_t{1})));
    EXPECT_FALSE(read.header);
    EXPECT_EQ(read.version, 1u);
}

TEST(DiskHeader, with_sizes_that_no_store_has_is_none) {
    for (std::uint32_t segment_bytes : {0u, 1u, 64u, 256u << 10, 3u << 20, 32u << 20, 0xffffffffu})
        EXPECT_FALSE(decode_header(header_with(20, as_bytes(segment_bytes))).header) << segment_bytes;
    EXPECT_FALSE(decode_header(header_with(24, as_bytes(std::uint32_t{0}))).header);
    for (std::uint32_t alignment : {0u, 8u, 24u, 128u << 10})
        EXPECT_FALSE(decode_header(header_with(28, as_bytes(alignment))).header) << alignment;
    auto large = shape_of(256 * GiB);
    ++large.segments;
    EXPECT_FALSE(decode_header(encode(large)).header) << "the offsets of the last records do not fit into an index entry";
}

TEST(DiskHeader, of_a_store_that_grows_keeps_its_alignment_and_grows_as_far_as_that_reaches) {
    auto const small = shape_of(10 * GiB);
    EXPECT_EQ(small.alignment, 16u);
    EXPECT_EQ(grown(small, 20 * GiB).segments, shape_of(20 * GiB).segments);
    auto const most = grown(small, 300 * GiB);
    EXPECT_EQ(most.alignment, 16u);
    EXPECT_LE(most.bytes(), 256 * GiB);
    EXPECT_GT(most.bytes(), 255 * GiB);
    EXPECT_TRUE(decode_header(encode(most)).header);
    EXPECT_EQ(grown(most, 1 * GiB).segments, most.segments) << "never smaller";
    auto const large = shape_of(300 * GiB);
    EXPECT_EQ(large.alignment, 32u);
    EXPECT_GT(grown(large, 500 * GiB).bytes(), 499 * GiB);
}

TEST(DiskHeader, has_a_shape_for_every_size_that_fits_in_it) {
    for (Bytes size = 2 * MiB; size <= Bytes{1} << 44; size += size / 7) {
        auto header = shape_of(size);
        EXPECT_LE(header.bytes(), size);
        EXPECT_GE(header.bytes() + header.segment_bytes + header_area, size) << "less than one segment is unused";
        RecordHead piece;
        piece.kind = RecordKind::piece;
        piece.body_bytes = static_cast<std::uint32_t>(header.piece_bytes());
        auto const room = Bytes{header.segment_bytes} - segment_head_bytes - footer_tail_bytes;
        auto const pieces = room / (piece.bytes() + footer_entry_bytes);
        auto const left = Bytes{header.segment_bytes} - segment_head_bytes - pieces * piece.bytes();
        EXPECT_GE(pieces, 8u);
        EXPECT_GT(left, Footer::footer_bytes(pieces + 8)) << "the footer also has room for heads";
        EXPECT_LT(left, header.segment_bytes / 60);
        EXPECT_EQ(header.start_of(header.segments), header.bytes());
        EXPECT_TRUE(decode_header(encode(header)).header) << size;
    }
    EXPECT_EQ(shape_of(0).segments, 0u);
    EXPECT_EQ(shape_of(header_area).segments, 0u);
    EXPECT_FALSE(decode_header(encode(shape_of(0))).header);
}

// ---- segment heads ----

std::string segment_head(Location place = here) {
    std::string bytes(segment_head_bytes, '#');
    encode(SegmentHead{place.generation, WallTime(milliseconds(1'700'000'000'123)), 3}, place,
           std::span<char, segment_head_bytes>(bytes.data(), segment_head_bytes));
    return bytes;
}

TEST(DiskSegment, head_is_read_as_it_was_written) {
    auto const head = decode_segment_head(segment_head(), here.store, here.offset);
    ASSERT_TRUE(head);
    EXPECT_EQ(head->generation, here.generation);
    EXPECT_EQ(head->wiped, 3u);
    EXPECT_EQ(head->opened, WallTime(milliseconds(1'700'000'000'123)));
}

TEST(DiskSegment, head_is_none_with_any_byte_changed_or_missing) {
    with_each_byte_changed(segment_head(), [](std::string_view changed, std::size_t at) {
        EXPECT_FALSE(decode_segment_head(changed, here.store, here.offset)) << at;
    });
    auto const bytes = segment_head();
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(decode_segment_head({bytes.data(), size}, here.store, here.offset)) << size;
}

TEST(DiskSegment, head_of_another_store_or_place_is_none) {
    EXPECT_FALSE(decode_segment_head(segment_head(), here.store + 1, here.offset));
    EXPECT_FALSE(decode_segment_head(segment_head(), here.store, here.offset + 16));
    EXPECT_FALSE(decode_segment_head(std::string(segment_head_bytes, '\0'), 0, 0));
}

// ---- records ----

struct Given {
    RecordKind kind = RecordKind::object;
    std::string key = "fhttp://example.com/";
    std::string meta = "meta of some kind";
    std::string text = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\n";
    std::vector<std::string> body = {"hello ", "", "world"};
    std::uint64_t hash = 0xfeedfacecafebeef;
    std::uint64_t sequence = 4711;

    Bytes first() const { return kind == RecordKind::piece ? 3 * piece_max : 0; }
    std::string whole_body() const {
        std::string whole;
        for (auto const& piece : body) whole += piece;
        return whole;
    }
};

std::string record(Given const& given, Location place = here) {
    std::vector<std::string_view> body(given.body.begin(), given.body.end());
    RecordParts parts{.head = {.kind = given.kind,
                               .freshness = 5,
                               .in_pieces = given.kind == RecordKind::object,
                               .hash = given.hash,
                               .sequence = given.sequence,
                               .first = given.first()},
                      .key = given.key,
                      .meta = given.meta,
                      .text = given.text,
                      .body = body};
    std::string bytes(parts.measure(), '#');
    EXPECT_EQ(bytes.size() % unit, 0u);
    encode(parts, place, {bytes.data(), bytes.size()});
    return bytes;
}

std::string record_of(std::string body) { return record({.body = {std::move(body)}}); }

void expect_same(Record const& record, Given const& given) {
    EXPECT_EQ(record.head.kind, given.kind);
    EXPECT_EQ(record.head.freshness, 5);
    EXPECT_EQ(record.head.hash, given.hash);
    EXPECT_EQ(record.head.sequence, given.sequence);
    EXPECT_EQ(record.head.first, given.first());
    EXPECT_EQ(record.key, given.key);
    EXPECT_EQ(record.meta, given.meta + given.text);
    EXPECT_TRUE(record.body == given.whole_body());
}

std::size_t body_end(std::string_view bytes) {
    auto const head = decode_head(bytes, here).record.head;
    return head.body_at() + head.body_bytes;
}

TEST(DiskRecord, is_read_as_it_was_written) {
    // clang-format off
    std::vector<Given> all{{}, {.kind = RecordKind::piece, .key = "", .meta = "", .text = ""},
                           {.kind = RecordKind::tombstone, .meta = "", .text = "", .body = {}}, {.body = {"", ""}}};
    // clang-format on
    for (Bytes size : {Bytes{1}, Bytes{15}, Bytes{16}, Bytes{17}, block - 1, block, block + 1, 3 * block, piece_max})
        all.push_back({.body = {bytes_of(size / 2), bytes_of(size - size / 2, 2)}});
    for (auto const& given : all) {
        SCOPED_TRACE(given.whole_body().size());
        auto const bytes = record(given);
        auto const alone = decode(bytes, here);
        EXPECT_EQ(alone.damage, Damage::none);
        expect_same(alone.record, given);
        auto const followed = bytes + bytes_of(1000);
        EXPECT_EQ(decode(followed, here).damage, Damage::none);
        expect_same(decode(followed, here).record, given);
        expect_same(decode_head(bytes, here).record, given);
    }
}

TEST(DiskRecord, with_any_byte_changed_is_damaged) {
    for (auto const& given : {Given{}, Given{.kind = RecordKind::tombstone, .meta = "", .text = "", .body = {}}}) {
        auto const bytes = record(given);
        auto const end = body_end(bytes);
        auto const body_at = decode_head(bytes, here).record.head.body_at();
        with_each_byte_changed(bytes, [&](std::string_view changed, std::size_t at) {
            auto const damage = decode(changed, here).damage;
            EXPECT_EQ(damage == Damage::none, at >= end) << at << ": only a change of the padding is not detected";
            EXPECT_EQ(damage == Damage::body, at >= body_at && at < end) << at;
            EXPECT_EQ(decode_head(changed, here).damage == Damage::none, at >= body_at) << at;
        });
    }
}

TEST(DiskRecord, of_several_blocks_with_any_byte_changed_is_damaged) {
    auto const bytes = record_of(bytes_of(2 * block + 5000));
    auto const end = body_end(bytes);
    auto const found_out = [&](std::string_view changed, std::size_t at) {
        if (at < end) EXPECT_NE(decode(changed, here).damage, Damage::none) << at;
    };
    with_each_byte_changed(bytes, found_out, 487);
    for (auto const at : {block - 1, block, 2 * block - 1, 2 * block, 2 * block + 4999}) {
        auto const place = end - 2 * block - 5000 + at;
        found_out(with(bytes, place, std::string(1, static_cast<char>(bytes[place] ^ 4))), place);
    }
}

TEST(DiskRecord, cut_anywhere_is_not_good_and_says_how_long_it_is_once_its_head_is_there) {
    auto const bytes = record({});
    auto const body_at = decode_head(bytes, here).record.head.body_at();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        std::string const cut = bytes.substr(0, size);
        auto const read = decode(cut, here);
        EXPECT_EQ(read.damage, size < record_head_bytes ? Damage::another : Damage::cut) << size;
        if (size >= record_head_bytes) EXPECT_EQ(read.record.head.bytes(), bytes.size());
        EXPECT_TRUE(read.record.body.empty()) << size;
        if (size >= body_at) EXPECT_EQ(decode_head(cut, here).record.key, Given{}.key);
    }
}

TEST(DiskRecord, zeroed_from_anywhere_on_is_not_good) {
    auto const bytes = record_of(bytes_of(1000));
    for (std::size_t from = 0; from < body_end(bytes); ++from)
        EXPECT_NE(decode(bytes.substr(0, from) + std::string(bytes.size() - from, '\0'), here).damage, Damage::none) << from;
}

TEST(DiskRecord, of_another_store_place_or_generation_is_none_here) {
    auto const good = [](Location written) { return decode(record({}, written), here).damage == Damage::none; };
    EXPECT_TRUE(good(here));
    auto other = here;
    other.store += 1;
    EXPECT_FALSE(good(other));
    other = here;
    other.offset += unit;
    EXPECT_FALSE(good(other));
    other = here;
    other.generation -= 1;
    EXPECT_EQ(decode(record({}, other), here).damage, Damage::another) << "a record of an earlier generation is no damage";
    auto renamed = with(record({}, other), 32, as_bytes(here.generation));
    EXPECT_EQ(decode(renamed, here).damage, Damage::head);
}

TEST(DiskRecord, whose_parts_come_from_another_is_damaged) {
    auto const one = record({.body = {bytes_of(block + 100, 1)}});
    auto const two = record({.body = {bytes_of(block + 100, 2)}, .sequence = 4712});
    auto const body_at = decode_head(one, here).record.head.body_at();
    auto const table_at = body_at - 2 * sizeof(std::uint64_t);
    ASSERT_EQ(one.size(), two.size());
    for (auto const at : {record_head_bytes, table_at, body_at, body_at + block}) {
        auto const mixed = one.substr(0, at) + two.substr(at);
        EXPECT_NE(decode(mixed, here).damage, Damage::none) << at;
    }
    auto const blocks_swapped = record_of(bytes_of(block, 1) + bytes_of(block, 2));
    auto const at = decode_head(blocks_swapped, here).record.head.body_at();
    auto const swapped =
        with(with(blocks_swapped, at, blocks_swapped.substr(at + block, block)), at + block, blocks_swapped.substr(at, block));
    EXPECT_EQ(decode(swapped, here).damage, Damage::body);
}

TEST(DiskRecord, pieces_swapped_within_a_segment_are_damaged) {
    auto second = here;
    second.offset += 8192;
    auto const one = record({.hash = 1}, here), two = record({.hash = 2}, second);
    EXPECT_EQ(decode(two, here).damage, Damage::head);
    EXPECT_EQ(decode(one, second).damage, Damage::head);
}

TEST(DiskRecord, with_sizes_that_lie_is_never_read_beyond_its_bytes) {
    std::mt19937 random(1);
    std::uint32_t const sizes[] = {0, 1, 47, 48, 49, 4096, 65'536, 262'144, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff};
    auto const bytes = record({});
    for (auto const key : {0u, 1u, 47u, 48u, 49u, 4096u, 65'536u, 262'144u, 0x7fffffu, 0x800000u, 0xfffff0u, 0xffffffu})
        for (auto const meta : sizes)
            for (auto const body : sizes) {
                auto const lies = with(with(bytes, 4, as_bytes(key << 8 | 0x51)), 40, as_bytes(meta) + as_bytes(body));
                if (lies == bytes) continue;
                // The checksum matches, but the sizes are wrong.
                auto read = decode_head(lies, here);
                auto const until_body = read.record.head.body_at();
                EXPECT_NE(read.damage, Damage::none);
                if (until_body > lies.size()) {
                    EXPECT_EQ(read.damage, Damage::cut);
                    continue;
                }
                std::uint64_t const place[] = {here.store, here.generation, here.offset};
                auto const seed = XXH3_64bits(place, sizeof place) ^ (key << 8 | 0x51);
                auto const fits = with(lies, 8, as_bytes(fingerprint({lies.data() + 16, until_body - 16}, seed)));
                read = decode(fits, here);
                EXPECT_NE(read.damage, Damage::head);
                EXPECT_EQ(read.record.key.size(), key);
                EXPECT_EQ(read.record.meta.size(), meta);
                if (read.record.head.bytes() > fits.size()) {
                    EXPECT_EQ(read.damage, Damage::cut);
                    EXPECT_TRUE(read.record.body.empty());
                }
            }
}

TEST(DiskRecord, is_never_found_in_bytes_of_chance) {
    auto const bytes = bytes_of(100'000);
    auto const good = record({});
    std::mt19937 random(7);
    for (std::size_t at = 0; at + 200 < bytes.size(); at += 16) {
        EXPECT_EQ(decode({bytes.data() + at, 200}, here).damage, Damage::another);
        auto const begins_well = good.substr(0, random() % body_end(good)) + bytes.substr(at, 200);
        EXPECT_NE(decode(begins_well, here).damage, Damage::none) << at;
    }
}

// ---- footers ----

Footer some_footer(std::size_t entries) {
    Footer footer{here.generation, WallTime(milliseconds(1'700'000'000'789)), {}};
    for (std::size_t i = 0; i < entries; ++i)
        footer.entries.push_back({.hash = i * 0x9e3779b97f4a7c15,
                                  .offset = static_cast<std::uint32_t>(4 + i * 7),
                                  .bytes = static_cast<std::uint32_t>(64 + 16 * i),
                                  .kind = static_cast<RecordKind>(1 + i % 3),
                                  .freshness = static_cast<std::uint8_t>(i % 8)});
    return footer;
}

FooterRead read_footer(std::string_view bytes) { return decode_footer(bytes, here.store, here.offset); }

TEST(DiskFooter, is_read_as_it_was_written) {
    for (std::size_t entries : {0u, 1u, 2u, 1000u}) {
        auto const bytes = encode(some_footer(entries), here);
        EXPECT_EQ(bytes.size(), Footer::footer_bytes(entries));
        for (auto const& before : {std::string(), bytes_of(500)}) {
            auto const read = read_footer(before + bytes);
            ASSERT_TRUE(read.footer) << entries;
            EXPECT_EQ(read.footer->generation, here.generation);
            EXPECT_EQ(read.footer->opened, some_footer(0).opened);
            EXPECT_EQ(read.footer->entries, some_footer(entries).entries);
        }
    }
}

TEST(DiskFooter, with_any_byte_changed_is_none) {
    for (std::size_t entries : {0u, 20u})
        with_each_byte_changed(encode(some_footer(entries), here),
                               [](std::string_view changed, std::size_t at) { EXPECT_FALSE(read_footer(changed).footer) << at; });
}

TEST(DiskFooter, of_which_a_part_is_there_says_how_much_is_needed) {
    auto const bytes = encode(some_footer(20), here);
    for (std::size_t missing = 1; missing <= bytes.size(); ++missing) {
        std::string const rest = bytes.substr(missing);
        auto const read = read_footer(rest);
        EXPECT_FALSE(read.footer) << missing;
        EXPECT_EQ(read.needed, rest.size() >= footer_tail_bytes ? bytes.size() : 0u) << missing;
    }
    for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(read_footer(bytes.substr(0, size)).footer) << size;
}

TEST(DiskFooter, of_another_store_place_or_generation_is_none) {
    auto const bytes = encode(some_footer(5), here);
    EXPECT_TRUE(decode_footer(bytes, here.store, here.offset).footer);
    EXPECT_FALSE(decode_footer(bytes, here.store + 1, here.offset).footer);
    EXPECT_FALSE(decode_footer(bytes, here.store, here.offset + MiB).footer);
    auto const tail_at = bytes.size() - footer_tail_bytes;
    EXPECT_FALSE(read_footer(with(bytes, tail_at + 16, as_bytes(here.generation + 1))).footer);
}

TEST(DiskFooter, with_a_number_of_entries_that_lies_is_never_read_beyond_its_bytes) {
    auto const bytes = encode(some_footer(5), here);
    for (std::uint32_t count : {0u, 1u, 4u, 6u, 1000u, 0x10000001u, 0x7fffffffu, 0xffffffffu}) {
        auto const read = read_footer(with(bytes, bytes.size() - footer_tail_bytes + 32, as_bytes(count)));
        EXPECT_FALSE(read.footer) << count;
        EXPECT_EQ(read.needed, Footer::footer_bytes(count)) << count;
    }
}

TEST(DiskFooter, whose_entries_were_swapped_is_none) {
    auto const bytes = encode(some_footer(2), here);
    auto const swapped = bytes.substr(footer_entry_bytes, footer_entry_bytes) + bytes.substr(0, footer_entry_bytes) +
                         bytes.substr(2 * footer_entry_bytes);
    EXPECT_FALSE(read_footer(swapped).footer);
}

// ---- freshness and hashes ----

TEST(DiskFreshness, in_three_bits_never_promises_more_than_there_is) {
    for (std::int64_t left = -1000; left < 40 * 24 * 3600; left += left < 5000 ? 1 : 997) {
        auto const bits = Freshness::of(left);
        EXPECT_LT(bits, 8);
        EXPECT_LE(Freshness::seconds(bits), std::max<std::int64_t>(left, 0)) << left;
        EXPECT_GE(Freshness::seconds(bits) * 24 + 60, std::min<std::int64_t>(left, 24 * 3600))
            << left << ": the rounded value is not far below";
    }
    EXPECT_EQ(Freshness::of(INT64_MAX), 7);
    EXPECT_EQ(Freshness::of(INT64_MIN), 0);
    for (unsigned bits = 0; bits < 256; ++bits) EXPECT_LE(Freshness::seconds(static_cast<std::uint8_t>(bits)), 30 * 24 * 3600);
}

TEST(DiskHash, of_pieces_and_keys_are_all_different) {
    std::vector<Fingerprint> all;
    for (std::uint64_t body = 1; body <= 100; ++body)
        for (Bytes piece = 0; piece < 20; ++piece) all.push_back(hash_of_piece(body, piece * piece_max, 42));
    for (int key = 0; key < 1000; ++key) all.push_back(hash_of("key" + std::to_string(key), 42));
    std::uint64_t const parts[] = {1, 0};
    all.push_back(hash_of({reinterpret_cast<char const*>(parts), sizeof parts}, 42));
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
    EXPECT_NE(hash_of("key", 1), hash_of("key", 2));
    EXPECT_NE(hash_of_piece(1, 0, 1), hash_of_piece(1, 0, 2));
}

// ---- equal bytes by the reference document ----

TEST(DiskStoreBytes, are_what_the_document_says_to_a_reader_that_knows_nothing_else) {
    auto header = shape_of(2 * MiB);
    header.id = here.store;
    std::string file(header.bytes(), '\0');
    auto newer = header;
    newer.epoch = 1;
    file = with(with(file, 0, encode(header)), header_bytes, encode(newer));

    Footer footer{7, WallTime(milliseconds(5)), {}};
    auto const start = header.start_of(1);
    Location place{header.id, footer.generation, start};
    file = with(file, start, segment_head(place));
    std::vector<Given> const all{{.hash = 1},
                                 {.kind = RecordKind::piece, .key = "", .body = {bytes_of(100'000)}, .hash = 2},
                                 {.kind = RecordKind::tombstone, .body = {}, .hash = 3}};
    place.offset += segment_head_bytes;
    for (auto const& given : all) {
        auto const bytes = record(given, place);
        file = with(file, place.offset, bytes);
        footer.entries.push_back({.hash = given.hash,
                                  .offset = static_cast<std::uint32_t>((place.offset - start) / unit),
                                  .bytes = static_cast<std::uint32_t>(bytes.size()),
                                  .kind = given.kind,
                                  .freshness = 5,
                                  .in_pieces = given.kind == RecordKind::object});
        place.offset += bytes.size();
    }
    auto const left = record({.hash = 4}, Location{header.id, 3, place.offset});
    file = with(file, place.offset, left);
    auto const end = header.start_of(2);
    file = with(file, end - footer.bytes(), encode(footer, Location{header.id, footer.generation, end}));

    auto const image = test::DiskImage::of(file);
    ASSERT_EQ(image.headers().size(), 2u);
    EXPECT_EQ(image.header().epoch, 1u);
    EXPECT_EQ(image.header().id, header.id);
    EXPECT_EQ(image.header().alignment, 16u);
    ASSERT_EQ(image.segments().size(), header.segments);
    EXPECT_EQ(image.segments()[0].generation, 0u);
    auto const& segment = image.segments()[1];
    EXPECT_EQ(segment.generation, 7u);
    EXPECT_EQ(segment.wiped, 3u);
    ASSERT_EQ(segment.records.size(), all.size());
    ASSERT_EQ(segment.left.size(), 1u);
    EXPECT_EQ(segment.left[0].hash, 4u);
    ASSERT_TRUE(segment.footer);
    ASSERT_EQ(segment.footer->entries.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto const& found = segment.records[i];
        EXPECT_TRUE(found.good_body);
        EXPECT_EQ(found.key, all[i].key);
        EXPECT_EQ(static_cast<int>(found.kind), static_cast<int>(all[i].kind));
        EXPECT_EQ(found.hash, all[i].hash);
        EXPECT_EQ(found.freshness, 5);
        EXPECT_EQ(found.in_pieces, all[i].kind == RecordKind::object);
        EXPECT_EQ(file.substr(found.body.at, found.body.bytes), all[i].whole_body());
        EXPECT_EQ(segment.footer->entries[i].hash, all[i].hash);
        EXPECT_EQ(segment.footer->entries[i].at, found.at());
        EXPECT_EQ(segment.footer->entries[i].bytes, found.bytes());
        EXPECT_EQ(segment.footer->entries[i].freshness, 5);
        EXPECT_EQ(segment.footer->entries[i].in_pieces, all[i].kind == RecordKind::object);
    }
}

}   // namespace
}   // namespace garner::store::disk
