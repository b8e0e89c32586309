// Canonical URLs: canonicalization is idempotent, its result is bounded and ASCII,
// and the fast path agrees with the slow one; layers return canonical URLs.
#include <string>

#include "crawl/canonical_url.hpp"
#include "crawl/url_layers.hpp"
#include "fuzzed.hpp"

namespace {

using namespace garner;
using crawl::CanonicalUrl;
using crawl::UrlFault;

void check_parts(CanonicalUrl const& url) {
    std::string joined(url.scheme());
    joined.append("://").append(url.userinfo()).append(url.host()).append(url.port());
    check(url.parts.path_begin == joined.size());
    joined.append(url.path()).append(url.query());
    check(joined == url.text);
    check(!url.host().empty() && url.path().starts_with('/'));
    check(url.path().find_first_of("?#\\") == std::string_view::npos);
    check(url.port().empty() || url.port().starts_with(':'));
    check(url.userinfo().empty() || url.userinfo().ends_with('@'));
    check(url.query().empty() || url.query().starts_with('?'));
}

void check_same(CanonicalUrl const& a, CanonicalUrl const& b) {
    check(a.text == b.text && a.parts.scheme_end == b.parts.scheme_end && a.parts.host_begin == b.parts.host_begin);
    check(a.parts.host_end == b.parts.host_end && a.parts.path_begin == b.parts.path_begin);
    check(a.parts.path_end == b.parts.path_end);
}

void check_url(CanonicalUrl const& url) {
    check_parts(url);
    for (char c : url.text) check(c > ' ' && c < 0x7f);
    if (url.text.size() > crawl::url_bytes_max) return;   // grew beyond the accepted length
    CanonicalUrl again;
    check(crawl::canonicalise(fuzz::Exact(url.text).view(), again) == UrlFault::none);
    check_same(again, url);
    check(crawl::canonicalise(url.text, url, again) == UrlFault::none);
    check_same(again, url);
    check(crawl::canonicalise("", url, again) == UrlFault::none);
    check_same(again, url);
}

void check_layers(CanonicalUrl const& url, char const* names) {
    auto const layers = *crawl::UrlLayers::read(names);
    auto layered = url;
    layers.apply(layered);
    check_url(layered);
    auto twice = layered;
    layers.apply(twice);
    check_same(twice, layered);
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz::Exact const bytes({reinterpret_cast<char const*>(data), size});
    auto const text = bytes.view();
    CanonicalUrl url;
    bool const absolute = crawl::canonicalise(text, url) == UrlFault::none;
    if (absolute) {
        check(url.text.size() <= 9 * size + 100);
        check_url(url);
        CanonicalUrl slow;   // a leading space disables the fast path
        check(crawl::canonicalise(" " + std::string(text), slow) == UrlFault::none || size == crawl::url_bytes_max);
        if (size < crawl::url_bytes_max) check_same(slow, url);
        for (auto const* names : {"www-strip", "default-document", "query-sort", "query-sort,default-document,www-strip"})
            check_layers(url, names);
        auto const surt = *crawl::UrlLayers::read("surt");
        surt.apply(url);
        check(url.text.find("://(") != std::string::npos && url.path().starts_with('/'));
    }
    CanonicalUrl base, on_base;
    check(crawl::canonicalise("https://u:p@a.example:8443/b/c;d/e?f", base) == UrlFault::none);
    if (crawl::canonicalise(text, base, on_base) == UrlFault::none) {
        check(on_base.text.size() <= 9 * size + base.text.size() + 100);
        check_url(on_base);
    } else {
        check(!absolute);
    }
    return 0;
}
