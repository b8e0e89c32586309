// Keeps the peers' digests fresh: each is fetched from its peer, and again when it has expired.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "client/exchange.hpp"
#include "icp/digest_times.hpp"
#include "icp/peer.hpp"
#include "net/worker.hpp"

namespace garner::icp {

class Mesh;

/// Runs on one worker; looks around every second.
class DigestFetcher {
public:
    DigestFetcher(Mesh& mesh, net::Worker& worker) : mesh_(mesh), worker_(worker), timer_(worker.io.get_executor()) {}
    /// Before the worker runs.
    void start();
    /// On the worker: ends what is under way.
    void stop();

private:
    struct Watch;
    struct Place;
    net::awaitable<void> run();
    void look();
    net::awaitable<void> renew(std::shared_ptr<Watch> watch);
    net::awaitable<void> fetch(Watch& watch, Place const& place);
    net::awaitable<void> receive(Watch& watch, Place const& place);
    static std::optional<Place> place_of(PeerOptions const&);

    Mesh& mesh_;
    net::Worker& worker_;
    net::Timer timer_;
    std::map<std::shared_ptr<Peer>, std::shared_ptr<Watch>> watches_;
    bool stopped_ = false;
};

}  // namespace garner::icp
