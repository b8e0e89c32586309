// Structures of a disk store: no input causes a read out of bounds. Wrong sizes and counts are detected even if the checksums
// match, and accepted structures are encoded to equal bytes.
#include "store/disk_format.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "fuzzed.hpp"

namespace {

using namespace garner;
using namespace garner::store::disk;

constexpr Location here{.store = 7, .generation = 5, .offset = 65'536};
constexpr std::size_t check_at = 8, checked_from = 16;

std::uint64_t seed_here() {
    std::uint64_t const parts[] = {here.store, here.generation, here.offset};
    return XXH3_64bits(parts, sizeof parts);
}

template <class T>
void put(std::string& bytes, std::size_t at, T value) {
    if (at + sizeof value <= bytes.size()) std::memcpy(bytes.data() + at, &value, sizeof value);
}

template <class T>
T get(std::string_view bytes, std::size_t at) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

// ---- forgeries with valid checksums ----

std::string forged_header(std::string bytes) {
    bytes.resize(header_bytes);
    bytes.replace(0, 8, "GARNERDS");
    put(bytes, check_at, fingerprint(std::string_view(bytes).substr(checked_from), 0));
    return bytes;
}

std::string forged_segment_head(std::string bytes) {
    bytes.resize(segment_head_bytes);
    bytes.replace(0, 8, std::string_view("SEGM\0\0\0\0", 8));
    put(bytes, 16, here.generation);
    put(bytes, check_at, fingerprint(std::string_view(bytes).substr(checked_from), seed_here()));
    return bytes;
}

/// Keeps the sizes; small ones are more likely, so that some always fit.
std::string forged_record(std::string bytes) {
    if (bytes.size() < record_head_bytes) return bytes;
    bytes.replace(0, 4, "GREC");
    put(bytes, 32, here.generation);
    std::string_view const view(bytes);
    RecordHead head;
    head.kind = static_cast<RecordKind>(get<std::uint8_t>(view, 4) & 15);
    head.key_bytes = get<std::uint32_t>(view, 4) >> 8;
    head.meta_bytes = get<std::uint32_t>(view, 40);
    head.body_bytes = get<std::uint32_t>(view, 44);
    if (head.body_at() > bytes.size()) return bytes;
    auto const table = head.body_at() - head.blocks() * 8;
    for (Bytes i = 0; i < head.blocks() && head.bytes() <= bytes.size(); ++i) {
        auto const size = std::min<Bytes>(block, head.body_bytes - i * block);
        put(bytes, table + i * 8, fingerprint(view.substr(head.body_at() + i * block, size), seed_here() + i));
    }
    auto const seed = seed_here() ^ get<std::uint32_t>(view, 4);
    put(bytes, check_at, fingerprint(view.substr(checked_from, head.body_at() - checked_from), seed));
    return bytes;
}

std::string forged_footer(std::string bytes) {
    if (bytes.size() < footer_tail_bytes) return bytes;
    auto const tail = bytes.size() - footer_tail_bytes;
    bytes.replace(tail, 8, std::string_view("FOOT\0\0\0\0", 8));
    put(bytes, tail + 16, here.generation);
    std::string_view const view(bytes);
    auto const entries = Bytes{get<std::uint32_t>(view, tail + 32)} * footer_entry_bytes;
    if (entries > tail) return bytes;
    auto const sum = fingerprint(view.substr(tail - entries, entries), seed_here());
    put(bytes, tail + check_at, fingerprint(view.substr(tail + checked_from), sum));
    return bytes;
}

// ---- invariants ----

void check_header(std::string_view bytes) {
    auto const read = decode_header(bytes);
    if (!read.header) return;
    check(read.version == format_version && read.header->segments > 0 && read.header->segment_bytes >= 2 * piece_max);
    auto const again = decode_header(encode(*read.header));
    check(again.header && again.header->bytes() == read.header->bytes() && again.header->epoch == read.header->epoch);
}

void check_segment_head(std::string_view bytes) {
    auto const head = decode_segment_head(bytes, here.store, here.offset);
    if (!head) return;
    std::array<char, segment_head_bytes> again{};
    encode(*head, Location{here.store, head->generation, here.offset}, again);
    check(decode_segment_head({again.data(), again.size()}, here.store, here.offset).has_value());
}

void check_meta(std::string_view bytes) {
    auto rest = bytes;
    auto const meta = decode_meta(rest);
    check(fuzz::lies_inside(rest, bytes) && (meta || rest.size() == bytes.size()));
    if (!meta) return;
    auto const text = encode(*meta);
    check(text.size() + rest.size() == bytes.size());
    std::string_view view(text);
    auto const again = decode_meta(view);
    check(again && view.empty() && encode(*again) == text);
}

void check_written_again(Record const& record) {
    RecordParts parts;
    parts.head = record.head;
    parts.key = record.key;
    parts.meta = record.meta;
    std::array<std::string_view, 1> const body{record.body};
    parts.body = body;
    std::string again(parts.measure(), '#');
    encode(parts, here, {again.data(), again.size()});
    auto const read = decode(again, here);
    check(read.damage == Damage::none && read.record.key == record.key && read.record.meta == record.meta);
    check(read.record.body == record.body && read.record.head.first == record.head.first);
    check(read.record.head.kind == record.head.kind && read.record.head.sequence == record.head.sequence);
}

void check_record(std::string_view bytes) {
    auto const head = decode_head(bytes, here);
    auto const whole = decode(bytes, here);
    for (auto const& read : {head, whole})
        for (auto const part : {read.record.key, read.record.meta, read.record.body}) check(fuzz::lies_inside(part, bytes));
    check(whole.damage == head.damage || (head.damage == Damage::none && whole.damage == Damage::body));
    if (head.damage == Damage::none) check_meta(head.record.meta);
    if (whole.damage == Damage::none) check_written_again(whole.record);
}

void check_footer(std::string_view bytes) {
    auto const read = decode_footer(bytes, here.store, here.offset);
    if (!read.footer) return;
    check(read.needed <= bytes.size() && read.footer->bytes() == read.needed);
    auto const again = encode(*read.footer, Location{here.store, read.footer->generation, here.offset});
    auto const back = decode_footer(again, here.store, here.offset);
    check(back.footer && back.footer->entries.size() == read.footer->entries.size());
}

using Check = void (*)(std::string_view);
using Forge = std::string (*)(std::string);

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz::Input const input(data, size);
    constexpr std::array<std::pair<Check, Forge>, 4> kinds{{{check_header, forged_header},
                                                            {check_segment_head, forged_segment_head},
                                                            {check_record, forged_record},
                                                            {check_footer, forged_footer}}};
    auto const [check_it, forge] = kinds[input.seed % kinds.size()];
    fuzz::Exact const bytes(input.bytes);
    check_it(bytes.view());
    fuzz::Exact const forged(forge(std::string(input.bytes)));
    check_it(forged.view());
    check_meta(bytes.view());
    return 0;
}
