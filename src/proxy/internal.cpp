#include "proxy/internal.hpp"

#include "util/ip.hpp"

namespace garner::proxy {

bool is_internal(Target const& target, http::OwnAddresses const& own) {
    auto const& uri = target.uri;
    if (!is_internal_path(uri.path_and_query) || target.accelerated) return false;
    if (target.to_us) return true;
    auto const address = parse_ip(uri.authority.host);
    return address && uri.scheme == http::Scheme::http && http::is_own_listener(*address, uri.authority.port, own);
}

}   // namespace garner::proxy
