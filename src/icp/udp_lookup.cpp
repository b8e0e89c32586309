#include "icp/udp_lookup.hpp"

#include <spdlog/spdlog.h>

namespace garner::icp {

Result<void> UdpLookup::open() {
    auto const peer_table = services_.mesh.peer_table();
    auto const own = own_port(peer_table->options);
    if (own.address.empty()) return {};
    auto const address = parse_ip(own.address);
    if (!address) return Fault{"\"" + own.address + "\" is not an IP address"};
    IpEndpoint const at{*address, own.port};
    bool const is_first = services_.worker.number == 0;
    if (is_first)
        if (auto const is_free = net::UdpPort::is_free(at); !is_free) return is_free;
    auto port = net::UdpPort::open(services_.worker.io, at, true);
    if (!port) return port.fault();
    port_ = *std::move(port);
    configured_ = true;
    return {};
}

void UdpLookup::start() {
    running_ = true;
    if (port_) listen();
}

void UdpLookup::stop() {
    running_ = false;
    if (port_) port_->stop();
}

void UdpLookup::send(std::string_view datagram, Peers peers) {
    if (!running_ || (!port_ && !open_own())) return;
    for (auto const& peer : peers)
        if (auto const to = peer->endpoint(protocol_)) port_->send(datagram, *to);
    port_->flush();
}

bool UdpLookup::open_own() {
    auto port = net::UdpPort::open_any(services_.worker.io);
    if (!port) return spdlog::warn("no peer is queried by {}: {}", name_of(protocol_), port.fault().text()), false;
    port_ = *std::move(port);
    listen();
    return true;
}

void UdpLookup::listen() {
    local_ = port_->local();
    port_->start(
        [](void* self, std::span<char const> datagram, IpEndpoint const& from) {
            static_cast<UdpLookup*>(self)->received({datagram.data(), datagram.size()}, from);
        },
        this);
}

}   // namespace garner::icp
