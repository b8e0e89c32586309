// Common parts of the files of a set on disk: little-endian numbers, heads with a magic and a checksum.
#pragma once
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "io/file.hpp"
#include "util/hash.hpp"

namespace garner::crawl {

static_assert(std::endian::native == std::endian::little);   // all numbers in the files are little-endian

inline constexpr std::uint32_t set_format_version = 1;
inline constexpr std::size_t head_bytes = 64;

/// The first 64 bytes of every file.
struct FileHead {
    char magic[8] = {};
    std::uint64_t checksum = 0;   // covers the rest of the head
    std::uint32_t version = set_format_version;
    std::uint32_t bits = 0;
    std::uint64_t set = 0;      // random, chosen when the set was created
    std::uint64_t number = 0;   // generation of a run, number of a log
    std::uint64_t entries = 0;
    std::uint64_t where = 0;   // offset of a run's directory; in a manifest the number of the log
    std::uint64_t directory_checksum = 0;
};
static_assert(sizeof(FileHead) == head_bytes);

inline std::string_view bytes_of(FileHead const& head) { return {reinterpret_cast<char const*>(&head), sizeof head}; }
inline std::uint64_t head_checksum(FileHead const& head) { return fingerprint(bytes_of(head).substr(16), 0); }

/// Seeds checksums, so that moved, swapped or outdated bytes of the set's files fail verification.
inline std::uint64_t place_seed(std::uint64_t set, std::uint64_t number, std::uint64_t offset) {
    std::array<std::uint64_t, 3> const place{set, number, offset};
    return fingerprint({reinterpret_cast<char const*>(place.data()), sizeof place}, 0);
}

inline void seal(FileHead& head, std::string_view magic) {
    std::memcpy(head.magic, magic.data(), sizeof head.magic);
    head.checksum = head_checksum(head);
}

/// Nothing, or the error, as a predicate with the file as subject.
inline std::string_view fault_in(FileHead const& head, std::string_view magic) {
    if (std::string_view(head.magic, sizeof head.magic) != magic) return "does not begin with its magic number";
    if (head.version != set_format_version) return "was written by another version of Garner";
    if (head.checksum != head_checksum(head)) return "has a damaged header";
    return {};
}

/// 0, or an errno.
inline int write_all(io::File const& file, Bytes offset, std::string_view bytes) {
    auto const done = file.write_at(offset, bytes);
    return done.error ? done.error : done.bytes < bytes.size() ? EIO : 0;
}

inline constexpr std::string_view run_magic = "GARNERUR", log_magic = "GARNERUL", manifest_magic = "GARNERUM",
                                  sorted_magic = "GARNERUS";

}   // namespace garner::crawl
