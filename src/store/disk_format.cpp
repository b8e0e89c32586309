#include "store/disk_format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "store/disk_index.hpp"
#include "util/copy_out.hpp"
#include "util/hash_long.hpp"

namespace garner::store::disk {

namespace {

static_assert(std::endian::native == std::endian::little, "the bytes on disk are those of memory");

constexpr std::array<char, 8> store_magic{'G', 'A', 'R', 'N', 'E', 'R', 'D', 'S'};
constexpr std::uint64_t segment_magic = 0x4d474553;   // "SEGM" and four zeros
constexpr std::uint64_t footer_magic = 0x544f4f46;    // "FOOT" and four zeros
constexpr std::uint32_t record_magic = 0x43455247;    // "GREC"

template <class T>
void put(char* at, T value) {
    std::memcpy(at, &value, sizeof value);
}

template <class T>
T get(char const* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

std::uint64_t seed_of(Location const& place) {
    std::array<std::uint64_t, 3> const parts{place.store, place.generation, place.offset};
    return XXH3_64bits(parts.data(), sizeof parts);
}

constexpr std::size_t long_text = 2 * KiB;   // below this length, hash_long costs more than it saves

std::uint64_t check_of(std::string_view bytes, std::uint64_t seed) {
    return bytes.size() < long_text ? fingerprint(bytes, seed) : hash_long(bytes, seed);
}

// Every structure begins with eight identifying bytes and a checksum of the bytes from checked_from on.
constexpr Bytes check_at = 8, checked_from = 16;

}   // namespace

// ---- the store's header ----
// 0 magic[8], 8 check, 16 version, 20 segment_bytes, 24 segments, 28 alignment, 32 id, 40 seed, 48 epoch, 56 least_generation

namespace {

constexpr Bytes segment_least = 512 * KiB, segment_most = 16 * MiB;   // a record of record_max must fit

constexpr Bytes store_most = Bytes{1} << 50;
constexpr std::uint32_t alignment_most = header_area;   // segments begin at multiples of it

/// A shape that shape_of() or grown() can produce. Other values would break divisions and overflow sums.
bool is_shape(StoreHeader const& header) {
    return header.segments > 0 && std::has_single_bit(header.segment_bytes) && header.segment_bytes >= segment_least &&
           header.segment_bytes <= segment_most && std::has_single_bit(header.alignment) && header.alignment >= unit &&
           header.alignment <= alignment_most && header.bytes() <= Index::store_max(header.alignment);
}

}   // namespace

std::string encode(StoreHeader const& header) {
    std::string bytes(header_bytes, '\0');
    auto* at = bytes.data();
    std::memcpy(at, store_magic.data(), store_magic.size());
    put(at + 16, format_version);
    put(at + 20, header.segment_bytes);
    put(at + 24, header.segments);
    put(at + 28, header.alignment);
    put(at + 32, header.id);
    put(at + 40, header.seed);
    put(at + 48, header.epoch);
    put(at + 56, header.least_generation);
    put(at + check_at, check_of(std::string_view(bytes).substr(checked_from), 0));
    return bytes;
}

HeaderRead decode_header(std::string_view bytes) {
    HeaderRead read;
    if (bytes.size() < header_bytes || std::memcmp(bytes.data(), store_magic.data(), store_magic.size()) != 0) return read;
    bytes = bytes.substr(0, header_bytes);
    auto const* at = bytes.data();
    if (get<std::uint64_t>(at + check_at) != check_of(bytes.substr(checked_from), 0)) return read;
    read.version = get<std::uint32_t>(at + 16);
    if (read.version != format_version) return read;
    StoreHeader header;
    header.segment_bytes = get<std::uint32_t>(at + 20);
    header.segments = get<std::uint32_t>(at + 24);
    header.alignment = get<std::uint32_t>(at + 28);
    header.id = get<std::uint64_t>(at + 32);
    header.seed = get<std::uint64_t>(at + 40);
    header.epoch = get<std::uint64_t>(at + 48);
    header.least_generation = get<std::uint64_t>(at + 56);
    if (!is_shape(header)) return read;
    read.header = header;
    return read;
}

StoreHeader shape_of(Bytes size) {
    constexpr Bytes wanted = 256;
    StoreHeader header;
    size = std::min(size, store_most);
    auto const room = size > header_area ? size - header_area : 0;
    auto const bytes = std::clamp(std::bit_floor(std::max<Bytes>(room / wanted, 1)), segment_least, segment_most);
    header.segment_bytes = static_cast<std::uint32_t>(bytes);
    header.segments = static_cast<std::uint32_t>(room / bytes);
    header.alignment = static_cast<std::uint32_t>(Index::alignment(header.bytes()));
    return header;
}

StoreHeader grown(StoreHeader header, Bytes size) {
    size = std::min(size, Index::store_max(header.alignment));
    auto const room = size > header_area ? size - header_area : 0;
    header.segments = std::max(header.segments, static_cast<std::uint32_t>(room / header.segment_bytes));
    return header;
}

// ---- segments ----
// 0 magic, 8 check, 16 generation, 24 opened, 32 wiped

void encode(SegmentHead const& head, Location place, std::span<char, segment_head_bytes> into) {
    std::fill(into.begin(), into.end(), '\0');
    auto* at = into.data();
    put(at, segment_magic);
    put(at + 16, head.generation);
    put(at + 24, std::int64_t{head.opened.time_since_epoch().count()});
    put(at + 32, head.wiped);
    put(at + check_at, check_of({at + checked_from, segment_head_bytes - checked_from}, seed_of(place)));
}

std::optional<SegmentHead> decode_segment_head(std::string_view bytes, std::uint64_t store, Bytes offset) {
    if (bytes.size() < segment_head_bytes || get<std::uint64_t>(bytes.data()) != segment_magic) return std::nullopt;
    auto const* at = bytes.data();
    SegmentHead head;
    head.generation = get<std::uint64_t>(at + 16);
    head.opened = WallTime(milliseconds(get<std::int64_t>(at + 24)));
    head.wiped = get<std::uint64_t>(at + 32);
    auto const checked = bytes.substr(checked_from, segment_head_bytes - checked_from);
    if (get<std::uint64_t>(at + check_at) != check_of(checked, seed_of({store, head.generation, offset}))) return std::nullopt;
    return head;
}

// ---- records ----
// 0 magic, 4 kind (4 bits), freshness (3 bits), in_pieces (1 bit), 5 key_bytes (24 bits), 8 check, 16 hash, 24
// sequence, 32 generation, 40 meta_bytes, 44 body_bytes; first (8 bytes, pieces only); key, meta, one checksum per
// block, body. The check also covers bytes 4 to 7.

namespace {

std::uint32_t kind_bits_of(RecordKind kind, std::uint8_t freshness, bool in_pieces) {
    return static_cast<std::uint32_t>(kind) | std::uint32_t{freshness} << 4 | std::uint32_t{in_pieces} << 7;
}
RecordKind kind_of(std::uint32_t bits) { return static_cast<RecordKind>(bits & 15); }
std::uint8_t freshness_of(std::uint32_t bits) { return bits >> 4 & 7; }
bool in_pieces_of(std::uint32_t bits) { return bits >> 7 & 1; }

std::uint64_t check_of_head(std::string_view until_body, std::uint64_t seed) {
    return check_of(until_body.substr(checked_from), seed ^ get<std::uint32_t>(until_body.data() + 4));
}

bool body_fits(Record const& record, char const* table, std::uint64_t seed) {
    for (Bytes i = 0; i < record.head.blocks(); ++i) {
        auto const stored = get<std::uint64_t>(table + i * sizeof(std::uint64_t));
        if (check_of(record.body.substr(i * block, block), seed + i) != stored) return false;
    }
    return true;
}

}   // namespace

Bytes RecordParts::measure() {
    Bytes body_bytes = 0;
    for (auto piece : body) body_bytes += piece.size();
    head.key_bytes = static_cast<std::uint32_t>(key.size());
    head.meta_bytes = static_cast<std::uint32_t>(meta.size() + text.size());
    head.body_bytes = static_cast<std::uint32_t>(body_bytes);
    return head.bytes();
}

namespace {

/// One checksum per block.
void put_checks(char* table, std::string_view body, std::uint64_t seed) {
    for (Bytes i = 0; i * block < body.size(); ++i)
        put(table + i * sizeof(std::uint64_t), check_of(body.substr(i * block, block), seed + i));
}

void copy_body(char* to, std::string_view body) {
    if (body.empty()) return;   // memcpy must not get a null pointer
    if (body.size() < long_text)
        std::memcpy(to, body.data(), body.size());
    else
        copy_out(to, body.data(), body.size());   // only the disk reads the copy next, so it bypasses the processor's cache
}

}   // namespace

void encode(RecordParts const& parts, Location place, std::span<char> into) {
    auto const& head = parts.head;
    auto const seed = seed_of(place);
    auto* at = into.data();
    check(head.key_bytes < 1u << 24);
    put(at, record_magic);
    put(at + 4, kind_bits_of(head.kind, head.freshness, head.in_pieces) | head.key_bytes << 8);
    put(at + 16, head.hash);
    put(at + 24, head.sequence);
    put(at + 32, place.generation);
    put(at + 40, head.meta_bytes);
    put(at + 44, head.body_bytes);
    if (head.kind == RecordKind::piece) put(at + record_head_bytes, std::uint64_t{head.first});
    auto* out = at + head.key_at();
    auto add = [&](std::string_view bytes) {
        if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
        out += bytes.size();
    };
    add(parts.key);
    add(parts.meta);
    add(parts.text);
    auto* table = out;
    out = at + head.body_at();
    if (parts.body.size() == 1) {
        // Checksums are computed from the source, which is most likely in the processor's cache.
        auto const body = parts.body.front();
        put_checks(table, body, seed);
        copy_body(out, body);
        out += body.size();
    } else {
        for (auto piece : parts.body) add(piece);
        put_checks(table, {at + head.body_at(), head.body_bytes}, seed);
    }
    std::memset(out, 0, static_cast<std::size_t>(at + into.size() - out));
    put(at + check_at, check_of_head({at, head.body_at()}, seed));
}

RecordRead decode_head(std::string_view bytes, Location place) {
    RecordRead read;
    auto const* at = bytes.data();
    read.damage = Damage::another;
    if (bytes.size() < record_head_bytes || get<std::uint32_t>(at) != record_magic) return read;
    if (get<std::uint64_t>(at + 32) != place.generation) return read;
    auto& head = read.record.head;
    auto const word = get<std::uint32_t>(at + 4);
    head.kind = kind_of(word);
    head.freshness = freshness_of(word);
    head.in_pieces = in_pieces_of(word);
    head.key_bytes = word >> 8;
    head.hash = get<std::uint64_t>(at + 16);
    head.sequence = get<std::uint64_t>(at + 24);
    head.meta_bytes = get<std::uint32_t>(at + 40);
    head.body_bytes = get<std::uint32_t>(at + 44);
    read.damage = Damage::cut;
    if (head.body_at() > bytes.size()) return read;
    if (head.kind == RecordKind::piece) head.first = get<std::uint64_t>(at + record_head_bytes);
    read.damage = Damage::head;
    auto const until_body = bytes.substr(0, head.body_at());
    if (check_of_head(until_body, seed_of(place)) != get<std::uint64_t>(at + check_at)) return read;
    read.record.key = bytes.substr(head.key_at(), head.key_bytes);
    read.record.meta = bytes.substr(head.key_at() + head.key_bytes, head.meta_bytes);
    read.damage = Damage::none;
    if (head.bytes() > bytes.size())
        read.damage = Damage::cut;
    else
        read.record.body = bytes.substr(head.body_at(), head.body_bytes);
    return read;
}

std::uint64_t generation_said(std::string_view bytes) {
    bool const begins = bytes.size() >= record_head_bytes && get<std::uint32_t>(bytes.data()) == record_magic;
    return begins ? get<std::uint64_t>(bytes.data() + 32) : 0;
}

RecordRead decode(std::string_view bytes, Location place) {
    auto read = decode_head(bytes, place);
    if (read.damage != Damage::none) return read;
    auto const* table = bytes.data() + read.record.head.body_at() - read.record.head.blocks() * sizeof(std::uint64_t);
    if (!body_fits(read.record, table, seed_of(place))) read.damage = Damage::body;
    return read;
}

// ---- object metadata ----
// 0 flags, 1 kinds, 2 status, 4 source address (4 or 16 bytes); then numbers: response_time, date minus
// response_time, initial_age, lifetime, stale_while_revalidate, stale_if_error, stale_limit, age_value, length; for a
// body in pieces also body, spans, and for each span first, last minus first, body, first minus origin.

namespace {

constexpr Bytes meta_fixed = 4, v4_bytes = 4;
constexpr std::uint8_t has_v4 = 1 << 7;                          // among the flags
constexpr std::uint8_t is_marker = 1 << 6, in_pieces = 1 << 7;   // among the kinds

std::uint8_t flags_of(http::Terms const& terms) {
    return static_cast<std::uint8_t>(terms.explicit_lifetime << 0 | terms.heuristic << 1 | terms.negative << 2 |
                                     terms.must_revalidate << 3 | terms.no_cache << 4 | terms.has_validator << 5 |
                                     terms.allows_authorization << 6);
}

void set_flags(http::Terms& terms, std::uint8_t flags) {
    terms.explicit_lifetime = flags & 1;
    terms.heuristic = flags >> 1 & 1;
    terms.negative = flags >> 2 & 1;
    terms.must_revalidate = flags >> 3 & 1;
    terms.no_cache = flags >> 4 & 1;
    terms.has_validator = flags >> 5 & 1;
    terms.allows_authorization = flags >> 6 & 1;
}

/// Seven bits a byte, the lowest first; all bytes but the last have the eighth bit set.
void add_number(std::string& to, std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) to += static_cast<char>(number | 0x80);
    to += static_cast<char>(number);
}

/// Maps 0, -1, 1, -2 to 0, 1, 2, 3, so that numbers near zero are short whatever their sign.
std::uint64_t folded(std::int64_t number) {
    return static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63);
}
std::int64_t unfolded(std::uint64_t number) { return static_cast<std::int64_t>(number >> 1 ^ (~(number & 1) + 1)); }

/// Reads numbers from the beginning of `bytes`; is_good() is false if a number is truncated or not in its shortest
/// form.
class Numbers {
public:
    explicit Numbers(std::string_view bytes) : rest_(bytes) {}

