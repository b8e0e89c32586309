#include "icp/udp_lookup.hpp"

#include <boost/asio/post.hpp>

#include "io/log.hpp"

namespace garner::icp {

/// Null without an address. `is_new`: no worker of this process has the port number yet.
Result<UdpLookup::UdpPtr> UdpLookup::open_at(std::string const& address, std::uint16_t port, bool is_new) const {
    if (address.empty()) return UdpPtr();
    auto const parsed = parse_ip(address);
    if (!parsed) return Fault{"\"" + address + "\" is not an IP address"};
    IpEndpoint const at{*parsed, port};
    if (is_new)
        if (auto const is_free = net::UdpPort::is_free(at); !is_free) return is_free.fault();
    auto opened = net::UdpPort::open(services_.worker.io, at, true);
    if (!opened) return opened.fault();
    return UdpPtr(*std::move(opened));
}

std::unique_ptr<UdpLookup::Port> UdpLookup::make_port(UdpPtr udp, bool configured) {
    return std::make_unique<Port>(Port{*this, std::move(udp), configured});
}

Result<void> UdpLookup::open() {
    auto const peer_table = services_.mesh.peer_table();
    auto const own = own_port(peer_table->options);
    auto const adopted = adopt(own);
    if (!adopted) return adopted.fault();
    if (*adopted) return {};
    auto opened = open_at(own.address, own.port, services_.worker.number == 0);
    if (!opened) return opened.fault();
    if (*opened) port_ = make_port(*std::move(opened), true);
    return {};
}

/// True if another process has handed over sockets of this port.
Result<bool> UdpLookup::adopt(OwnPort const& own) {
    auto const& handed = services_.mesh.handed();
    auto const address = parse_ip(own.address);
    if (!handed || !address) return false;
    auto const at = handed->claim(name_of(protocol_), {*address, own.port});
    if (!at) return false;
    for (int const descriptor : handed->copies(name_of(protocol_), *at, services_.worker.number, services_.mesh.workers())) {
        auto adopted = net::UdpPort::adopt(services_.worker.io, descriptor);
        if (!adopted) return adopted.fault();
        auto port = make_port(*std::move(adopted), true);
        if (port_)
            more_.push_back(std::move(port));
        else
            port_ = std::move(port);
    }
    return true;
}

Result<Prepared> UdpLookup::prepare(Options const& fresh) {
    auto const peer_table = services_.mesh.peer_table();
    auto const now = own_port(peer_table->options), next = own_port(fresh);
    if (now.address == next.address && now.port == next.port) return Prepared([] {});
    bool const same_port = !now.address.empty() && now.port == next.port;
    auto opened = open_at(next.address, next.port, services_.worker.number == 0 && !same_port);
    if (!opened) {
        auto const& fault = opened.fault();
        return Fault{.what = (fault.where.empty() ? "" : fault.where + ": ") + fault.what, .mend = fault.mend, .where = next.key};
    }
    return Prepared([this, udp = *std::move(opened)] { net::asio::post(services_.worker.io, [this, udp] { use(udp); }); });
}

void UdpLookup::start() {
    running_ = true;
    if (port_) listen(*port_);
    for (auto const& port : more_) listen(*port);
}

void UdpLookup::stop() {
    running_ = false;
    expiry_.cancel();
    for (auto* port : {port_.get(), former_.get(), paused_.get()})
        if (port) port->udp->stop();
    for (auto const& port : more_) port->udp->stop();
}

void UdpLookup::pause() {
    if (!running_ || !port_ || !port_->configured) return;
    port_->udp->pause();
    for (auto const& port : more_) port->udp->pause();
    paused_ = std::move(port_);
}

void UdpLookup::resume() {
    if (!running_ || !paused_) return;
    if (port_) port_->udp->stop();
    port_ = std::move(paused_);
    port_->udp->resume();
    for (auto const& port : more_) port->udp->resume();
}

void UdpLookup::add_sockets(std::vector<net::NamedSocket>& named) const {
    auto const add = [&](Port const& port, std::size_t number) {
        named.push_back(net::named_socket(name_of(protocol_), port.local, number, port.udp->descriptor()));
    };
    if (!port_ || !port_->configured) return;
    add(*port_, services_.worker.number);
    for (auto const& port : more_) add(*port, services_.mesh.workers() + named.size());
}

void UdpLookup::use(UdpPtr udp) {
    constexpr milliseconds reply_time{2'000};   // of queries sent from the former port
    if (!running_) return;
    for (auto const& port : more_) port->udp->finish();
    more_.clear();
    if (former_) former_->udp->finish();
    former_ = std::move(port_);
    if (udp) {
        port_ = make_port(std::move(udp), true);
        listen(*port_);
    }
    if (!former_) return;
    expiry_.expires_after(reply_time);
    expiry_.async_wait([this](net::Error error) {
        if (error || !former_) return;
        former_->udp->finish();
        former_ = nullptr;
    });
}

void UdpLookup::send(std::string_view datagram, Peers peers) {
    if (!running_ || (!port_ && !open_own())) return;
    for (auto const& peer : peers)
        if (auto const to = peer->endpoint(protocol_)) port_->udp->send(datagram, *to);
    port_->udp->flush();
}

bool UdpLookup::open_own() {
    auto port = net::UdpPort::open_any(services_.worker.io);
    if (!port) return spdlog::warn("no peer is queried by {}: {}", name_of(protocol_), port.fault().text()), false;
    port_ = make_port(*std::move(port), false);
    listen(*port_);
    return true;
}

void UdpLookup::listen(Port& port) {
    port.local = port.udp->local();
    port.udp->start(
        [](void* self, std::span<char const> datagram, IpEndpoint const& from) {
            auto const& at = *static_cast<Port*>(self);
            at.lookup.received({datagram.data(), datagram.size()}, from, at);
        },
        &port);
}

}   // namespace garner::icp
