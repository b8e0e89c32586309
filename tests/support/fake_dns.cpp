#include "support/fake_dns.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <stdexcept>

namespace garner::test {

namespace {

constexpr std::uint16_t type_a = 1, type_cname = 5, type_soa = 6, type_aaaa = 28, type_srv = 33;

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

bool bind_to(int socket, std::uint16_t port) {
    auto address = loopback(port);
    return ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

std::uint16_t port_of(int socket) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
}

void put16(std::string& out, unsigned value) {
    out += static_cast<char>(value >> 8);
    out += static_cast<char>(value);
}

std::string wire_name(std::string_view host) {
    std::string out;
    while (!host.empty()) {
        auto label = host.substr(0, host.find('.'));
        out += static_cast<char>(label.size());
        out += label;
        host.remove_prefix(std::min(label.size() + 1, host.size()));
    }
    return out + '\0';
}

void put_record(std::string& out, std::string const& owner, std::uint16_t type, std::uint32_t ttl, std::string const& data) {
    out += wire_name(owner);
    put16(out, type);
    put16(out, 1);
    put16(out, ttl >> 16);
    put16(out, ttl & 0xffff);
    put16(out, static_cast<unsigned>(data.size()));
    out += data;
}

std::string packed(FakeDns::Server const& server) {
    std::string out;
    for (unsigned const number : {server.priority, server.weight, server.port}) put16(out, number);
    return out + wire_name(server.host);
}

std::string packed_soa(std::uint32_t minimum) {
    auto out = wire_name("ns.test") + wire_name("admin.test");
    for (std::uint32_t const number : {1u, 3'600u, 600u, 86'400u, minimum}) {
        put16(out, number >> 16);
        put16(out, number & 0xffff);
    }
    return out;
}

std::string packed(int family, std::string const& address) {
    std::string bytes(family == AF_INET ? 4 : 16, '\0');
    ::inet_pton(family, address.c_str(), bytes.data());
    return bytes;
}

}   // namespace

FakeDns::FakeDns() {
    for (int attempt = 0; attempt < 50; ++attempt) {
        tcp_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        udp_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        bind_to(tcp_, 0);
        port_ = port_of(tcp_);
        if (bind_to(udp_, port_)) break;
        ::close(tcp_);
        ::close(udp_);
        port_ = 0;
    }
    if (port_ == 0 || ::listen(tcp_, 16) != 0 || ::pipe2(stop_, O_CLOEXEC) != 0) throw std::runtime_error("no port for DNS");
    thread_ = std::thread([this] { serve(); });
}

FakeDns::~FakeDns() {
    ::close(stop_[1]);
    thread_.join();
    for (int fd : {udp_, tcp_, stop_[0]}) ::close(fd);
    for (int fd : clients_) ::close(fd);
}

void FakeDns::set(std::string const& host, Name name) {
    std::lock_guard lock(mutex_);
    names_[host] = std::move(name);
}

FakeDns::Counts FakeDns::queries(std::string const& host) {
    std::lock_guard lock(mutex_);
    return counts_[host];
}

void FakeDns::serve() {
    for (;;) {
        std::vector<pollfd> watched{{stop_[0], POLLIN, 0}, {udp_, POLLIN, 0}, {tcp_, POLLIN, 0}};
        for (int client : clients_) watched.push_back({client, POLLIN, 0});
        ::poll(watched.data(), watched.size(), -1);
        if (watched[0].revents) return;
        if (watched[1].revents) serve_udp();
        if (watched[2].revents) clients_.push_back(::accept4(tcp_, nullptr, nullptr, SOCK_CLOEXEC));
        for (std::size_t i = 3; i < watched.size(); ++i) {
            if (!watched[i].revents || serve_tcp(watched[i].fd)) continue;
            ::close(watched[i].fd);
            std::erase(clients_, watched[i].fd);
        }
    }
}

void FakeDns::serve_udp() {
    char buffer[1500];
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    auto n = ::recvfrom(udp_, buffer, sizeof buffer, MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&from), &size);
    if (n <= 0) return;
    auto reply = reply_to({buffer, static_cast<std::size_t>(n)}, false);
    if (!reply.empty()) (void)!::sendto(udp_, reply.data(), reply.size(), 0, reinterpret_cast<sockaddr*>(&from), size);
}

