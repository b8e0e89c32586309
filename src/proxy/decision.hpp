// Decisions about a request that need no waiting. A transaction carries them out; `garner explain` only reports them. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "cache/cache.hpp"
#include "http/cache_status.hpp"
#include "http/cacheability.hpp"
#include "http/framing.hpp"
#include "http/freshness.hpp"
#include "http/access_rules.hpp"
#include "http/caching_rules.hpp"
#include "proxy/client.hpp"
#include "proxy/options.hpp"
#include "proxy/target.hpp"

namespace garner::proxy {

/// The rules' view of the request. Holds views into the first three arguments.
http::RuleRequest rule_request(http::RequestHead const&, Target const&, Client const&, WallTime now);

/// The access rules' decision on a connection to this address, or on an object stored from it. An accelerator's origin is
/// the operator's own choice: it is subject to the rules, but not to the destinations that are blocked by default.
http::Decision permits(Options const&, http::OwnAddresses const&, Target const&, http::RuleRequest const&,
                       IpAddress const& destination);

/// The access rules' decision before any name is resolved.
struct Admission {
    http::Decision decision;                     // needs_destination: the host is a name, and its addresses decide
    bool source_matters = false;                 // the address decides, also the one that a stored response came from
    std::optional<IpAddress> destination = {};   // the address that was decided on: the host is one
};
Admission admit(Options const&, http::OwnAddresses const&, Target const&, http::RuleRequest const&);

/// False for a request with a body: the end of the body and the start of the new protocol are indistinguishable.
bool wants_upgrade(http::RequestHead const&, http::Framing const&);

/// True when the client's no-cache is ignored by a caching rule's `reload`.
bool ignores_reload(Caching const&, http::RequestCacheControl const&, http::RuleRequest const&);

/// Why the request is passed to the origin without a cache lookup.
http::Bypass why_bypassed(http::RequestHead const&, http::Framing const&, http::RequestCacheControl const&, Target const&,
                          Caching const&);

/// Requests that need a response of their own neither lead nor follow. A range request leads and follows if it fetches the
/// whole response.
cache::Collapse collapse_of(http::RequestHead const&, http::RequestCacheControl const&, Caching const&, bool fetches_whole = false);

/// The action for a request that the access rules allow.
enum class Action : std::uint8_t {
    look,     // look into the cache; after_lookup() decides next
    tunnel,   // CONNECT
    purge,
    pass,              // pass to the origin without the cache
    refuse_misses,     // 504: this client is allowed cached responses only
    deliver,           // from the store
    refresh,           // deliver from the store, and revalidate in the background
    deliver_offline,   // deliver from the store although stale: caching.offline
    only_if_cached,    // 504: the client sent only-if-cached
    // These use the lease and the object from the lookup:
    tell_failure,   // answer with a remembered failure
    follow,         // join another request's fetch
    fetch           // fetch, or revalidate the stored object
};
/// `may_have_misses` is a function, because most requests do not need its result.
template <class MayHaveMisses>
Action before_lookup(http::Method method, http::Bypass bypass, MayHaveMisses const& may_have_misses) {
    if (method == http::Method::purge) return Action::purge;
    if (method != http::Method::connect && bypass == http::Bypass::none) return Action::look;
    if (!may_have_misses()) return Action::refuse_misses;
    return method == http::Method::connect ? Action::tunnel : Action::pass;
}

/// The action without the origin: `pass` when the stored response must not answer a request with credentials (RFC 9111
/// 3.5), `fetch` when the origin must be asked. `object`: the stored object, or nullptr.
Action without_asking(cache::Lookup::Kind, store::Object const* object, http::RequestHead const&, http::RequestCacheControl const&,
                      Caching const&);

/// The last two arguments are functions, because most requests do not need their results.
template <class MayHaveMisses, class HearsOfFailure>
Action after_lookup(Action without_asking, bool follows, MayHaveMisses const& may_have_misses,
                    HearsOfFailure const& hears_of_failure) {
    if (without_asking != Action::pass && without_asking != Action::fetch) return without_asking;
    if (!may_have_misses()) return Action::refuse_misses;
    if (without_asking == Action::pass) return Action::pass;
    if (hears_of_failure()) return Action::tell_failure;
    return follows ? Action::follow : Action::fetch;
}

/// Why a request goes to the origin, and the rule that excluded or removed a stored response; nothing: none was stored.
struct Forwarding {
    http::Fwd fwd;
    std::optional<http::ReuseReason> reason;
};
/// After a lookup. A request that asks only for the bytes that stored parts lack() is http::Fwd::partial instead.
Forwarding why_forwarded(cache::FoundResponse const&);
/// Without one. `bypass` is not none.
http::Fwd why_forwarded(http::Bypass bypass);

/// The bytes that are missing from these stored parts; nothing when the whole is to be fetched instead.
std::optional<store::Body::Span> lacks(store::Object const& parts, Bytes object_max);

/// The operator's rule that overrode RFC 9111 for this response, a literal; empty when none did.
char const* rule_override(bool reload_ignored, http::Terms const&);

/// True when the remembered failure also answers this request.
bool hears_of(cache::KnownFailure const&, http::RequestHead const&, http::RequestCacheControl const&);

/// Fingerprint of the request fields in their order and spelling. Leaves out connection fields, cache fields and
/// conditions.
Fingerprint fingerprint_of(http::Fields const&);

/// The freshness options for this media type, from the options and their rules; without targeted fields.
http::FreshnessOptions freshness_options(Caching const&, http::RuleRequest const&, std::string_view content_type);
/// True when the request's http::is_gateway_field fields are removed before the origin is asked. `sender`: the other end of the
/// connection.
bool drops_gateway_fields(Options const&, bool accelerated, IpAddress const& sender);

bool rule_forbids_storing(Caching const&, http::RuleRequest const&, std::string_view content_type);

}   // namespace garner::proxy
