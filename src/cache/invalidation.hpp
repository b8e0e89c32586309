// An invalidation of stored responses, and its forms as text.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "util/clock.hpp"
#include "util/result.hpp"

namespace garner::cache {

struct Invalidation {
    enum class Kind : std::uint8_t { url, prefix, tag, all };
    Kind kind = Kind::all;
    bool soft = false;         // marks stale; otherwise the response is not used again
    std::string origin = {};   // of a tag: "http://example.com"; empty: every origin
    std::string text = {};     // the URL or prefix in its normal form, or the tag
    friend bool operator==(Invalidation const&, Invalidation const&) = default;
};

// The faults name the text and a suggested fix.
Result<Invalidation> url_invalidation(std::string_view url, bool soft);
/// A prefix has a host, ends with '/', and has no query.
Result<Invalidation> prefix_invalidation(std::string_view url, bool soft);
/// `origin`: any URL of it; empty: every origin.
Result<Invalidation> tag_invalidation(std::string_view tag, std::string_view origin, bool soft);
inline Invalidation invalidation_of_all(bool soft) { return {.kind = Invalidation::Kind::all, .soft = soft}; }

/// "tag news of http://example.com"
std::string text_of(Invalidation const&);
/// The scheme, host and port of a URL in normal form: "http://example.com".
std::string_view origin_of(std::string_view url);

/// A longer prefix is refused: a response is compared with this many.
inline constexpr std::size_t prefix_slashes_max = 64;   // in the path

/// An accepted one.
struct Noted {
    Invalidation what;
    std::uint64_t number = 0;
    WallTime at{};
};
/// One line of text without its end: "17 1764115200000 hard tag http://example.com news".
std::string line_of(Noted const&);
std::optional<Noted> noted_in(std::string_view line);

}   // namespace garner::cache
