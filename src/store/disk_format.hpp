// The on-disk format of a disk store: header, segments, records, footers. It is described in
// docs/reference/disk-store-format.md.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/object.hpp"
#include "util/bytes.hpp"
#include "util/hash.hpp"

/// Pure functions without file access. All numbers are little-endian. Every structure has a 64-bit XXH3 checksum,
/// seeded with its location: moved, swapped or outdated bytes fail verification.
namespace garner::store::disk {

inline constexpr std::uint32_t format_version = 3;
inline constexpr Bytes header_bytes = 4 * KiB;   // one of two copies; the newer valid one is used
inline constexpr Bytes header_area = 64 * KiB;   // before the first segment
inline constexpr Bytes unit = 16;                // records begin at multiples of it; in large stores at multiples of a larger
                                                 // alignment
inline constexpr Bytes block = 64 * KiB;         // part of a body with a checksum of its own
inline constexpr Bytes piece_max = 127 * KiB;    // see StoreHeader::piece_bytes()
inline constexpr Bytes segment_head_bytes = 64;
inline constexpr Bytes record_head_bytes = 48;
inline constexpr Bytes footer_entry_bytes = 16;
inline constexpr Bytes footer_tail_bytes = 64;   // at the very end of a segment, after its entries

struct StoreHeader {
    std::uint64_t id = 0;                 // random; identifies this store
    std::uint64_t seed = 0;               // seed of the key hashes
    std::uint64_t epoch = 0;              // unix seconds of the start; increases with every start, whatever the clock says
    std::uint64_t least_generation = 0;   // segments of older generations are invalid
    std::uint32_t segment_bytes = 0;
    std::uint32_t segments = 0;
    std::uint32_t alignment = 0;   // records begin at multiples of it; fixed when the store is created

    Bytes bytes() const { return header_area + Bytes{segments} * segment_bytes; }
    /// Longer bodies are split into records of this many bytes: at least eight fill a segment, with room for heads
    /// and footer.
    Bytes piece_bytes() const { return std::min(Bytes{segment_bytes} / 8 - KiB, piece_max); }
    Bytes start_of(std::uint32_t segment) const { return header_area + Bytes{segment} * segment_bytes; }
};
std::string encode(StoreHeader const&);   // header_bytes long
struct HeaderRead {
    std::optional<StoreHeader> header;
    std::uint32_t version = 0;   // set if magic and checksum are valid; 0: not a store
};
HeaderRead decode_header(std::string_view bytes);
/// The layout for a store of about `size` bytes, up to 1 PiB: segments of 512 KiB to 16 MiB.
StoreHeader shape_of(Bytes size);
/// The store with as many more segments as fit into `size`, limited by the largest store that its alignment can
/// address.
StoreHeader grown(StoreHeader, Bytes size);

/// The location of a structure; seeds its checksum.
struct Location {
    std::uint64_t store = 0;        // StoreHeader::id
    std::uint64_t generation = 0;   // of the segment: each new use of a segment gets a new number
    Bytes offset = 0;               // in the file
};

struct SegmentHead {
    std::uint64_t generation = 0;   // 0: the segment is empty
    WallTime opened{};
    std::uint64_t wiped = 0;   // segments up to this generation are empty, whatever their own heads say
};
void encode(SegmentHead const&, Location, std::span<char, segment_head_bytes> into);
std::optional<SegmentHead> decode_segment_head(std::string_view bytes, std::uint64_t store, Bytes offset);

enum class RecordKind : std::uint8_t {
    object = 1,      // head and body of a response, or its head alone if the body is in pieces
    piece = 2,       // piece of a body
    tombstone = 3,   // older records of this hash are invalid
    filler = 4       // no content: reserved and then not needed
};

struct RecordHead {
    RecordKind kind = RecordKind::object;
    std::uint8_t freshness = 0;   // see Freshness
    bool in_pieces = false;       // objects only: the body is in piece records
    std::uint64_t hash = 0;
    std::uint64_t sequence = 0;     // objects: store::Object's; pieces: their body number
    std::uint32_t key_bytes = 0;    // below 16 MiB
    std::uint32_t meta_bytes = 0;   // ObjectMeta and head text
    std::uint32_t body_bytes = 0;   // in this record
    Bytes first = 0;                // pieces only: body offset of their first byte

