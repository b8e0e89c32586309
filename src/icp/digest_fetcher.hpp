// Keeps the peers' digests fresh: fetches each from its peer, and again after it has expired.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "client/exchange.hpp"
#include "icp/periodic_task.hpp"
#include "icp/digest_times.hpp"
#include "icp/peer.hpp"

namespace garner::icp {

/// Checks every second.
class DigestFetcher final : public PeriodicTask {
public:
    DigestFetcher(Mesh& mesh, net::Worker& worker) : PeriodicTask(mesh, worker, milliseconds{1'000}) {}
    void stop() override;

private:
    struct Watch;
    struct Location;
    void look_around() override;
    net::awaitable<void> renew(std::shared_ptr<Watch> watch);
    net::awaitable<void> fetch(Watch& watch, Location const& location);
    net::awaitable<void> receive(Watch& watch, Location const& location);
    std::optional<Location> location_of(Peer const&) const;

    std::map<std::shared_ptr<Peer>, std::shared_ptr<Watch>> watches_;
};

}   // namespace garner::icp
