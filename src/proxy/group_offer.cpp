#include "proxy/group_offer.hpp"

#include <algorithm>
#include <utility>

#include "group/group.hpp"

namespace garner::proxy {

using http::Name;

namespace {

/// Null: another member that sends a plain GET gets the same response.
char const* why_not_offered(Request const& request, OfferedResponse const& response) {
    auto const& head = request.head();
    if (request.only_origin() || request.target.uri.scheme != http::Scheme::http)
        return "only http:// URLs that clients ask this proxy for are replicated";
    if (!request.services.cache.invalidations.covers_url(request.target.url)) return "group.objects does not cover this URL";
    if (head.fields.has(Name::authorization)) return "the request has Authorization";
    if (response.status != 200 || response.terms.negative) return "the response is not 200";
    if (!http::field_in(response.head, "Vary").empty()) return "the response has Vary";
    if (response.terms.no_cache) return "the response must be validated before each use (no-cache)";
    return nullptr;
}

}   // namespace

Result<group::Offer> offer_of(Request const& request, OfferedResponse const& response) {
    if (char const* const why = why_not_offered(request, response)) return Fault{why};
    auto const left = std::int64_t{response.terms.lifetime} - http::current_age(response.terms, wall_now());
    if (left <= 0) return Fault{"the response is not fresh"};
    group::Offer offer;
    offer.url = request.target.url;
    auto const tag = http::field_in(response.head, "ETag");
    offer.validator = tag.empty() ? http::field_in(response.head, "Last-Modified") : tag;
    offer.length = response.length.value_or(0);
    offer.life = static_cast<std::uint32_t>(std::min<std::int64_t>(left, UINT32_MAX));
    if (!group::is_sendable(offer)) return Fault{"its URL is longer than 8 KiB, or its validator longer than 512 bytes"};
    return offer;
}

group::SubmissionResult not_offered(std::string why) {
    group::SubmissionResult result;
    result.why = std::move(why);
    return result;
}

bool is_to_be_offered(Request const& request) {
    auto const* const group = request.services.group;
    auto const& rules = request.options->group.replicate;
    if (!group || rules.empty() || request.in_group.replicates || request.in_group.of_offer) return false;
    auto const facts = request.facts();
    auto const names = [&](http::Matcher const& rule) { return rule.matches(facts, nullptr) == http::Matcher::Result::yes; };
    return std::ranges::any_of(rules, names);
}

}   // namespace garner::proxy
