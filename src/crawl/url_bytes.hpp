// Byte classes of the parts of a URL, and percent-encoding (URL Standard, "Percent-encoded bytes").
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "util/text.hpp"

namespace garner::crawl {

/// Sets of bytes, one bit each.
enum ByteSet : std::uint16_t {
    path_encoded = 1,        // the path percent-encode set
    query_encoded = 2,       // the special-query percent-encode set
    userinfo_encoded = 4,    // the userinfo percent-encode set
    path_ends = 8,           // ? and #
    segment_ends = 16,       // / \ ? and #
    host_changes = 32,       // bytes that cannot be part of a lower-case ASCII host name
    forbidden_domain = 64,   // forbidden domain code points, of ASCII
    path_looked_at = 128,    // bytes absent from a canonical path or restricted in it: \ . %
    not_ascii = 256,
    percent = 512,
};

namespace bytes_detail {

constexpr std::array<std::uint16_t, 256> make_sets() {
    std::array<std::uint16_t, 256> sets{};
    auto add = [&](std::string_view bytes, unsigned bits) {
        for (char c : bytes) sets[static_cast<unsigned char>(c)] |= static_cast<std::uint16_t>(bits);
    };
    for (unsigned c = 0; c < 256; ++c) {
        if (c <= 0x1f || c > 0x7e) sets[c] |= path_encoded | query_encoded | userinfo_encoded | path_looked_at;
        bool const plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
        if (!plain) sets[c] |= host_changes;
        if (c <= 0x1f || c == 0x7f) sets[c] |= forbidden_domain;
        if (c > 0x7f) sets[c] |= not_ascii;
    }
    add(" \"#<>", path_encoded | query_encoded | userinfo_encoded | path_looked_at);
    add("'", query_encoded);
    add("?^`{}", path_encoded | userinfo_encoded | path_looked_at);
    add("/:;=@[\\]|", userinfo_encoded);
    add("?#", path_ends | segment_ends);
    add("/\\", segment_ends);
    add("\\.%", path_looked_at);
    add("%", percent);
    add(" #/:<>?@[\\]^|%", forbidden_domain);
    return sets;
}

}   // namespace bytes_detail

inline constexpr std::array<std::uint16_t, 256> byte_sets = bytes_detail::make_sets();

constexpr bool is_in(char c, unsigned sets) { return (byte_sets[static_cast<unsigned char>(c)] & sets) != 0; }

/// The position of the first byte in one of the sets; text.size() when there is none.
constexpr std::size_t find_first_in(unsigned sets, std::string_view text, std::size_t from = 0) {
    while (from < text.size() && !is_in(text[from], sets)) ++from;
    return from;
}

/// All sets of which the text has a byte.
constexpr unsigned sets_of(std::string_view text) {
    unsigned sets = 0;
    for (char c : text) sets |= byte_sets[static_cast<unsigned char>(c)];
    return sets;
}

constexpr bool is_slash(char c) { return c == '/' || c == '\\'; }

/// Appends `text`, with the bytes of `set` as %XX. Invalid UTF-8 becomes U+FFFD, one for each maximal subpart, as in
/// the Encoding Standard's decoder.
void append_encoded(std::string_view text, ByteSet set, std::string& to);

/// Whether all of it is valid UTF-8.
bool is_utf8(std::string_view text);

/// Appends `text` with U+FFFD for invalid UTF-8, as append_encoded does.
void append_utf8(std::string_view text, std::string& to);

/// Appends `text` with each %XX decoded; a % without two digits stays.
void append_decoded(std::string_view text, std::string& to);

}   // namespace garner::crawl
