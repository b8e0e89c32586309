// Client connections that leave this process for the one that takes over.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "control/descriptors.hpp"
#include "takeover/handed_client.hpp"
#include "util/mutex.hpp"

namespace garner::proxy {

struct ListenPoint;
struct Services;

/// A client connection that no object serves at present.
struct MovingClient {
    takeover::HandedClient state;
    control::Descriptors descriptors;
    std::shared_ptr<ListenPoint const> point;
};

/// Waits for its place in a message, or for the acknowledgement. A worker is not idle as long as one of its connections does.
struct Departure {
    MovingClient client;
    Services* from;
};

/// Thread-safe. Outlives its use by Services::departures.
class Departures {
public:
    /// `wake`: called when a connection comes; by any thread.
    explicit Departures(std::function<void()> wake) : wake_(std::move(wake)) {}

    /// On the worker, which no longer serves the connection. After end() the worker serves it again.
    void add(Services& from, MovingClient client) EXCLUDES(mutex_);
    /// The next ones, as many as a message takes.
    std::vector<Departure> take() EXCLUDES(mutex_);

    /// The other process serves it: closes it here.
    static void close(Departure departure);
    enum class Next : std::uint8_t {
        may_leave,   // in a later takeover
        stays        // the other process has not taken it
    };
    /// Its worker serves it again.
    static void resume(Departure departure, Next next);
    /// No further connection leaves. A worker may not know it yet.
    void end(Next next) EXCLUDES(mutex_);

private:
    std::optional<Next> keep(Departure& departure) EXCLUDES(mutex_);

    std::function<void()> const wake_;
    Mutex mutex_;
    std::optional<Next> ended_ GUARDED_BY(mutex_);
    std::deque<Departure> waiting_ GUARDED_BY(mutex_);
};

}   // namespace garner::proxy
