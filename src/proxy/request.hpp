// The state of one request, shared by the classes that carry it out.
#pragma once
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

namespace garner::proxy {

/// Memory that the requests of one connection use one after the other, so that a hit allocates nothing.
struct Scratch {
    Target target;
    std::string key_text;
    std::string head_text;               // of the response that is being sent or stored
    std::string stored_text;             // a stored head with its blank line
    http::ResponseHead stored_head;      // read from stored_text
    PatchBuffer patch;
    std::string upstream_text;           // the head of the request to a source
    std::string pool_key;                // of the source's connections
    std::vector<icp::Source> sources;
    Record::Texts record;
    std::vector<std::string_view> targeted;   // names of targeted fields, into `targeted_of`
    std::shared_ptr<Options const> targeted_of;

    /// Into stored_head, until the next one is read.
    void read_head_of(store::Object const&);
};

/// Made anew for each request. Belongs to one worker.
struct Request {
    Request(Services& services, ClientStream& client, AcceleratedOrigin const* accelerates, Scratch& scratch,
            std::shared_ptr<Options const> const& options);

    Services& services;
    ClientStream& client;
    AcceleratedOrigin const* accelerates;   // of the listener; null: a forward proxy
    Scratch& scratch;
    std::shared_ptr<Options const> const& options;
    Target& target;
    http::RequestCacheControl control;
    cache::Key key;
    WallTime now = wall_now();               // of the freshness of responses; moves when one arrives
    SteadyTime const started = steady_now();
    Record record;

    bool close;                              // the connection ends with the response
    bool head_sent = false;
    bool client_gone = false;
    bool aborted = false;
    bool source_matters = false;             // the rules decide by the address that a response came from
    bool reload_ignored = false;             // by a caching rule
    bool uploading = false;                  // the request's body is on its way
    cache::FillPtr led;                      // the fill that the fetch is for
    net::WakeHandle waiting;                 // woken by an abort

    http::RequestHead const& head() const { return client.head(); }
    http::RuleRequest facts() const { return rule_request(head(), target, client.peer().address, client.listener(), now); }
    http::Decision permits(http::RuleRequest const& facts, IpAddress const& destination) const {
        return proxy::permits(*options, *services.own, target, facts, destination);
    }
    /// True when the rules allow this client what came from there.
    bool may_have(store::Object const& object) const {
        return !source_matters || permits(facts(), object.source()).allowed();
    }
    bool wants_upgrade() const { return proxy::wants_upgrade(head(), client.body_framing()); }
    /// A body, or the bytes behind an upgrade: they may have to wait for the receiver.
    bool sends_body() const { return client.body_framing().kind != http::Framing::Kind::none || wants_upgrade(); }
    /// The client asks for the newest: it is told of no remembered failure either.
    bool reloads() const { return control.is_reload(); }
    bool may_have_misses() const;
    /// Addresses of one network are one client. A gateway that is trusted to name its clients is not one itself.
    IpAddress client_network() const;
    /// The terms of caching for a response of this type. Its view lives as long as the request.
    http::FreshnessOptions freshness_options(std::string_view content_type) const;
    /// Tells client and log where the operator's rules, not RFC 9111, made this response what it is.
    void say_departure(http::Terms const& terms);
    Fingerprint origin() const { return services.cache.key(target.host_field).fingerprint; }
    /// Others count on the fetch: it goes on when this client leaves, else each client that leaves would make them start anew.
    bool others_wait() const { return led && led->followers() > 0; }
    /// When the client hangs up, `give_up` ends what runs, unless others count on the fetch. Until client.unwatch().
    template <class GiveUp>
    void watch_client(GiveUp give_up) {
        client.watch([this, give_up] {
            client_gone = true;
            if (!others_wait()) give_up();
        });
    }
    cache::Query query(cache::Collapse collapse) const { return {key, head(), control, now, collapse}; }
    net::Executor executor() const { return services.worker.io.get_executor(); }
    /// Waits until what was removed stays so, whatever becomes of this process. False: the disk does not say so in time.
    net::awaitable<bool> outlives(store::Survives what);
};

}  // namespace garner::proxy
