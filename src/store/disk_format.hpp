// The bytes of a disk store: header, segments, records, footers; docs/formats/disk_store.md tells the same in words.
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

/// Pure: no file is touched here. All numbers are little-endian. Every structure carries an XXH3 checksum of 64 bits, seeded
/// with the place it was written for: what was moved, swapped or left from an earlier round does not pass for good.
namespace garner::store::disk {

inline constexpr std::uint32_t format_version = 3;
inline constexpr Bytes header_bytes = 4 * KiB;     // of one copy; there are two, the newer good one counts
inline constexpr Bytes header_area = 64 * KiB;     // before the first segment
inline constexpr Bytes unit = 16;                  // records begin at multiples of it, in large stores of more
inline constexpr Bytes block = 64 * KiB;           // of a body, each with its own checksum
inline constexpr Bytes piece_max = 127 * KiB;      // see StoreHeader::piece_bytes()
inline constexpr Bytes segment_head_bytes = 64;
inline constexpr Bytes record_head_bytes = 48;
inline constexpr Bytes footer_entry_bytes = 16;
inline constexpr Bytes footer_tail_bytes = 64;     // at the very end of a segment, behind its entries

struct StoreHeader {
    std::uint64_t id = 0;                 // random; of this store alone
    std::uint64_t seed = 0;               // of the hashes of keys
    std::uint64_t epoch = 0;              // unix seconds of the start; greater with every one, whatever the clock says
    std::uint64_t least_generation = 0;   // what older segments hold is void
    std::uint32_t segment_bytes = 0;
    std::uint32_t segments = 0;
    std::uint32_t alignment = 0;          // records begin at multiples of it: settled when the store is made

    Bytes bytes() const { return header_area + Bytes{segments} * segment_bytes; }
    /// Longer bodies lie in records of so many bytes: eight or more fill a segment, and leave room for the heads and the footer.
    Bytes piece_bytes() const { return std::min(Bytes{segment_bytes} / 8 - KiB, piece_max); }
    Bytes start_of(std::uint32_t segment) const { return header_area + Bytes{segment} * segment_bytes; }
};
std::string encode(StoreHeader const&);                    // header_bytes long
struct HeaderRead {
    std::optional<StoreHeader> header;
    std::uint32_t version = 0;            // of what looks like a header; 0: nothing does
};
HeaderRead decode_header(std::string_view bytes);
/// The sizes for a store of about `size` bytes, up to 1 PiB: segments of 512 KiB to 16 MiB.
StoreHeader shape_of(Bytes size);
/// The same store with as many segments more as `size` has room for, and its alignment lets the index tell apart.
StoreHeader grown(StoreHeader, Bytes size);

/// Where a structure stands: seeds its checksum.
struct Location {
    std::uint64_t store = 0;              // StoreHeader::id
    std::uint64_t generation = 0;         // of the segment: each time one is written anew there is a new number
    Bytes offset = 0;                     // in the file
};

struct SegmentHead {
    std::uint64_t generation = 0;         // 0: there is nothing in it any more
    WallTime opened{};
    std::uint64_t wiped = 0;              // segments up to this generation hold nothing, whatever their own heads say
};
void encode(SegmentHead const&, Location, std::span<char, segment_head_bytes> into);
std::optional<SegmentHead> decode_segment_head(std::string_view bytes, std::uint64_t store, Bytes offset);

enum class RecordKind : std::uint8_t {
    object = 1,      // head and body of a response, or its head alone where the body lies in pieces
    piece = 2,       // of a body
    tombstone = 3,   // nothing older under this hash is there any more
    filler = 4       // nothing: its room was taken, and then not needed
};

struct RecordHead {
    RecordKind kind = RecordKind::object;
    std::uint8_t freshness = 0;           // see Freshness
    bool in_pieces = false;               // of an object: its body lies in others
    std::uint64_t hash = 0;
    std::uint64_t sequence = 0;           // store::Object's; of pieces the number of their body
    std::uint32_t key_bytes = 0;          // below 16 MiB
    std::uint32_t meta_bytes = 0;         // ObjectMeta and head text
    std::uint32_t body_bytes = 0;         // in this record
    Bytes first = 0;                      // of pieces alone: where in the body their first byte belongs