    std::uint64_t next() {
        std::uint64_t number = 0;
        for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
            auto const byte = static_cast<std::uint8_t>(rest_.front());
            rest_.remove_prefix(1);
            number |= std::uint64_t{byte & 0x7fu} << shift;
            if (byte >= 0x80) continue;
            good_ &= (byte != 0 || shift == 0) && (shift < 63 || byte == 1);
            return number;
        }
        good_ = false;
        return 0;
    }
    std::uint32_t next_32() {
        auto const number = next();
        good_ &= number <= UINT32_MAX;
        return static_cast<std::uint32_t>(number);
    }
    std::int64_t next_signed() { return unfolded(next()); }

    bool is_good() const { return good_; }
    std::string_view rest() const { return rest_; }

private:
    std::string_view rest_;
    bool good_ = true;
};

/// Base of the stored Date, which is usually close to it.
std::uint64_t arrival_second(http::Terms const& terms) {
    return static_cast<std::uint64_t>(std::chrono::floor<seconds>(terms.response_time.time_since_epoch()).count());
}

}   // namespace

std::string encode(ObjectMeta const& meta) {
    auto const& terms = meta.terms;
    bool const v4 = meta.source.is_v4();
    bool const pieces = meta.body != 0 || !meta.spans.empty();
    auto const kinds = static_cast<unsigned>(terms.rule_override) | static_cast<unsigned>(terms.source) << 2 |
                       (meta.kind == Object::Kind::vary_marker ? is_marker : 0u) | (pieces ? in_pieces : 0u);
    std::string bytes(meta_fixed, '\0');
    put(bytes.data(), static_cast<std::uint8_t>(flags_of(terms) | (v4 ? has_v4 : 0)));
    put(bytes.data() + 1, static_cast<std::uint8_t>(kinds));
    put(bytes.data() + 2, meta.status);
    auto const* address = reinterpret_cast<char const*>(meta.source.bytes.data());
    bytes += std::string_view(address, meta.source.bytes.size()).substr(v4 ? meta.source.bytes.size() - v4_bytes : 0);
    add_number(bytes, folded(terms.response_time.time_since_epoch().count()));
    add_number(bytes, folded(static_cast<std::int64_t>(static_cast<std::uint64_t>(terms.date_value) - arrival_second(terms))));
    for (std::uint64_t number : {terms.initial_age, terms.lifetime, terms.stale_while_revalidate, terms.stale_if_error,
                                 terms.stale_limit, terms.age_value})
        add_number(bytes, number);
    add_number(bytes, meta.length);
    if (!pieces) return bytes;
    add_number(bytes, meta.body);
    add_number(bytes, meta.spans.size());
    for (auto const& span : meta.spans)
        for (auto number : {span.first, span.last - span.first, span.body, span.first - span.origin}) add_number(bytes, number);
    return bytes;
}

