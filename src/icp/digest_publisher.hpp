// Keeps our own digest fresh: made on a schedule and when somebody asks for it, beside the requests.
#pragma once
#include "net/worker.hpp"
#include "util/clock.hpp"

namespace garner::icp {

class DigestScan;
class Mesh;
struct Options;

/// Runs on one worker, in slices of which none keeps it for longer than a request would.
class DigestPublisher {
public:
    DigestPublisher(Mesh& mesh, net::Worker& worker) : mesh_(mesh), worker_(worker), timer_(worker.io.get_executor()) {}
    /// Before the worker runs.
    void start();
    /// On the worker.
    void stop();

private:
    net::awaitable<void> run();
    net::awaitable<void> make(milliseconds life);
    net::awaitable<void> read_disk(DigestScan& scan);
    net::awaitable<void> pause(milliseconds time);
    static bool expects_readers(Options const&);

    Mesh& mesh_;
    net::Worker& worker_;
    net::Timer timer_;
    bool stopped_ = false;
};

}  // namespace garner::icp
