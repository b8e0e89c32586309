// Invalidation (RFC 9111 4.4): what a request that may have changed something makes of stored responses.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "http/message.hpp"
#include "http/uri.hpp"

namespace garner::http {

/// True when stored responses of the request's target must not be used any more: the method is unsafe or unknown and
/// `status` is no error. Without a `status` the request went out and no answer came back: the origin may have done what
/// it said, which RFC 9111 leaves open and this cache takes for a yes.
bool invalidates(Method, std::optional<std::uint16_t> status);

/// What such an answer invalidates beside the target: the URIs of Location and Content-Location on the target's own
/// origin, in normal form. Those of other origins are none of this origin's business.
std::vector<std::string> also_invalidated(ResponseHead const&, Uri const& target);

}  // namespace garner::http
