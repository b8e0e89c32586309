// The state of one request, shared by the classes that process it.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cache/cache.hpp"
#include "http/cache_control.hpp"
#include "icp/source.hpp"
#include "net/waiter.hpp"
#include "proxy/client_stream.hpp"
#include "proxy/decision.hpp"
#include "proxy/head_writer.hpp"
#include "proxy/record.hpp"
#include "proxy/services.hpp"
#include "proxy/target.hpp"
#include "share/account.hpp"

namespace garner::group {
struct SubmissionResult;
}

namespace garner::proxy {

class KnownAdmissions;

/// Memory that the requests of one connection reuse, so that a hit allocates nothing.
struct Scratch {
    KnownAdmissions* admissions = nullptr;   // of the worker; may be null
    Target target;
    std::string head_text;            // the head of the response being sent or stored
    std::string stored_text;          // a stored head with its blank line
    http::ResponseHead stored_head;   // read from stored_text
    PatchBuffer patch;
    std::string upstream_text;   // the head of the request to a source
    std::string pool_key;        // the key of the source's pooled connections
    std::vector<icp::Source> sources;
    Record::Texts record;
    // Made again for other options:
    std::shared_ptr<Options const> made_for;
    std::vector<std::string_view> targeted;   // names of targeted fields, into `made_for`
    std::string signature;                    // see signature_of()

    /// Reads into stored_head; valid until the next call.
    void read_head_of(store::Object const&);
    /// Frees the memory of unusually large requests, between requests.
    void drop_large();
    static constexpr std::size_t usual = 4 * KiB;   // of each text
};

/// A new one is created for each request. Belongs to one worker.
struct Request {
    Request(Services& services, ClientStream& client, FixedOrigin const* only_origin, Scratch& scratch,
            std::shared_ptr<Options const> const& options);

    Services& services;
    ClientStream& client;
    FixedOrigin const* accelerated_origin;   // the listener's; null: a forward proxy
    FixedOrigin const* bumped_origin;        // the origin of the decrypted tunnel; null: not inside one
    FixedOrigin const* intercepted_origin;   // the destination of the intercepted connection; null: the client knows the proxy
    Scratch& scratch;
    std::shared_ptr<Options const> const& options;
    Target& target;
    http::RequestCacheControl control;
    cache::Key key;
    WallTime now = wall_now();   // reference time for freshness; updated when a response arrives
    SteadyTime started = steady_now();
    std::shared_ptr<http::Identity const> identity;   // nullptr: no rule has needed it yet
    Record record;

    bool close;   // the connection closes after the response
    bool head_sent = false;
    bool client_gone = false;
    bool aborted = false;
    struct {
        bool matter = false;                       // the rules depend on the address that a response came from
        std::optional<IpAddress> permitted = {};   // an address that the rules allow
    } addresses;
    bool reload_ignored = false;   // by a caching rule
    bool uploading = false;        // the request's body is being sent
    bool passes_caches = false;    // it goes out with no-cache, and to no sibling: see Invalidations
    struct {
        bool replicates = false;   // without a client, for the group: see GroupFetch
        bool of_offer = false;     // an offer of the URL was in force when the sources were chosen
        std::function<void(group::SubmissionResult const&)> offered = {};   // set: the response is offered with its head
    } in_group;
    cache::FillPtr led;                        // the fill that this request fetches for
    net::WakeHandle waiting;                   // for abort() to wake
    std::unique_ptr<share::Account> account;   // of what it takes from the line; see line_account()

    http::RequestHead const& head() const { return client.head(); }
    /// An https:// request; a CONNECT is none.
    bool is_https() const { return target.uri.scheme == http::Scheme::https && head().method != http::Method::connect; }
    http::RuleRequest facts() const {
        auto facts = rule_request(head(), target, *client.client(), now);
        facts.identity = identity.get();
        return facts;
    }
    http::Decision permits(http::RuleRequest const& facts, IpAddress const& destination) const {
        return proxy::permits(*options, *services.own, target, facts, destination);
    }
    /// True when the rules allow this client a response from that address.
    bool may_have(store::Object const& object) const { return !addresses.matter || may_reach(object.source()); }
    bool may_reach(IpAddress const& address) const { return address == addresses.permitted || permits(facts(), address).allowed(); }
    bool wants_upgrade() const { return proxy::wants_upgrade(head(), client.body_framing()); }
    /// A body, or the bytes after an upgrade: sending them may have to wait for the receiver.
    bool sends_body() const { return client.body_framing().kind != http::Framing::Kind::none || wants_upgrade(); }
    /// An offer of the object that it asks for is in force in the group.
    bool is_offered() const;
    /// The client sent no-cache: no remembered failure answers it either.
    bool reloads() const { return control.is_reload(); }
    bool may_have_misses() const;
    FixedOrigin const* only_origin() const {
        if (accelerated_origin) return accelerated_origin;
        return bumped_origin ? bumped_origin : intercepted_origin;
    }
    /// The client has accepted an invalid certificate with this error, X509_V_ERR_...; 0: none.
    long accepted_fault() const { return bumped_origin ? bumped_origin->accepted_fault : 0; }
    /// The client with the identity of this request, for requests that continue it without the client.
    std::shared_ptr<Client const> kept_client() const;
    /// Addresses of one network count as one client.
    IpAddress client_network() const;
    /// The freshness options for a response of this media type. The view in them lives as long as the request.
    http::FreshnessOptions freshness_options(std::string_view content_type) const;
    /// Reports to client and log that an operator's rule overrode RFC 9111 for this response.
    void record_rule_override(http::Terms const& terms);
    Fingerprint origin() const { return services.cache.key(target.host_field).fingerprint; }
    /// Followers wait for the fetch: it continues when this client leaves. Otherwise each leaving client would restart it.
    bool others_wait() const { return led && led->followers() > 0; }
    /// Calls `give_up` when the client disconnects, unless followers wait for the fetch. Active until client.unwatch().
    template <class GiveUp>
    void watch_client(GiveUp give_up) {
        client.watch([this, give_up] {
            client_gone = true;
            if (!others_wait()) give_up();
        });
    }
    cache::Query query(cache::Collapse collapse) const { return {key, head(), control, now, collapse}; }
    net::Executor executor() const { return services.worker.io.get_executor(); }
    /// Opened at the first call. nullptr: the request never waits for the line.
    share::Account* line_account();
    /// Waits until removals are durable. False: the disk did not confirm in time.
    net::awaitable<bool> outlives(store::Survives what);
};

}   // namespace garner::proxy
