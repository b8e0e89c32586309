// The page with the quotas of a client. Pure.
#pragma once
#include <span>
#include <string>

#include "proxy/error_page.hpp"
#include "share/quota.hpp"
#include "util/clock.hpp"

namespace garner::proxy {

/// HTML without scripts, plain text, or JSON: {"quotas":[{"name":"guests",...}]}.
std::string quota_page(std::span<share::QuotaStanding const>, WallTime now, ErrorFormat);

}   // namespace garner::proxy
