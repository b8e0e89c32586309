// The page of refusals: browsers show no body for a refused CONNECT. Pure.
#pragma once
#include <span>
#include <string>

#include "proxy/error_page.hpp"
#include "proxy/refusals.hpp"

namespace garner::proxy {

/// The client's own refusals, latest first, as HTML without scripts, plain text, or JSON.
std::string refusals_page(std::span<Refused const>, ErrorFormat);

}   // namespace garner::proxy
