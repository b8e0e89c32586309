// URIs: views lie in the input, normalization is idempotent, and references resolve to http(s) URIs only.
#include <string>

#include "fuzzed.hpp"
#include "http/uri.hpp"

namespace {

using namespace garner;

std::string normal_form(http::Uri const& uri) {
    std::string text;
    http::append_normalised(uri, text);
    return text;
}

http::Uri parsed(std::string_view text) {
    http::UriError error;
    auto uri = http::parse_absolute(text, error);
    check(uri && !error.refusal);
    return *uri;
}

void check_authority(http::Authority const& authority, std::string_view text) {
    check(!authority.host.empty() && fuzz::lies_inside(authority.host, text));
    check(authority.host.find_first_of("/?#@[]\\ \t\r\n") == std::string_view::npos);
    check(authority.ipv6 == (authority.host.find(':') != std::string_view::npos));
}

void check_uri(http::Uri const& uri, std::string_view text) {
    check_authority(uri.authority, text);
    check(uri.authority.port != 0);
    check(uri.path_and_query.starts_with(uri.bare_query ? '?' : '/'));
    check(uri.path_and_query == "/" || fuzz::lies_inside(uri.path_and_query, text));
    auto const normal = normal_form(uri);
    auto const again = parsed(normal);
    check(normal_form(again) == normal && http::same_origin(uri, again));
    check(http::is_origin_form(again.path_and_query));
    std::string host;
    http::append_host(uri, host);
    http::UriError error;
    auto const authority = http::parse_authority(host, error);
    std::string written;
    http::append_host(uri.authority, written);
    check(authority && (uri.authority.ipv6 ? "[" + std::string(authority->host) + "]" : std::string(authority->host)) == written);
    check(authority->port == uri.authority.port || authority->port == 0);
}

void check_resolved(http::Uri const& base, std::string_view reference) {
    auto const target = http::resolve(base, reference);
    if (!target) return;
    auto const uri = parsed(*target);
    check(normal_form(uri) == *target);
    // A resolved URI has no dot segments, so resolving it again changes nothing.
    check(http::resolve(base, *target) == *target);
    auto const path = uri.path_and_query.substr(0, uri.path_and_query.find('?'));
    check(path.find("/./") == std::string_view::npos && path.find("/../") == std::string_view::npos);
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz::Exact const bytes({reinterpret_cast<char const*>(data), size});
    auto const text = bytes.view();
    http::UriError error;
    auto const uri = http::parse_absolute(text, error);
    check(uri.has_value() == (error.refusal == nullptr));
    if (uri) check_uri(*uri, text);
    auto const authority = http::parse_authority(text, error);
    check(authority.has_value() == (error.refusal == nullptr));
    if (authority) check_authority(*authority, text);
    if (http::is_origin_form(text)) check(parsed("http://h" + std::string(text)).path_and_query == text);

    check_resolved(parsed("https://Base.example:8443/a/b/../c?q"), text);
    check_resolved(parsed("http://[::1]?q"), text);
    if (uri) check_resolved(*uri, text.substr(text.size() / 2));
    return 0;
}
