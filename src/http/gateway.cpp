#include "http/gateway.hpp"

#include <algorithm>
#include <array>

#include "util/text.hpp"

namespace garner::http {
namespace {

constexpr std::array<std::string_view, 3> method_overrides{"x-http-method", "x-http-method-override", "x-method-override"};

// clang-format off
// Sorted.
constexpr std::array<std::string_view, 38> gateway_fields{
    "cf-connecting-ip", "client-ip", "fastly-client-ip", "forwarded", "front-end-https", "proxy",
    "proxy-client-ip", "true-client-ip", "wl-proxy-client-ip", "wl-proxy-ssl", "x-arr-ssl", "x-azure-clientip",
    "x-azure-socketip", "x-client-ip", "x-cluster-client-ip", "x-envoy-external-address", "x-envoy-original-path", "x-forwarded",
    "x-host", "x-http-destinationurl", "x-http-host-override", "x-http-method", "x-http-method-override",
    "x-http-path-override", "x-method-override", "x-original-forwarded-for", "x-original-host", "x-original-uri",
    "x-original-url", "x-originating-ip", "x-port", "x-proxyuser-ip", "x-real-ip", "x-remote-addr", "x-remote-ip",
    "x-rewrite-url", "x-scheme", "x-url-scheme"};
// clang-format on
static_assert(std::ranges::is_sorted(gateway_fields));

constexpr char plain(char c) { return c == '_' ? '-' : to_lower(c); }

bool same(std::string_view name, std::string_view wanted) { return std::ranges::equal(name, wanted, {}, plain); }

bool is_method_override(std::string_view name) {
    return std::ranges::any_of(method_overrides, [&](auto wanted) { return same(name, wanted); });
}

}   // namespace

bool is_gateway_field(std::string_view name) {
    constexpr std::string_view family = "x-forwarded-";
    if (same(name.substr(0, family.size()), family)) return true;
    auto const before = [](std::string_view a, std::string_view b) {
        return std::ranges::lexicographical_compare(a, b, {}, plain, plain);
    };
    return std::ranges::binary_search(gateway_fields, name, before);
}

bool is_cgi_proxy(std::string_view name) { return equals_ignoring_case(name, "Proxy"); }

bool has_method_override(Fields const& request) {
    return std::ranges::any_of(request, [](Field const& field) { return is_method_override(field.name); });
}

}   // namespace garner::http
