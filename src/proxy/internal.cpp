#include "proxy/internal.hpp"

#include <algorithm>

#include "util/ip.hpp"

namespace garner::proxy {

namespace {

bool is_named(http::Authority const& authority, PacOptions const& pac) {
    return std::ranges::any_of(pac.proxies,
                               [&](PacProxy const& proxy) { return proxy.host == authority.host && proxy.port == authority.port; });
}

}   // namespace

bool is_internal(Target const& target, http::OwnAddresses const& own, PacOptions const& pac) {
    auto const& uri = target.uri;
    if (!is_internal_path(uri.path_and_query) || target.accelerated || target.destination) return false;
    if (target.to_us) return true;
    if (!target.literal) return is_pac_path(uri.path_and_query) && is_named(uri.authority, pac);
    return http::is_own_listener(*target.literal, uri.authority.port, own);
}

bool is_refusals_page(Target const& target, http::Method method, Options const& options) {
    auto const& uri = target.uri;
    bool const is_read = method == http::Method::get || method == http::Method::head;
    return is_read && !target.accelerated && !target.destination && uri.scheme == http::Scheme::http &&
           !options.refusals.page.empty() && uri.authority.host == options.refusals.page && uri.authority.port == 80;
}

}   // namespace garner::proxy
