// Heads on intercepted connections: the client names the host, and nothing in its request changes the address or the port.
#include <string>

#include "fuzzed.hpp"
#include "http/uri.hpp"
#include "proxy/internal.hpp"
#include "proxy/target.hpp"

namespace {

using namespace garner;

void check_target(http::RequestHead const& request, proxy::FixedOrigin const& origin) {
    proxy::Target target;
    if (proxy::read_target(request, &origin, target)) return;
    auto const& authority = target.uri.authority;
    check(target.destination == origin.destination.address);
    check(authority.port == origin.destination.port || request.method == http::Method::connect);
    check(!target.accelerated && !target.to_us && target.may_use_store());
    check(!authority.host.empty() && authority.host.find_first_of("/?#@ \r\n") == authority.host.npos);
    check(!proxy::is_internal(target, {}, {}) && !proxy::is_refusals_page(target, request.method, {}));
    if (request.method == http::Method::connect) return check(http::parse_authority(target.url).has_value());
    if (target.path == "*" || target.path.starts_with('*')) return;
    auto const uri = http::parse_absolute(target.url);
    check(uri && uri->scheme == http::Scheme::http && uri->authority.host == authority.host &&
          uri->authority.port == authority.port);
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    static auto const plain = proxy::intercepted_origin(http::Scheme::http, {*parse_ip("2001:db8::7"), 8080});
    static auto const secure = proxy::intercepted_origin(http::Scheme::https, {IpAddress::v4(192, 0, 2, 7), 443});
    fuzz::Exact const exact({reinterpret_cast<char const*>(data), size});
    http::RequestHead request;
    std::size_t scanned = 0;
    auto const parsed = http::parse_request_head(exact.view(), http::HeadLimits{}, scanned, request);
    if (parsed.kind != http::HeadParse::Kind::complete) return 0;
    check_target(request, *plain);
    if (request.method == http::Method::connect) check_target(request, *secure);
    return 0;
}
