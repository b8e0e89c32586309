// Paths of this proxy: the PAC file, the quotas and the root certificate of interception for clients, and those that other caches
// request, as with Squid: the cache digest, and others, which get 404.
#pragma once
#include <string_view>

#include "http/access_rules.hpp"
#include "proxy/interception.hpp"
#include "proxy/options.hpp"
#include "proxy/target.hpp"

namespace garner::proxy {

inline constexpr std::string_view quota_path = "/quota";   // the shortest of these paths
inline bool is_wpad_path(std::string_view path) { return path.substr(0, path.find('?')) == "/wpad.dat"; }
inline bool is_pac_path(std::string_view path) { return path.substr(0, path.find('?')) == "/proxy.pac" || is_wpad_path(path); }
inline bool is_quota_path(std::string_view path) { return path.substr(0, path.find('?')) == quota_path; }
inline bool is_internal_path(std::string_view path) {
    bool const may_be = path.size() >= quota_path.size() && path.front() == '/';
    return may_be && (path.starts_with("/squid-internal-") || path == root_path || is_pac_path(path) || is_quota_path(path));
}

/// True when such a path is requested from this proxy itself: in origin-form, or at one of its listening addresses; a PAC file
/// also at a name in `pac.proxies`. HTTP/2 has no origin-form. All other requests to the proxy's own addresses are refused.
/// Intercepted requests are for other servers.
bool is_internal(Target const&, http::OwnAddresses const&, PacOptions const&);

/// The page of refusals, requested through this proxy by plain HTTP.
bool is_refusals_page(Target const&, http::Method, Options const&);

}   // namespace garner::proxy
