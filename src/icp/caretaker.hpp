// What has to be looked after beside the requests: the addresses of peers' names, and whether the dead live again.
#pragma once
#include "net/worker.hpp"

namespace garner::icp {

class Mesh;
class Peer;

/// Runs on one worker; looks around every second.
class Caretaker {
public:
    Caretaker(Mesh& mesh, net::Worker& worker) : mesh_(mesh), worker_(worker), timer_(worker.io.get_executor()) {}
    /// Before the worker runs.
    void start();
    /// On the worker.
    void stop();

private:
    net::awaitable<void> run();
    /// Names again every minute, and every few seconds while they lead nowhere.
    net::awaitable<void> find(std::shared_ptr<Peer> peer);
    /// A connection to the HTTP port of one whose connections failed.
    net::awaitable<void> probe(std::shared_ptr<Peer> peer);

    Mesh& mesh_;
    net::Worker& worker_;
    net::Timer timer_;
    bool stopped_ = false;
};

}  // namespace garner::icp