    Bytes blocks() const { return (body_bytes + block - 1) / block; }
    Bytes key_at() const { return record_head_bytes + (kind == RecordKind::piece ? sizeof first : 0); }
    Bytes body_at() const { return key_at() + key_bytes + meta_bytes + blocks() * sizeof(std::uint64_t); }
    /// Including padding.
    Bytes bytes() const { return (body_at() + body_bytes + unit - 1) / unit * unit; }
};

/// A record to be written; the views are borrowed. `body` is a list of consecutive pieces.
struct RecordParts {
    RecordHead head;   // its sizes are filled in by measure()
    std::string_view key;
    std::string_view meta;
    std::string_view text;   // the stored head; written after meta
    std::span<std::string_view const> body;

    /// Sets the sizes in `head`; returns the size that encode() will write.
    Bytes measure();
};
/// `into` has exactly head.bytes().
void encode(RecordParts const&, Location, std::span<char> into);

/// A record that was read; views into its bytes.
struct Record {
    RecordHead head;
    std::string_view key;
    std::string_view meta;   // including the stored head
    std::string_view body;
};
enum class Damage : std::uint8_t {
    none,
    another,   // no record of this place and generation begins here: it was overwritten
    cut,       // longer than the bytes that were read
    head,      // wrong checksum of head, key or meta
    body       // wrong checksum of a block of the body
};
struct RecordRead {
    Record record;
    Damage damage = Damage::none;
};
/// Verifies all but the body; `bytes` may extend beyond the record. With `cut`, the head contains the stored sizes.
/// If they exceed `bytes` before the body begins, the sizes are unverified and may have any value.
RecordRead decode_head(std::string_view bytes, Location);
/// The unverified generation of a record that begins here; 0: no record begins here.
std::uint64_t generation_said(std::string_view bytes);
/// Verifies the body, too.
RecordRead decode(std::string_view bytes, Location);

/// The metadata in an object's record, stored before the head text.
struct ObjectMeta {
    /// Bytes of the object's body stored in the pieces of one body number: from `origin` on, pieces of
    /// StoreHeader::piece_bytes(), the last one shorter.
    struct Span {
        Bytes first = 0;
        Bytes last = 0;   // inclusive
        std::uint64_t body = 0;
        Bytes origin = 0;   // offset in the object's body of the first byte of the first piece
    };
    Object::Kind kind = Object::Kind::response;
    std::uint16_t status = 200;
    http::Terms terms;
    IpAddress source;
    std::uint64_t body = 0;    // the number of the body in pieces; 0: the body is in this record
    Bytes length = 0;          // length of the whole body
    std::vector<Span> spans;   // ranges that exist, if `body` alone does not cover the whole body from its beginning
};
std::string encode(ObjectMeta const&);
/// Whether encoded meta, perhaps followed by other bytes, describes a body in pieces.
bool says_in_pieces(std::string_view meta);
/// Removes the meta from the front of `bytes`, so that the head text remains.
std::optional<ObjectMeta> decode_meta(std::string_view& bytes);

struct FooterEntry {
    std::uint64_t hash = 0;
    std::uint32_t offset = 0;   // record's offset in its segment, in units
    std::uint32_t bytes = 0;    // size of the record: a multiple of unit
    RecordKind kind = RecordKind::object;
    std::uint8_t freshness = 0;
    bool in_pieces = false;
};
struct Footer {
    std::uint64_t generation = 0;
    WallTime opened{};
    std::vector<FooterEntry> entries;   // in log order
    Bytes bytes() const { return footer_bytes(entries.size()); }
    static Bytes footer_bytes(std::size_t entries) { return entries * footer_entry_bytes + footer_tail_bytes; }
};
/// Encodes the end of a segment: `place.offset` is the segment's end.
std::string encode(Footer const&, Location);
/// Decodes the footer from `bytes` that end with the segment. If entries are missing, `needed` is the number of bytes
/// to read. It is unverified: a value larger than a segment means that there is no footer.
struct FooterRead {
    std::optional<Footer> footer;
    Bytes needed = 0;
};
FooterRead decode_footer(std::string_view bytes, std::uint64_t store, Bytes segment_end);

/// Remaining freshness of an object in three bits, counted from the opening time of its segment. The index can answer
/// with it without a disk read. Rounded down, so that it never promises too much.
struct Freshness {
    static std::uint8_t of(std::int64_t seconds_left);
    static std::int64_t seconds(std::uint8_t freshness);
};

/// The hash of an object's key, and the hash of one piece of a body.
Fingerprint hash_of(std::string_view key, std::uint64_t seed);
Fingerprint hash_of_piece(std::uint64_t body, Bytes first, std::uint64_t seed);

}   // namespace garner::store::disk
