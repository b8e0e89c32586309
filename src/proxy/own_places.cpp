#include "proxy/own_places.hpp"

#include <boost/asio/post.hpp>
#include <utility>

namespace garner::proxy {

void OwnPlaces::listen_on(std::vector<IpEndpoint> endpoints) {
    {
        MutexLock const lock(mutex_);
        places_.listening = std::move(endpoints);
    }
    read_interfaces();
}

std::shared_ptr<http::OwnAddresses const> OwnPlaces::now() const {
    MutexLock const lock(mutex_);
    return now_;
}

/// False when the addresses cannot be read. The known addresses stay blocked then.
bool OwnPlaces::read_interfaces() {
    // Read under the lock, so that no older reading replaces a newer one.
    MutexLock const lock(mutex_);
    auto const interfaces = net::interface_addresses();
    if (interfaces) places_.interfaces = *interfaces;
    tell_workers();
    return interfaces.has_value();
}

void OwnPlaces::tell_workers() {
    now_ = std::make_shared<http::OwnAddresses const>(places_);
    for (auto* services : workers_) net::asio::post(services->worker.io, [services, own = now_] { services->own = own; });
}

}   // namespace garner::proxy
