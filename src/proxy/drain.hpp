// The end of the client connections of all workers: first between requests, then during them.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "util/clock.hpp"

namespace garner::proxy {

class Departures;
class Server;
struct Services;
struct Shared;

/// For one thread that is no worker. The listening sockets are closed already: no connection is added. A worker that does not
/// respond delays no call beyond its limit.
class Drain {
public:
    /// `hurry`: another thread sets it to end the waits.
    Drain(Shared const& shared, std::atomic<bool> const& hurry);

    /// Tells each connection to end: Connection::drain(). `departures`: takes those that another process can serve; null: none does.
    void begin(std::shared_ptr<Departures> const& departures = nullptr);
    /// The other process takes no more.
    void end_departures();
    /// True as soon as no connection and no fetch is left; false after `limit`.
    bool wait(milliseconds limit);

    struct Pending {
        std::vector<std::string> requests;   // Connection::name_pending()
        std::vector<unsigned> stuck;         // the numbers of workers that do not respond
    };
    /// Takes at most half a second.
    Pending pending() const;
    /// Aborts what is left. True if it has ended within 3 s; false earlier if a worker does not respond.
    bool abort();

private:
    enum class WorkerState : std::uint8_t { none, awaited, busy, idle };
    struct Worker {
        Services* services;
        std::shared_ptr<std::atomic<WorkerState>> answer = std::make_shared<std::atomic<WorkerState>>(WorkerState::none);
        SteadyTime asked{};
        bool is_stuck() const;
    };
    static void ask(Worker& worker);
    bool look();
    bool wait(milliseconds limit, std::atomic<bool> const& hurry);

    std::atomic<bool> const& hurry_;
    std::vector<Worker> workers_;
};

/// The whole stop of a server whose requests get at most `patience`. False if something still runs.
bool stop(Server& server, milliseconds patience);

}   // namespace garner::proxy
