// Caches on separate hosts, connected as parents and siblings, with clients that load them.
#pragma once
#include <signal.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "story/scene.hpp"
#include "support/hosts.hpp"

namespace garner::test {

/// Garner on a host; started on request, and again after a kill.
class CacheHost {
public:
    static constexpr std::uint16_t port = 3128, icp_port = 3130;

    explicit CacheHost(Host& host) : host_(host) {}

    /// A peer queried by ICP, or as `more` says.
    void add_peer(CacheHost const& peer, std::string const& type, std::string const& more = "{}");
    /// `patch`: merged over the configuration of a cache in a mesh.
    void start(std::string const& patch = "{}");
    void start_again();
    void kill() { proxy_->kill(); }
    void freeze() { proxy_->signal(SIGSTOP); }
    void thaw() { proxy_->signal(SIGCONT); }

    Host& host() const { return host_; }
    Proxy& proxy() const { return *proxy_; }
    nlohmann::json stats() const;
    /// A peer's state as this cache reports it: "alive" …
    std::string state_of(CacheHost const& peer) const;
    /// Lines of its access log since its last start, of requests by clients and other caches.
    std::size_t requests() const { return proxy_->log().size(); }

private:
    Host& host_;
    nlohmann::json peers_ = nlohmann::json::array();
    std::string patch_;
    std::unique_ptr<Proxy> proxy_;
};

/// An origin on a host; its response to every path is known, and fresh for ten minutes.
class OriginHost {
public:
    explicit OriginHost(Host& host);
    static std::string body_of(std::string const& path) { return "<" + path + ">" + pattern(700); }

    Host& host() const { return host_; }
    Origin& origin() { return *origin_; }
    std::string url(std::string const& path) const { return origin_->url(path); }

private:
    Host& host_;
    std::unique_ptr<Origin> origin_;
};

/// One request from the client's view.
struct Seen {
    using Time = std::chrono::steady_clock::time_point;
    Time begun{};
    Millis took{0};
    std::string path = {};
    std::string wrong = {};   // empty: the origin's complete response
};

/// A GET by a new client on that host.
Seen ask(Host const& from, CacheHost const& cache, OriginHost const& origin, std::string const& path);

/// Clients of one cache that send requests continuously; every other request has a new path.
class Load {
public:
    Load(Host const& from, CacheHost const& cache, OriginHost const& origin, std::string const& name, unsigned clients = 2);
    ~Load() { stop(); }
    void stop();
    std::vector<Seen> seen() const;

private:
    void ask_on(CacheHost const& cache, OriginHost const& origin, std::string const& name);

    std::atomic<bool> over_{false};
    mutable std::mutex mutex_;
    std::vector<Seen> seen_;
    std::vector<std::thread> clients_;
};

/// Every response is the origin's, and no request takes longer than one wait of 2 s (plus the delay of a busy machine). Only
/// requests that began before a fault or in its first 2 s may wait. `frozen`: time that a request may also wait if it was in
/// progress at a cache that froze, because its connection stays open.
void expect_unharmed(std::vector<Seen> const&, std::vector<Seen::Time> const& faults,
                     std::chrono::steady_clock::duration frozen = {});

/// The mesh of the scenes: an origin, two parents, three siblings below them, and a child of those.
struct ThreeLevels {
    /// `as_peer`: merged over the options of every peer.
    explicit ThreeLevels(std::string const& as_peer = "{}");
    void for_all(std::function<void(CacheHost&)> const& what);

    Network network;
    OriginHost origin{network.add_host()};
    Host& clients{network.add_host()};
    std::deque<CacheHost> parents, siblings;
    CacheHost child{network.add_host()};
};

}   // namespace garner::test
