#include "proxy/drain.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <future>
#include <thread>

#include "proxy/connection.hpp"
#include "proxy/fill_pump.hpp"
#include "proxy/group_fetch.hpp"
#include "proxy/refresh.hpp"
#include "proxy/server.hpp"

namespace garner::proxy {

namespace {

constexpr milliseconds look_every{5};

bool is_idle(Services const& services) {
    return services.accepting == 0 && services.connections.empty() && services.drain.departing == 0 &&
           services.background.pumps.empty() && services.background.refreshes.empty() && services.background.group_fetches.empty();
}

/// No client waits for these.
void abort_refreshes(Services& services) {
    for (auto* refresh : services.background.refreshes) refresh->abort();
    for (auto* fetch : services.background.group_fetches) fetch->abort();
}

void abort_all(Services& services) {
    for (auto* connection : services.connections) connection->abort();
    for (auto* pump : services.background.pumps) pump->abort();
    abort_refreshes(services);
}

std::vector<std::string> names_of_pending(Services const& services) {
    std::vector<std::string> names;
    for (auto* connection : services.connections) connection->name_pending(names);
    return names;
}

}   // namespace

Drain::Drain(Shared const& shared, std::atomic<bool> const& hurry) : hurry_(hurry) {
    for (auto* services : shared.workers) workers_.push_back({services});
}

void Drain::begin(std::shared_ptr<Departures> const& departures) {
    for (auto const& worker : workers_)
        net::asio::post(worker.services->worker.io, [services = worker.services, departures] {
            services->drain.begun = true;
            services->drain.departures = departures;
            for (auto* connection : services->connections) connection->drain();
        });
}

void Drain::end_departures() {
    for (auto const& worker : workers_)
        net::asio::post(worker.services->worker.io, [services = worker.services] { services->drain.departures = nullptr; });
}

bool Drain::wait(milliseconds limit) { return wait(limit, hurry_); }

bool Drain::wait(milliseconds limit, std::atomic<bool> const& hurry) {
    auto const until = steady_now() + limit;
    for (;;) {
        if (look()) return true;
        if (hurry || steady_now() >= until) return false;
        std::this_thread::sleep_for(look_every);
    }
}

/// True when all workers were idle when they were asked. An idle worker remains idle, because no connection is added.
bool Drain::look() {
    bool idle = true;
    for (auto& worker : workers_) {
        auto const answer = worker.answer->load();
        idle &= answer == WorkerState::idle;
        if (answer == WorkerState::none || answer == WorkerState::busy) ask(worker);
    }
    return idle;
}

/// Aborts refreshes each time, because an aborted step may begin another one before it sees the abort.
void Drain::ask(Worker& worker) {
    *worker.answer = WorkerState::awaited;
    worker.asked = steady_now();
    net::asio::post(worker.services->worker.io, [services = worker.services, answer = worker.answer] {
        abort_refreshes(*services);
        *answer = is_idle(*services) ? WorkerState::idle : WorkerState::busy;
    });
}

Drain::Pending Drain::pending() const {
    using Names = std::promise<std::vector<std::string>>;
    std::vector<std::future<std::vector<std::string>>> answers;
    for (auto const& worker : workers_) {
        auto const names = std::make_shared<Names>();
        answers.push_back(names->get_future());
        net::asio::post(worker.services->worker.io,
                        [services = worker.services, names] { names->set_value(names_of_pending(*services)); });
    }
    Pending pending;
    constexpr milliseconds patience{500};
    auto const until = steady_now() + patience;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (answers[i].wait_until(until) != std::future_status::ready) {
            pending.stuck.push_back(workers_[i].services->worker.number);
            continue;
        }
        for (auto& name : answers[i].get()) pending.requests.push_back(std::move(name));
    }
    return pending;
}

/// Takes no notice of a hurry: an aborted request is to be logged.
bool Drain::abort() {
    constexpr milliseconds last_patience{3'000}, step{200};
    std::atomic<bool> const no_hurry{false};
    auto const begun = steady_now();
    for (auto now = begun; now < begun + last_patience; now = steady_now()) {
        for (auto const& worker : workers_)
            net::asio::post(worker.services->worker.io, [services = worker.services] { abort_all(*services); });
        if (wait(step, no_hurry)) return true;
        if (std::ranges::any_of(workers_, &Worker::is_stuck)) return false;
    }
    return false;
}

bool Drain::Worker::is_stuck() const {
    constexpr milliseconds patience{500};
    return *answer == WorkerState::awaited && steady_now() - asked > patience;
}

bool stop(Server& server, milliseconds patience) {
    std::atomic<bool> const never_hurry{false};
    server.mesh().drain();
    server.listening().stop();
    Drain drain(server.shared(), never_hurry);
    drain.begin();
    return (drain.wait(patience) || drain.abort()) && server.finish();
}

}   // namespace garner::proxy
