// Keeps the addresses of peers' names up to date, and probes dead peers and the proxies of PAC files.
#pragma once
#include <memory>
#include <unordered_map>

#include "client/exchange.hpp"
#include "icp/periodic_task.hpp"
#include "net/connector.hpp"

namespace garner::icp {

class Peer;

/// Checks every second.
class PeerMonitor final : public PeriodicTask {
public:
    PeerMonitor(Mesh& mesh, net::Worker& worker) : PeriodicTask(mesh, worker, milliseconds{1'000}) {}
    void stop() override;

private:
    /// The running operations for one peer.
    struct Watch {
        SteadyTime wanted_at{};   // last seen in the peer_table
        bool is_watched = false;
        SteadyTime probe_at{};   // if it is watched
        SteadyTime find_at{};    // when its name is resolved again
        bool finding = false;
        net::ConnectStop* probing = nullptr;
        client::Exchange* asking = nullptr;   // the request of a probe
    };

    void look_around() override;
    /// Resolves again every minute, and every few seconds while the name does not resolve.
    net::awaitable<void> find(std::shared_ptr<Peer> peer);
    bool wants_probe(Peer const& peer, Watch const& watch, SteadyTime now) const;
    /// Tries a connection to the HTTP port of a peer whose connections failed or which is watched, with its TLS handshake. Sends
    /// a request, too, if requests to the peer wait.
    net::awaitable<void> probe(std::shared_ptr<Peer> peer);
    net::awaitable<bool> responds(std::shared_ptr<Peer> peer, std::unique_ptr<net::Transport> transport);

    std::unordered_map<std::shared_ptr<Peer>, Watch> watches_;
};

}   // namespace garner::icp
