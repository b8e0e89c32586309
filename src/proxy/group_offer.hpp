// Offers a stored object to the group: which objects, and when.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "group/offer.hpp"
#include "group/state.hpp"
#include "proxy/request.hpp"
#include "util/result.hpp"

namespace garner::proxy {

/// A response that is stored, or is being stored.
struct OfferedResponse {
    std::uint16_t status = 0;
    std::string_view head;
    http::Terms const& terms;
    std::optional<Bytes> length;
};

/// The offer of the response to this request; a fault says why other members could not fetch it as this one did. The URL is that of
/// the request: no field of the response can name another one.
Result<group::Offer> offer_of(Request const& request, OfferedResponse const& response);

/// The result for `garner group fetch` if the voters were not asked.
group::SubmissionResult not_offered(std::string why);

/// True if the response to this request is offered once it is stored: `group.replicate` names it, and it is not offered yet.
bool is_to_be_offered(Request const& request);

}   // namespace garner::proxy
