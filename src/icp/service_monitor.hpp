// Asks DNS for the servers of the services that are peers (peers[].srv).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "icp/periodic_task.hpp"
#include "net/srv_answer.hpp"

namespace garner::icp {

/// Looks every 500 ms whether an answer has expired, and asks again. Without an answer all stays as it is.
class ServiceMonitor final : public PeriodicTask {
public:
    ServiceMonitor(Mesh& mesh, net::Worker& worker) : PeriodicTask(mesh, worker, milliseconds{500}) {}

private:
    struct Watch {
        SteadyTime ask_at{};
        bool asking = false;
        bool failed = false;   // the last query: its failure was logged
        std::string refused;   // servers at local addresses, which were logged
    };

    void look_around() override;
    net::awaitable<void> ask(std::string service);
    net::awaitable<std::vector<net::SrvTarget>> usable(std::string service, std::vector<net::SrvTarget> targets);
    bool permits_local(std::string_view service) const;
    void use(std::string const& service, std::vector<net::SrvTarget> targets);

    std::map<std::string, Watch> watches_;
};

}   // namespace garner::icp
