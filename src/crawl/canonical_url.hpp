// Canonical URLs: the URL Standard's parser (url.spec.whatwg.org) for http, https, ws, wss and ftp, and its
// serialiser without the fragment. Two texts with one canonical form lead a browser to one resource.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "crawl/url_fault.hpp"

namespace garner::crawl {

/// Longer texts are rejected; no server accepts them. The canonical form has at most nine times as many bytes, plus
/// those of the base.
inline constexpr std::size_t url_bytes_max = 64 * 1024;

/// Offsets of the parts in a canonical URL: scheme://userinfo@host:port/path?query. All but scheme, host and path are
/// optional.
struct UrlParts {
    std::uint32_t scheme_end = 0;   // at the ':'
    std::uint32_t host_begin = 0;
    std::uint32_t host_end = 0;
    std::uint32_t path_begin = 0;   // at the '/'
    std::uint32_t path_end = 0;     // at the '?' of a query, or the end
};

struct CanonicalUrl {
    std::string text;
    UrlParts parts;

    std::string_view scheme() const { return std::string_view(text).substr(0, parts.scheme_end); }
    /// "user:password@", or empty.
    std::string_view userinfo() const {
        return std::string_view(text).substr(parts.scheme_end + 3, parts.host_begin - parts.scheme_end - 3);
    }
    std::string_view host() const { return std::string_view(text).substr(parts.host_begin, parts.host_end - parts.host_begin); }
    /// ":8080"; empty for the scheme's default.
    std::string_view port() const { return std::string_view(text).substr(parts.host_end, parts.path_begin - parts.host_end); }
    std::string_view path() const { return std::string_view(text).substr(parts.path_begin, parts.path_end - parts.path_begin); }
    /// Including its '?'; empty when there is none.
    std::string_view query() const { return std::string_view(text).substr(parts.path_end); }
};

/// `text` may have any bytes, interpreted as UTF-8; invalid sequences become U+FFFD, as in a browser. `into` reuses
/// its memory between calls, and plain ASCII needs no other allocation. After an error its contents are undefined.
/// Any thread.
UrlFault canonicalise(std::string_view text, CanonicalUrl& into);

/// Canonicalises a reference on a page of the URL `base`, which must not be `into` itself.
UrlFault canonicalise(std::string_view text, CanonicalUrl const& base, CanonicalUrl& into);

/// A fast path for most links, which are canonical except for a fragment or a missing slash after the host
/// (plain_url.cpp). True only for an http or https URL in such a form: `into` then equals the result of
/// canonicalise(). False says nothing about the text.
bool copy_plain_url(std::string_view text, CanonicalUrl& into);

}   // namespace garner::crawl
