// The possible routes of a request: the question for the mesh. Pure.
#pragma once
#include <optional>
#include <span>

#include "http/cache_control.hpp"
#include "http/message.hpp"
#include "http/access_rules.hpp"
#include "icp/choice.hpp"
#include "icp/options.hpp"

namespace garner::proxy {

/// True for a GET that any cache may answer (RFC 2187's hierarchical requests); for others a query to peers is useless.
bool is_hierarchical(http::RequestHead const&, http::RequestCacheControl const&);

/// The decision of the direct lists. `destination`: the origin's address, or nullptr when unknown; rules that need it do
/// not match then. `always` takes precedence over `never`.
icp::Question::Direct direct_of(icp::DirectOptions const&, http::RuleRequest const&, IpAddress const* destination);

/// True when one of the rules depends on the origin's address.
bool needs_destination(icp::DirectOptions const&, http::RuleRequest const&);

/// True unless the rules refuse this client cache misses: the first matching rule decides.
bool may_have_misses(std::span<http::AccessRule const>, http::RuleRequest const&);

}   // namespace garner::proxy
