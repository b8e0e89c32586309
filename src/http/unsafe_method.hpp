// Invalidation (RFC 9111 4.4): the effect of unsafe requests on stored responses.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "http/message.hpp"
#include "http/uri.hpp"

namespace garner::http {

/// True when stored responses of the request's target must not be used any more: the method is unsafe or unknown and
/// `status` is no error. Without a `status` the request was sent and no response came: the origin may have executed it. RFC
/// 9111 leaves this case open; this cache invalidates.
bool invalidates(Method, std::optional<std::uint16_t> status);

/// The further URIs that such a response invalidates: Location and Content-Location on the target's own origin, in normal
/// form. URIs of other origins are ignored.
std::vector<std::string> also_invalidated(ResponseHead const&, Uri const& target);

}   // namespace garner::http
