// The seam for ways to ask peers: ICP, HTCP, cache digests. A new one is one file and one row in lookups.cpp.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "icp/reply.hpp"
#include "net/worker.hpp"

namespace garner::icp {

class Agent;
class Mesh;
using Peers = std::span<std::shared_ptr<Peer> const>;

/// What a lookup is given; all outlive it.
struct LookupServices {
    Mesh& mesh;
    net::Worker& worker;
    Agent& agent;          // the worker's, which takes the replies
};

/// One a worker; used on its thread only, but for its making and open().
class PeerLookup {
public:
    virtual ~PeerLookup() = default;
    /// Takes its port; false with `fault` naming the address when it cannot be had.
    virtual bool open(std::string& fault) = 0;
    virtual void start() {}
    virtual void stop() {}
    /// Whether this is the way to ask that peer.
    virtual bool reaches(Peer const&) const = 0;
    /// Never waits. A reply that is known at once may go to the agent before it returns.
    virtual void ask(Query const&, Peers) = 0;
    /// These are to drop the URL; they acknowledge by a reply: HIT when it is gone, MISS when they did not have it.
    virtual void clear(Query const&, Peers) {}
};

struct LookupRow {
    Protocol protocol = Protocol::icp;
    /// It knows at once, without asking a peer: a HIT of its spares the others the query.
    bool at_once = false;
    std::unique_ptr<PeerLookup> (*make)(LookupServices const&) = nullptr;
};
/// In the order in which they are tried: a peer is asked by the first that reaches it.
std::span<LookupRow const> lookups();

// In the files named like them.
std::unique_ptr<PeerLookup> make_digest_lookup(LookupServices const&);
std::unique_ptr<PeerLookup> make_htcp_lookup(LookupServices const&);
std::unique_ptr<PeerLookup> make_icp_lookup(LookupServices const&);

}  // namespace garner::icp