bool FakeDns::serve_tcp(int client) {
    unsigned char length[2];
    if (::recv(client, length, 2, MSG_WAITALL) != 2) return false;
    std::string query(static_cast<std::size_t>(length[0] << 8 | length[1]), '\0');
    if (::recv(client, query.data(), query.size(), MSG_WAITALL) != static_cast<ssize_t>(query.size())) return false;
    auto reply = reply_to(query, true);
    std::string framed;
    put16(framed, static_cast<unsigned>(reply.size()));
    framed += reply;
    return ::send(client, framed.data(), framed.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(framed.size());
}

std::string FakeDns::reply_to(std::string_view query, bool tcp) {
    std::string host;
    std::size_t at = 12;
    while (query[at] != 0) {
        if (!host.empty()) host += '.';
        auto length = static_cast<std::size_t>(query[at]);
        host += query.substr(at + 1, length);
        at += length + 1;
    }
    auto type =
        static_cast<std::uint16_t>(static_cast<unsigned char>(query[at + 1]) << 8 | static_cast<unsigned char>(query[at + 2]));
    auto question = query.substr(12, at + 5 - 12);

    Name name;
    {
        std::lock_guard lock(mutex_);
        ++(tcp ? counts_[host].tcp : counts_[host].udp);
        auto known = names_.find(host);
        if (known == names_.end()) {
            name.kind = Name::nxdomain;
        } else {
            auto& listed = type == type_a ? known->second.v4 : known->second.v6;
            if (known->second.rotates && !listed.empty()) std::rotate(listed.begin(), listed.begin() + 1, listed.end());
            name = known->second;
            if (!tcp && known->second.udp_queries_lost-- > 0) return {};
            if (type == type_aaaa && known->second.aaaa_losses-- > 0) return {};
        }
    }
    if (name.kind == Name::silent || (name.aaaa_lost && type == type_aaaa)) return {};
    if (name.kind == Name::garbage) return std::string(query.substr(0, 2)) + "\x84";
    std::this_thread::sleep_for(name.delay);

    bool truncated = name.truncated_on_udp && !tcp;
    std::string records;
    unsigned count = 0;
    if (name.kind == Name::answers && !truncated) {
        auto owner = name.alias.empty() ? host : name.alias;
        if (owner != host) {
            put_record(records, host, type_cname, name.alias_ttl, wire_name(owner));
            ++count;
        }
        for (auto const& server : name.servers) {
            if (type != type_srv) break;
            put_record(records, owner, type, name.ttl, packed(server));
            ++count;
        }
        auto const& addresses = type == type_a ? name.v4 : name.v6;
        for (auto const& address :
             std::span(addresses).first(name.rotates ? std::min<std::size_t>(1, addresses.size()) : addresses.size())) {
            if (type == type_srv) break;
            put_record(records, owner, type, name.ttl, packed(type == type_a ? AF_INET : AF_INET6, address));
            ++count;
        }
    }
    bool const has_soa = count == 0 && name.soa_minimum && !truncated;
    if (has_soa) put_record(records, "test", type_soa, name.soa_ttl, packed_soa(*name.soa_minimum));
    unsigned code = name.kind == Name::nxdomain ? 3 : name.kind == Name::servfail ? 2 : 0;
    std::string reply(query.substr(0, 2));
    put16(reply, 0x8580 | (truncated ? 0x0200 : 0) | code);
    put16(reply, 1);
    put16(reply, count);
    put16(reply, has_soa ? 1 : 0);
    put16(reply, 0);
    return reply.append(question) + records;
}

}   // namespace garner::test
