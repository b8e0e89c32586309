// Whether Host names this admin address. Pure.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "util/ip.hpp"

namespace garner::admin {

/// A name that an attacker points here (DNS rebinding) would give a foreign page's script the rights of the admin page. Accepted
/// are only the literal address with its port, and the names that the operator has configured, with any port.
bool is_own_name(std::string_view host, IpEndpoint const& own, std::span<std::string const> names);

}   // namespace garner::admin
