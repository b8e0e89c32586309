// What is decided about a request from what is known without waiting: by the transaction, which then does it, and by
// `garner explain`, which only tells. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "cache/cache.hpp"
#include "http/cacheability.hpp"
#include "http/framing.hpp"
#include "http/freshness.hpp"
#include "http/rule.hpp"
#include "proxy/options.hpp"
#include "proxy/target.hpp"

namespace garner::proxy {

/// What rules see of the request. Views into both.
http::RuleRequest rule_request(http::RequestHead const&, Target const&, IpAddress const& client,
                               std::uint16_t listener, WallTime now);

/// True when it has been here before, or has passed too many proxies.
bool is_loop(http::RequestHead const&, std::string_view via_name, Limits const&);

/// What the access rules say of a connection to this address, or of what was stored from it. An accelerator's origin is
/// the operator's own choice: the rules count, what is closed by default does not.
http::Decision permits(Options const&, http::OwnAddresses const&, Target const&, http::RuleRequest const&,
                       IpAddress const& destination);

/// What the access rules say before any name is resolved.
struct Admission {
    http::Decision decision;       // needs_destination: the host is a name, and its addresses decide
    bool source_matters = false;   // the address decides, also the one that a stored response came from
};
Admission admit(Options const&, http::OwnAddresses const&, Target const&, http::RuleRequest const&);

/// Never with a body: who would say where it ends and the new protocol begins?
bool wants_upgrade(http::RequestHead const&, http::Framing const&);

/// True when the client's wish to ask the origin is not heeded: a caching rule's `reload`.
bool ignores_reload(Caching const&, http::RequestCacheControl const&, http::RuleRequest const&);

/// Why the request is passed to the origin without a look into the cache.
http::Bypass why_bypassed(http::RequestHead const&, http::Framing const&, http::RequestCacheControl const&, Target const&,
                          Caching const&);

/// Requests that must have their own answer neither lead others nor wait for them; those for a range do where it fetches
/// the whole.
cache::Collapse collapse_of(http::RequestHead const&, http::RequestCacheControl const&, Caching const&);

/// What comes of a request that the access rules allow.
enum class Action : std::uint8_t {
    look,            // into the cache: after_lookup() then
    tunnel,          // CONNECT
    purge,
    pass,            // to the origin, past the cache
    refuse_misses,   // 504: this client gets only what is stored
    deliver,         // from the store
    refresh,         // the same, and it is revalidated in the background
    deliver_offline, // the same, stale as it is: caching.offline
    only_if_cached,  // 504: the client wants nothing else
    // With the lease and the object that the lookup gave:
    tell_failure,    // one that is remembered
    follow,          // somebody else's fetch
    fetch            // or revalidate what was found
};
/// `may_have_misses` is a function, since most requests need no answer from it.
template <class MayHaveMisses>
Action before_lookup(http::Method method, http::Bypass bypass, MayHaveMisses const& may_have_misses) {
    if (method == http::Method::purge) return Action::purge;
    if (method != http::Method::connect && bypass == http::Bypass::none) return Action::look;
    if (!may_have_misses()) return Action::refuse_misses;
    return method == http::Method::connect ? Action::tunnel : Action::pass;
}

/// From the store, `pass` where what is stored is not for requests with credentials (RFC 9111 3.5), or `fetch`. `object`: what was
/// found, or nullptr.
Action without_asking(cache::Lookup::Kind, store::Object const* object, http::RequestHead const&, http::RequestCacheControl const&,
                      Caching const&);

/// The last two are functions for the same reason.
template <class MayHaveMisses, class HearsOfFailure>
Action after_lookup(Action without_asking, bool follows, MayHaveMisses const& may_have_misses, HearsOfFailure const& hears_of_failure) {
    if (without_asking != Action::pass && without_asking != Action::fetch) return without_asking;
    if (!may_have_misses()) return Action::refuse_misses;
    if (without_asking == Action::pass) return Action::pass;
    if (hears_of_failure()) return Action::tell_failure;
    return follows ? Action::follow : Action::fetch;
}

/// What is to be fetched to make these stored parts the whole; nothing where the whole is fetched rather.
std::optional<store::Body::Span> lacks(store::Object const& parts, Bytes object_max);

/// Where the operator's rules, not RFC 9111, made the answer from the store what it is: a literal, empty when they did not.
char const* departure(bool reload_ignored, http::Terms const&);

/// True when the remembered failure is this request's answer, too.
bool hears_of(cache::KnownFailure const&, http::RequestHead const&, http::RequestCacheControl const&);

/// Tells requests apart by their fields, in their order and as they were written; without those that speak of the connection or to
/// caches, and without conditions.
Fingerprint fingerprint_of(http::Fields const&);

/// The client that a peer of `forwarded_trusted` names last in X-Forwarded-For; else the peer.
IpAddress named_client(Options const&, http::RequestHead const&, IpAddress const& peer);

/// The terms of caching for an answer of this type, by the options and their rules; without targeted fields.
http::FreshnessOptions freshness_options(Caching const&, http::RuleRequest const&, std::string_view content_type);
/// True when the client's http::is_gateway_field do not reach the origin.
bool drops_gateway_fields(Options const&, bool accelerated, IpAddress const& client);

bool rule_forbids_storing(Caching const&, http::RuleRequest const&, std::string_view content_type);

}  // namespace garner::proxy
