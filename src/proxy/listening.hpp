// The listening addresses of the proxy, each with a socket on every worker.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/handed_sockets.hpp"
#include "net/ticket_keys.hpp"
#include "proxy/listen_plan.hpp"
#include "proxy/listen_tls.hpp"
#include "proxy/listener.hpp"
#include "proxy/options.hpp"
#include "util/mutex.hpp"
#include "util/prepared.hpp"
#include "util/result.hpp"

namespace garner::proxy {

struct ListenAddress {
    std::string address;                                          // "127.0.0.1:3128"
    std::shared_ptr<FixedOrigin const> origin = nullptr;          // the accelerator's
    std::shared_ptr<net::TlsServerContext const> tls = nullptr;   // null: plain TCP
    net::Intercept intercept = net::Intercept::off;
    bool secure() const { return tls != nullptr; }
};

/// prepare(), start() and stop() are for one thread at a time, the other functions for any. Destroyed before the workers.
class Listening {
public:
    struct Given {
        std::vector<int> inherited = {};                          // listening sockets of the service manager
        std::shared_ptr<net::HandedSockets> handed = nullptr;     // of the process whose place this one takes; until start()
        std::shared_ptr<net::TicketKeys> ticket_keys = nullptr;   // null: new ones
    };
    Listening(std::span<Services* const> workers, Given given);

    /// For the start and a reload. Opens the sockets of new addresses, and reads all certificates; the fault names the key. The
    /// change keeps the sockets of an address that stays: later connections get its new values. The sockets of a removed address
    /// are closed as by stop(); its connections go on.
    Result<Prepared> prepare(std::span<Listen const> listen);
    /// Accepts connections from now on.
    void start();
    /// Closes all sockets. Each established connection is accepted before.
    void stop();
    /// Another process accepts connections from the same sockets until resume().
    void pause();
    void resume();
    /// All sockets, while it accepts.
    std::vector<net::NamedSocket> sockets() const;
    net::TicketKeys& ticket_keys() { return *ticket_keys_; }

    /// The limit of connections has become lower.
    void apply_limit() const;

    /// In the order of options.listen.
    std::vector<ListenAddress> addresses() const;
    std::vector<IpEndpoint> endpoints() const;
    /// The addresses after a reload with these addresses and contexts. The port of a new address may be 0.
    std::vector<ListenAddress> addresses_after(std::span<Listen const> listen, TlsContexts const& contexts) const;
    /// Null if it does not listen there.
    std::shared_ptr<ListenPoint const> point_at(IpEndpoint const& endpoint) const;

private:
    using Sockets = std::vector<std::shared_ptr<Listener>>;   // at least one for each worker
    struct Open {
        IpEndpoint configured;   // its port may be 0
        IpEndpoint endpoint;
        std::shared_ptr<ListenPoint const> point;
        Sockets sockets;
    };
    struct Retired {
        IpEndpoint endpoint;
        std::weak_ptr<Listener> socket;   // null when it is closed
    };
    struct Change {
        std::vector<Open> all;
        Sockets opened, closed;
        std::vector<Retired> retired;
    };
    static ListenPlan plan_of(std::span<Open const> running, std::span<Listen const> listen);
    Result<void> add(Change& change, Open const* running, std::size_t index, Listen const& listen,
                     std::shared_ptr<net::TlsServerContext const> const& tls);
    Result<Open> open(Listen const& listen, ListenPoint const& point, bool is_own_port) const;
    Result<bool> open_handed(Open& made, ListenPoint const& point) const;
    bool has_port_of(Change const& change, IpEndpoint const& endpoint) const;
    void apply(Change& change);
    std::vector<Open> open_now() const;

    std::vector<Services*> const workers_;
    std::vector<int> const inherited_;
    std::shared_ptr<net::HandedSockets> handed_;
    std::shared_ptr<net::TicketKeys> const ticket_keys_;
    mutable Mutex mutex_;
    std::vector<Open> open_ GUARDED_BY(mutex_);
    std::vector<Retired> retired_;   // until their sockets are closed
    bool accepts_ = false;
};

}   // namespace garner::proxy
