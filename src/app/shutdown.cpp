#include "app/shutdown.hpp"

#include <algorithm>
#include <span>
#include <thread>

#include "io/log.hpp"
#include "util/units.hpp"

namespace garner::app {
namespace {

constexpr seconds end_patience{30};   // aborted requests, the disk, logs

}   // namespace

void log_pending(proxy::Drain::Pending const& pending) {
    constexpr std::size_t most = 20;
    auto const& requests = pending.requests;
    for (auto const number : pending.stuck) spdlog::error("worker {} does not respond; its connections are reset", number);
    for (auto const& request : std::span(requests).first(std::min(most, requests.size())))
        spdlog::warn("aborting a pending request: {}", request);
    if (requests.size() > most) spdlog::warn("aborting {} more pending requests", requests.size() - most);
}

bool Shutdown::run(proxy::Deadlines const& deadlines) {
    auto const accepting = std::max(deadlines.leave, deadlines.drain_delay);
    manager_.stopping(accepting + deadlines.drain_idle + deadlines.drain + end_patience);
    parts_.server->mesh().drain();   // ends readiness, too, and takes this proxy out of its PAC files
    pause(accepting);
    parts_.server->listening().stop();
    return end_parts(end_connections(deadlines));
}

/// Monitors, balancers and PAC files send clients elsewhere meanwhile.
void Shutdown::pause(milliseconds time) const {
    constexpr milliseconds look{20};
    if (time > look)
        spdlog::info("shutting down: monitors are told that the proxy is not ready; the listening sockets close in {}",
                     time_text(time));
    for (auto const until = steady_now() + time; !hurry_ && steady_now() < until;) std::this_thread::sleep_for(look);
}

bool Shutdown::end_connections(proxy::Deadlines const& deadlines) {
    proxy::Drain drain(parts_.server->shared(), hurry_);
    drain.begin();
    spdlog::info("shutting down: waiting up to {} for idle connections and up to {} for requests in progress ({} connections); "
                 "press Ctrl-C again to quit now",
                 time_text(deadlines.drain_idle), time_text(deadlines.drain), parts_.server->shared().connections.now());
    if (drain.wait(deadlines.drain_idle + deadlines.drain)) return true;
    log_pending(drain.pending());
    return drain.abort();
}

bool Shutdown::end_parts(bool connections_ended) {
    auto const closed = parts_.seen ? parts_.seen->stop() : Result<void>();
    if (!closed) spdlog::error("URL set: {}", closed.fault().text());
    if (connections_ended && parts_.admin) parts_.admin->stop();
    bool const over = connections_ended && parts_.server->finish();
    if (over && parts_.group) parts_.group->stop();
    parts_.quotas->stop();
    if (!over) parts_.disk.wait_until_settled(store::Survives::power);
    return over;
}

}   // namespace garner::app
