#include "icp/udp_lookup.hpp"

#include <spdlog/spdlog.h>

namespace garner::icp {

bool UdpLookup::open(std::string& fault) {
    auto const peer_table = services_.mesh.peer_table();
    auto const& options = peer_table->options;
    bool const icp = protocol_ == Protocol::icp;
    auto const address = parse_ip(icp ? options.address : options.htcp.address);
    if (!address) return true;
    IpEndpoint const at{*address, icp ? options.port : options.htcp.port};
    bool const is_first = services_.worker.number == 0;
    if (is_first && !net::UdpPort::is_free(at, fault)) return false;
    port_ = net::UdpPort::open(services_.worker.io, at, true, fault);
    configured_ = port_ != nullptr;
    return configured_;
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
    std::string fault;
    port_ = net::UdpPort::open_any(services_.worker.io, fault);
    if (!port_) return spdlog::warn("no peer is asked over {}: {}", name_of(protocol_), fault), false;
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

}  // namespace garner::icp