bool says_in_pieces(std::string_view meta) { return meta.size() >= meta_fixed && (get<std::uint8_t>(meta.data() + 1) & in_pieces); }

/// Accepts only the shortest form, so that each meta has exactly one encoding.
std::optional<ObjectMeta> decode_meta(std::string_view& bytes) {
    if (bytes.size() < meta_fixed) return std::nullopt;
    auto const flags = get<std::uint8_t>(bytes.data());
    auto const kinds = get<std::uint8_t>(bytes.data() + 1);
    ObjectMeta meta;
    auto& terms = meta.terms;
    set_flags(terms, flags);
    terms.rule_override = static_cast<http::RuleOverride>(kinds & 3);
    terms.source = static_cast<http::LifetimeSource>(kinds >> 2 & 15);
    meta.kind = kinds & is_marker ? Object::Kind::vary_marker : Object::Kind::response;
    meta.status = get<std::uint16_t>(bytes.data() + 2);
    auto const address = flags & has_v4 ? v4_bytes : meta.source.bytes.size();
    if (bytes.size() < meta_fixed + address) return std::nullopt;
    if (flags & has_v4) meta.source = IpAddress::v4(0, 0, 0, 0);
    std::memcpy(meta.source.bytes.data() + meta.source.bytes.size() - address, bytes.data() + meta_fixed, address);
    bool good = (flags & has_v4) || !meta.source.is_v4();
    Numbers numbers(bytes.substr(meta_fixed + address));
    terms.response_time = WallTime(milliseconds(numbers.next_signed()));
    terms.date_value = static_cast<std::int64_t>(static_cast<std::uint64_t>(numbers.next_signed()) + arrival_second(terms));
    for (auto* seconds : {&terms.initial_age, &terms.lifetime, &terms.stale_while_revalidate, &terms.stale_if_error,
                          &terms.stale_limit, &terms.age_value})
        *seconds = numbers.next_32();
    meta.length = numbers.next();
    if (kinds & in_pieces) {
        meta.body = numbers.next();
        for (auto spans = numbers.next(); spans > 0 && numbers.is_good(); --spans) {
            ObjectMeta::Span span;
            span.first = numbers.next();
            span.last = span.first + numbers.next();
            span.body = numbers.next();
            span.origin = span.first - numbers.next();
            meta.spans.push_back(span);
        }
        good &= meta.body != 0 || !meta.spans.empty();
    }
    if (!good || !numbers.is_good()) return std::nullopt;
    bytes = numbers.rest();
    return meta;
}

