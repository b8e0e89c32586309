// The addresses at which this process is reached: requests to them would loop.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "http/access_rules.hpp"
#include "net/address_watch.hpp"
#include "proxy/services.hpp"
#include "util/ip.hpp"
#include "util/mutex.hpp"

namespace garner::proxy {

/// Thread-safe. Tells the workers of each change (Services::own). Watches the addresses of the interfaces on the first worker.
class OwnPlaces {
public:
    explicit OwnPlaces(std::span<Services* const> workers)
        : workers_(workers.begin(), workers.end()), watch_(workers.front()->worker.io, [this] { return read_interfaces(); }) {}

    /// The endpoints that this process listens on.
    void listen_on(std::vector<IpEndpoint> endpoints) EXCLUDES(mutex_);
    void start() { watch_.start(); }
    void stop() { watch_.stop(); }
    /// nullptr before the first listen_on().
    std::shared_ptr<http::OwnAddresses const> now() const EXCLUDES(mutex_);

private:
    bool read_interfaces() EXCLUDES(mutex_);
    void tell_workers() REQUIRES(mutex_);

    std::vector<Services*> const workers_;
    mutable Mutex mutex_;   // held while the workers are told, so that the last change is the last that they receive
    http::OwnAddresses places_ GUARDED_BY(mutex_);
    std::shared_ptr<http::OwnAddresses const> now_ GUARDED_BY(mutex_);
    net::AddressWatch watch_;
};

}   // namespace garner::proxy
