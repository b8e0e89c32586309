// Paths at our own address that other caches look for, where Squid has them: our cache digest, and what we do not have.
#pragma once
#include <string_view>

#include "http/rule.hpp"
#include "proxy/target.hpp"

namespace garner::proxy {

inline bool is_internal_path(std::string_view path) { return path.starts_with("/squid-internal-"); }

/// True when such a path is asked for at this proxy itself: in origin-form, or at a place where it listens. The only
/// requests to oneself that are answered.
bool is_internal(Target const&, http::OwnAddresses const&);

}  // namespace garner::proxy
