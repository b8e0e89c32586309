// Which ways a request may go: what the mesh is asked about it. Pure.
#pragma once
#include <optional>
#include <span>

#include "http/cache_control.hpp"
#include "http/message.hpp"
#include "http/rule.hpp"
#include "icp/choice.hpp"
#include "icp/options.hpp"

namespace garner::proxy {

/// True for a GET that any cache may answer (RFC 2187's hierarchical requests): others would only be asked in vain.
bool is_hierarchical(http::RequestHead const&, http::RequestCacheControl const&);

/// What the lists say. `destination`: the origin's address, or nullptr when it is not known; rules that need it do not
/// match then. `always` goes before `never`.
icp::Question::Direct direct_of(icp::DirectOptions const&, http::RuleRequest const&, IpAddress const* destination);

/// True when one of the rules could only be decided with the origin's address.
bool needs_destination(icp::DirectOptions const&, http::RuleRequest const&);

/// True unless the rules refuse this client what is not stored: the first that matches decides.
bool may_have_misses(std::span<http::AccessRule const>, http::RuleRequest const&);

}  // namespace garner::proxy