    Bytes blocks() const { return (body_bytes + block - 1) / block; }
    Bytes key_at() const { return record_head_bytes + (kind == RecordKind::piece ? sizeof first : 0); }
    Bytes body_at() const { return key_at() + key_bytes + meta_bytes + blocks() * sizeof(std::uint64_t); }
    /// Padding included.
    Bytes bytes() const { return (body_at() + body_bytes + unit - 1) / unit * unit; }
};

/// A record to be written; the views are borrowed. `body` is in pieces that follow each other.
struct RecordParts {
    RecordHead head;                      // its sizes are filled in by measure()
    std::string_view key;
    std::string_view meta;
    std::string_view text;                // follows meta: the stored head
    std::span<std::string_view const> body;

    /// Sets the sizes in `head`; returns the bytes that encode() will write.
    Bytes measure();
};
/// `into` has exactly head.bytes().
void encode(RecordParts const&, Location, std::span<char> into);

/// A record that was read; views into its bytes.
struct Record {
    RecordHead head;
    std::string_view key;
    std::string_view meta;                // with the stored head
    std::string_view body;
};
enum class Damage : std::uint8_t {
    none,
    another,    // no record of this place and generation begins here: it was written over
    cut,        // it is longer than what was read
    head,       // the checksum of its head, key or meta does not fit
    body        // that of a block of its body
};
struct RecordRead {
    Record record;
    Damage damage = Damage::none;
};
/// Checks all but the body; `bytes` may go on behind the record. With `cut` the head has the sizes that stand there: where
/// they go on behind the end of `bytes` before the body begins, nothing was checked yet, and they may be anything.
RecordRead decode_head(std::string_view bytes, Location);
/// What a record that begins here would have for its generation, unchecked; 0: none begins here.
std::uint64_t generation_said(std::string_view bytes);
/// Checks the body, too.
RecordRead decode(std::string_view bytes, Location);

/// What an object's record says beside its text.
struct ObjectMeta {
    /// Bytes of the object's body that lie in pieces of one number: from `origin` on, each of StoreHeader::piece_bytes() but the last.
    struct Span {
        Bytes first = 0;
        Bytes last = 0;                   // included
        std::uint64_t body = 0;
        Bytes origin = 0;                 // where in the object's body the first byte of its first piece belongs
    };
    Object::Kind kind = Object::Kind::response;
    std::uint16_t status = 200;
    http::Terms terms;
    IpAddress source;
    std::uint64_t body = 0;               // the number of the body whose pieces have it; 0: it is in the record
    Bytes length = 0;                     // of the whole body
    std::vector<Span> spans;              // where `body` alone does not have it all, from its beginning: what is there of it
};
std::string encode(ObjectMeta const&);
/// Whether what encode() made of one, and perhaps more behind it, says that its body lies in pieces.
bool says_in_pieces(std::string_view meta);
/// Takes the meta off `bytes`, so that the head's text is left.
std::optional<ObjectMeta> decode_meta(std::string_view& bytes);

struct FooterEntry {
    std::uint64_t hash = 0;
    std::uint32_t offset = 0;             // of the record in its segment, in units
    std::uint32_t bytes = 0;              // of the record: a multiple of units
    RecordKind kind = RecordKind::object;
    std::uint8_t freshness = 0;
    bool in_pieces = false;
};
struct Footer {
    std::uint64_t generation = 0;
    WallTime opened{};
    std::vector<FooterEntry> entries;     // in the order of the log
    Bytes bytes() const { return footer_bytes(entries.size()); }
    static Bytes footer_bytes(std::size_t entries) { return entries * footer_entry_bytes + footer_tail_bytes; }
};
/// For the end of a segment: `place.offset` is where the segment ends.
std::string encode(Footer const&, Location);
/// `bytes` end where the segment does. When the entries are not all there, `needed` says how many bytes to come with; it is
/// not checked then: what is longer than a segment is no footer.
struct FooterRead {
    std::optional<Footer> footer;
    Bytes needed = 0;
};
FooterRead decode_footer(std::string_view bytes, std::uint64_t store, Bytes segment_end);

/// How long an object is fresh, in three bits, counted from when its segment was opened: what the index can promise
/// without the disk. Rounded down, so that it never promises too much.
struct Freshness {
    static std::uint8_t of(std::int64_t seconds_left);
    static std::int64_t seconds(std::uint8_t freshness);
};

/// Of an object by its key's text, and of one piece of a body.
Fingerprint hash_of(std::string_view key, std::uint64_t seed);
Fingerprint hash_of_piece(std::uint64_t body, Bytes first, std::uint64_t seed);

}  // namespace garner::store::disk
