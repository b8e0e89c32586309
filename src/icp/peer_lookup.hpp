// The seam for ways to ask peers: ICP, HTCP, cache digests. A new one is one file and one row in lookups.cpp.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "icp/reply.hpp"
#include "net/worker.hpp"

namespace garner::icp {

class Mesh;

/// Takes what peers say. On the worker that it was handed out on.
class ReplySink {
public:
    virtual ~ReplySink() = default;
    /// From whichever worker the answer arrived at: it finds its way to the one that asked. Answers that nobody waits
    /// for are noted for the peer's health; those nobody asked for are counted and dropped.
    virtual void heard(Reply const&) = 0;
};

/// What a lookup is given; all outlive it.
struct LookupServices {
    Mesh& mesh;
    net::Worker& worker;
    ReplySink& sink;
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
    /// Never waits. What is known at once may be told before it returns.
    virtual void ask(Query const&, std::span<std::shared_ptr<Peer> const>, ReplySink&) = 0;
    /// These are to drop the URL; they acknowledge by an answer: HIT when it is gone, MISS when they did not have it.
    virtual void clear(Query const&, std::span<std::shared_ptr<Peer> const>) {}
};

struct LookupRow {
    Protocol protocol = Protocol::icp;
    /// It knows at once, without asking anybody: a HIT of its spares the others the question.
    bool at_once = false;
    std::unique_ptr<PeerLookup> (*make)(LookupServices const&) = nullptr;
};
/// In the order in which they are tried: a peer is asked by the first that reaches it.
std::span<LookupRow const> lookups();

}  // namespace garner::icp
