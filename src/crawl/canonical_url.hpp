// The one way in which a URL is written: the URL Standard's parser (url.spec.whatwg.org) for http, https, ws, wss and
// ftp, and its serialiser without the fragment. Two texts that a browser takes to the same place have the same
// canonical form.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "crawl/url_fault.hpp"

namespace garner::crawl {

/// Longer texts are no URLs that a server takes, and are refused. The canonical form has at most nine times as many
/// bytes, and those of the base.
inline constexpr std::size_t url_bytes_max = 64 * 1024;

/// Where the parts of a canonical URL lie in its text: scheme://userinfo@host:port/path?query, where all but scheme,
/// host and path may be absent.
struct UrlParts {
    std::uint32_t scheme_end = 0;     // at the ':'
    std::uint32_t host_begin = 0;
    std::uint32_t host_end = 0;
    std::uint32_t path_begin = 0;     // at the '/'
    std::uint32_t path_end = 0;       // at the '?' of a query, or the end
};

struct CanonicalUrl {
    std::string text;
    UrlParts parts;

    std::string_view scheme() const { return std::string_view(text).substr(0, parts.scheme_end); }
    /// "user:password@", or empty.
    std::string_view userinfo() const {
        return std::string_view(text).substr(parts.scheme_end + 3, parts.host_begin - parts.scheme_end - 3);
    }
    std::string_view host() const {
        return std::string_view(text).substr(parts.host_begin, parts.host_end - parts.host_begin);
    }
    /// ":8080"; empty for the scheme's default.
    std::string_view port() const {
        return std::string_view(text).substr(parts.host_end, parts.path_begin - parts.host_end);
    }
    std::string_view path() const {
        return std::string_view(text).substr(parts.path_begin, parts.path_end - parts.path_begin);
    }
    /// With its '?'; empty when there is none.
    std::string_view query() const { return std::string_view(text).substr(parts.path_end); }
};

/// `text` in any bytes, taken for UTF-8; what is none counts as U+FFFD, as in a browser. `into` keeps its memory from
/// call to call: nothing else is allocated for plain ASCII. After a fault it holds nothing of meaning. Any thread.
UrlFault canonicalise(std::string_view text, CanonicalUrl& into);

/// The same for a reference on a page of the URL `base`, which is not `into` itself.
UrlFault canonicalise(std::string_view text, CanonicalUrl const& base, CanonicalUrl& into);

/// The quick way for most links, which are canonical but for a fragment or the slash after a bare host (plain_url.cpp). False,
/// with nothing said about the text, unless it is an http or https URL whose canonical form is plain to see: `into` then is what
/// canonicalise() would make of it.
bool copy_plain_url(std::string_view text, CanonicalUrl& into);

}  // namespace garner::crawl
