// The interface of query protocols: ICP, HTCP, cache digests. CONTRIBUTING.md tells how to add one.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "icp/reply.hpp"
#include "net/handed_sockets.hpp"
#include "net/worker.hpp"
#include "util/prepared.hpp"
#include "util/result.hpp"

namespace garner::icp {

class Agent;
class Mesh;
struct Options;
struct PeerOptions;
using Peers = std::span<std::shared_ptr<Peer> const>;

/// The services of a lookup; all outlive it.
struct LookupServices {
    Mesh& mesh;
    net::Worker& worker;
    Agent& agent;   // the worker's, which receives the replies
};

/// One per worker; used on its thread only, except for construction, open() and prepare().
class PeerLookup {
public:
    virtual ~PeerLookup() = default;
    /// Takes its port; the fault names the address.
    virtual Result<void> open() { return {}; }
    /// For a reload with these options, by the thread of reloads: takes another port. The fault names the key.
    virtual Result<Prepared> prepare(Options const&) {
        return Prepared([] {});
    }
    virtual void start() {}
    virtual void stop() {}
    /// Another process reads from the configured port's sockets until resume().
    virtual void pause() {}
    virtual void resume() {}
    /// Appends the configured port's sockets. `named` owns nothing.
    virtual void add_sockets(std::vector<net::NamedSocket>& named) const { (void)named; }
    /// True if this lookup queries that peer.
    virtual bool reaches(Peer const&) const = 0;
    /// Never waits. An immediate reply may go to the agent before it returns.
    virtual void ask(Query const&, Peers) = 0;
    /// Tells these peers to drop the URL. They acknowledge by a reply: HIT when it was removed, MISS when they did not have
    /// it.
    virtual void clear(Query const&, Peers) {}
};

struct LookupRow {
    Protocol protocol = Protocol::icp;
    std::string_view name;                        // in logs and `garner explain`
    std::uint16_t PeerOptions::*port = nullptr;   // a peer's port for it; nullptr: it has none
    /// Replies at once, without a query to a peer: its HIT spares the others the query.
    bool at_once = false;
    std::unique_ptr<PeerLookup> (*make)(LookupServices const&) = nullptr;
};
/// In the order in which they are tried: a peer is queried by the first lookup that reaches it.
std::span<LookupRow const> lookups();

/// The peer's port for the protocol; 0: none.
std::uint16_t port_of(PeerOptions const&, Protocol);
/// True if the peer has a port for queries of any protocol.
bool has_query_port(PeerOptions const&);

// Defined in the files named like them.
std::unique_ptr<PeerLookup> make_digest_lookup(LookupServices const&);
std::unique_ptr<PeerLookup> make_htcp_lookup(LookupServices const&);
std::unique_ptr<PeerLookup> make_icp_lookup(LookupServices const&);

}   // namespace garner::icp
