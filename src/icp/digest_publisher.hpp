// Keeps this cache's own digest fresh: built on a schedule and on request, in the background.
#pragma once
#include "icp/periodic_task.hpp"

namespace garner::icp {

class DigestScan;
struct Options;

/// Works in slices; none blocks the worker for longer than a request would.
class DigestPublisher final : public PeriodicTask {
public:
    DigestPublisher(Mesh& mesh, net::Worker& worker) : PeriodicTask(mesh, worker, milliseconds{250}) {}

private:
    net::awaitable<void> run() override;
    net::awaitable<void> make(milliseconds life);
    net::awaitable<void> read_disk(DigestScan& scan);
    static bool expects_readers(Options const&);
};

}   // namespace garner::icp