// ---- footers ----
// Entries: 0 hash, 8 offset, 12 kind (4 bits), freshness (3 bits), in_pieces (1 bit), 13 bytes / unit (24 bits). The
// tail: 0 magic, 8 check, 16 generation, 24 opened, 32 entries. The check covers the tail and all entries before it.

namespace {

std::uint64_t check_of_footer(std::string_view entries, std::string_view tail, std::uint64_t seed) {
    return check_of(tail.substr(checked_from), check_of(entries, seed));
}

}   // namespace

std::string encode(Footer const& footer, Location place) {
    std::string bytes(footer.bytes(), '\0');
    auto* at = bytes.data();
    for (auto const& entry : footer.entries) {
        put(at, entry.hash);
        put(at + 8, entry.offset);
        put(at + 12, kind_bits_of(entry.kind, entry.freshness, entry.in_pieces) | static_cast<std::uint32_t>(entry.bytes / unit)
                                                                                      << 8);
        at += footer_entry_bytes;
    }
    put(at, footer_magic);
    put(at + 16, footer.generation);
    put(at + 24, std::int64_t{footer.opened.time_since_epoch().count()});
    put(at + 32, static_cast<std::uint32_t>(footer.entries.size()));
    std::string_view const all(bytes);
    auto const tail_at = bytes.size() - footer_tail_bytes;
    put(at + check_at, check_of_footer(all.substr(0, tail_at), all.substr(tail_at), seed_of(place)));
    return bytes;
}

