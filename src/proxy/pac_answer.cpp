#include "proxy/pac_answer.hpp"

#include <algorithm>
#include <charconv>

#include "net/address.hpp"
#include "proxy/internal.hpp"
#include "util/hash.hpp"
#include "util/text.hpp"

namespace garner::proxy {

using http::Method;
using http::Name;

namespace {

constexpr std::string_view pac_type = "application/x-ns-proxy-autoconfig";

/// Equal texts have equal tags in every process.
std::string etag_of(std::string_view text) {
    constexpr std::uint64_t seed = 0;
    char digits[16];
    auto const end = std::to_chars(digits, digits + sizeof digits, fingerprint(text, seed), 16).ptr;
    return '"' + std::string(digits, end) + '"';
}

bool listens_on(http::OwnAddresses const& own, std::uint16_t port) {
    return std::ranges::any_of(own.listening, [port](IpEndpoint const& endpoint) { return endpoint.port == port; });
}

bool has_etag(http::Fields const& request, std::string_view etag) {
    auto const known = request.first(Name::if_none_match);
    return trim(known) == "*" || known.find(etag) != npos;
}

}   // namespace

net::awaitable<void> PacAnswer::run() {
    auto const method = request_.head().method;
    if (!is_offered())
        co_return co_await writer_.error(404, "This proxy offers no /wpad.dat. The key pac.wpad is false.", "pac.wpad");
    if (method != Method::get && method != Method::head)
        co_return co_await writer_.error(405, "The PAC file can only be read.", "internal", cache::FailureKind::other,
                                         "Allow: GET, HEAD\r\n");
    auto const options = request_.options;
    auto const& pac = options->pac;
    auto proxies = pac.proxies;
    if (proxies.empty()) proxies.push_back(reached());
    auto const unusable = co_await find_unusable(proxies);
    auto const usable = usable_proxies(std::move(proxies), unusable, pac.last_direct);
    auto const text = pac_text(pac, usable);
    co_await send(text);
}

bool PacAnswer::is_offered() const { return !is_wpad_path(request_.target.path) || request_.options->pac.wpad; }

/// The network in between may translate addresses, and a certificate has names: so the Host field comes first.
PacProxy PacAnswer::reached() const {
    auto const& client = *request_.client.client();
    auto const& authority = request_.target.uri.authority;
    bool const has_port = request_.head().fields.first(Name::host).ends_with(":" + std::to_string(authority.port));
    auto const port = has_port || !client.secure ? authority.port : http::default_port(http::Scheme::https);
    return reached_proxy(authority.host, port, client.secure, {request_.client.own_address(), client.listener});
}

net::awaitable<std::vector<bool>> PacAnswer::find_unusable(std::vector<PacProxy> const& all) {
    auto* mesh = request_.services.mesh;
    bool const leaves = mesh && mesh->draining();
    std::vector<bool> unusable;
    for (auto const& proxy : all) {
        bool is_out = is_dead(proxy);
        if (!is_out && leaves) is_out = co_await is_this_proxy(proxy);
        unusable.push_back(is_out);
    }
    co_return unusable;
}

bool PacAnswer::is_dead(PacProxy const& proxy) const {
    auto* mesh = request_.services.mesh;
    return mesh && mesh->peer_table()->is_dead(proxy.host, proxy.port, steady_now());
}

/// By the host that the client has used, or because all its addresses are those of this machine's listeners.
net::awaitable<bool> PacAnswer::is_this_proxy(PacProxy const& proxy) {
    auto const own = request_.services.own;
    auto const here = reached();
    bool const has_port = proxy.port == here.port || (own && listens_on(*own, proxy.port));
    if (proxy.host == here.host && has_port) co_return true;
    auto const names = co_await request_.services.worker.resolver.resolve(proxy.host, &request_.waiting);
    request_.waiting = {};
    co_return own&& http::are_own_listeners(net::to_ips(names->addresses), proxy.port, *own);
}

net::awaitable<void> PacAnswer::send(std::string const& text) {
    auto const etag = etag_of(text);
    auto const age = std::chrono::duration_cast<seconds>(request_.options->pac.max_age).count();
    auto const extra =
        "Cache-Control: max-age=" + std::to_string(age) + "\r\nETag: " + etag + "\r\nX-Content-Type-Options: nosniff\r\n";
    if (has_etag(request_.head().fields, etag)) co_return co_await writer_.own_answer(304, "", "", extra);
    co_await writer_.own_answer(200, pac_type, text, extra);
}

}   // namespace garner::proxy
