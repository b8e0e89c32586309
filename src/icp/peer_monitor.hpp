// What has to be looked after beside the requests: the addresses of peers' names, and whether the dead live again.
#pragma once
#include <memory>
#include <unordered_map>

#include "net/connector.hpp"
#include "net/worker.hpp"
#include "util/clock.hpp"

namespace garner::icp {

class Mesh;
class Peer;

/// Runs on one worker; looks around every second.
class PeerMonitor {
public:
    PeerMonitor(Mesh& mesh, net::Worker& worker) : mesh_(mesh), worker_(worker), timer_(worker.io.get_executor()) {}
    /// Before the worker runs.
    void start();
    /// On the worker.
    void stop();

private:
    /// What is under way for one peer.
    struct Care {
        SteadyTime wanted_at{};            // last seen in the peer_table
        SteadyTime find_at{};              // its name is to be looked up again
        bool finding = false;
        net::ConnectStop* probing = nullptr;
    };

    net::awaitable<void> run();
    void look_around();
    /// Names again every minute, and every few seconds while they lead nowhere.
    net::awaitable<void> find(std::shared_ptr<Peer> peer);
    /// A connection to the HTTP port of one whose connections failed.
    net::awaitable<void> probe(std::shared_ptr<Peer> peer);

    Mesh& mesh_;
    net::Worker& worker_;
    net::Timer timer_;
    std::unordered_map<std::shared_ptr<Peer>, Care> cares_;
    bool stopped_ = false;
};

}  // namespace garner::icp