FooterRead decode_footer(std::string_view bytes, std::uint64_t store, Bytes segment_end) {
    FooterRead read;
    if (bytes.size() < footer_tail_bytes) return read;
    auto const tail = bytes.substr(bytes.size() - footer_tail_bytes);
    auto const* at = tail.data();
    if (get<std::uint64_t>(at) != footer_magic) return read;
    Footer footer;
    footer.generation = get<std::uint64_t>(at + 16);
    footer.opened = WallTime(milliseconds(get<std::int64_t>(at + 24)));
    auto const count = get<std::uint32_t>(at + 32);
    read.needed = Footer::footer_bytes(count);
    if (read.needed > bytes.size()) return read;
    auto const entries = bytes.substr(bytes.size() - read.needed, Bytes{count} * footer_entry_bytes);
    auto const seed = seed_of({store, footer.generation, segment_end});
    if (get<std::uint64_t>(at + check_at) != check_of_footer(entries, tail, seed)) return read;
    footer.entries.resize(count);
    auto const* from = entries.data();
    for (auto& entry : footer.entries) {
        entry.hash = get<std::uint64_t>(from);
        entry.offset = get<std::uint32_t>(from + 8);
        auto const word = get<std::uint32_t>(from + 12);
        entry.kind = kind_of(word);
        entry.freshness = freshness_of(word);
        entry.in_pieces = in_pieces_of(word);
        entry.bytes = static_cast<std::uint32_t>((word >> 8) * unit);
        from += footer_entry_bytes;
    }
    read.footer = std::move(footer);
    return read;
}

// ---- freshness, hashes ----

namespace {

constexpr std::array<std::int64_t, 8> fresh_for{0, 60, 600, 3'600, 6 * 3'600, 24 * 3'600, 7 * 24 * 3'600, 30 * 24 * 3'600};

}   // namespace

std::uint8_t Freshness::of(std::int64_t seconds_left) {
    std::uint8_t freshness = 0;
    while (freshness + 1u < fresh_for.size() && fresh_for[freshness + 1u] <= seconds_left) ++freshness;
    return freshness;
}

std::int64_t Freshness::seconds(std::uint8_t freshness) {
    return fresh_for[std::min<std::size_t>(freshness, fresh_for.size() - 1)];
}

Fingerprint hash_of(std::string_view key, std::uint64_t seed) { return fingerprint(key, seed); }

Fingerprint hash_of_piece(std::uint64_t body, Bytes first, std::uint64_t seed) {
    std::array<std::uint64_t, 2> const parts{body, first};
    return fingerprint({reinterpret_cast<char const*>(parts.data()), sizeof parts}, seed ^ 0x70696563);
}

}   // namespace garner::store::disk
