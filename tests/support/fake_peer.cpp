#include "support/fake_peer.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace garner::test {

namespace {

constexpr std::size_t header_size = 20;

void append_big_endian(std::string& to, std::uint32_t number, unsigned bytes) {
    while (bytes-- > 0) to += static_cast<char>(number >> (8 * bytes));
}

std::uint32_t big_endian(std::string_view bytes) {
    std::uint32_t number = 0;
    for (unsigned char const byte : bytes) number = number << 8 | byte;
    return number;
}

sockaddr_in place(std::string const& address) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    ::inet_pton(AF_INET, address.c_str(), &at.sin_addr);
    return at;
}

}   // namespace

std::string IcpDatagram::bytes() const {
    // RFC 2186 3: a query has the requester's address, 0 in practice, before its URL.
    auto const payload = (opcode == Icp::query ? std::string(4, '\0') : "") + url + '\0';
    std::string text;
    append_big_endian(text, static_cast<std::uint8_t>(opcode), 1);
    append_big_endian(text, version, 1);
    append_big_endian(text, static_cast<std::uint32_t>(header_size + payload.size()), 2);
    append_big_endian(text, number, 4);
    append_big_endian(text, options, 4);
    append_big_endian(text, data, 4);
    append_big_endian(text, 0, 4);
    return text + payload;
}

IcpDatagram IcpDatagram::of(std::string_view bytes) {
    if (bytes.size() < header_size) throw Trouble("this is no ICP");
    IcpDatagram datagram{.opcode = static_cast<Icp>(bytes[0]),
                         .version = static_cast<std::uint8_t>(bytes[1]),
                         .number = big_endian(bytes.substr(4, 4)),
                         .options = big_endian(bytes.substr(8, 4)),
                         .data = big_endian(bytes.substr(12, 4)),
                         .url = {}};
    auto const payload = bytes.substr(datagram.opcode == Icp::query ? header_size + 4 : header_size);
    datagram.url = payload.substr(0, payload.find('\0'));
    return datagram;
}

void send_datagram(std::string const& bytes, std::uint16_t port) {
    auto to = place("127.0.0.1");
    to.sin_port = htons(port);
    int const fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ::sendto(fd, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof to);
    ::close(fd);
}

std::string FakePeer::reply(Icp word, IcpDatagram const& query) {
    return IcpDatagram{.opcode = word, .number = query.number, .url = query.url}.bytes();
}

FakePeer::FakePeer(Icp word, std::string const& address)
    : http_(Origin::Setup{.address = address}), socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    auto at = place(address);
    socklen_t size = sizeof at;
    bool const bound = ::bind(socket_, reinterpret_cast<sockaddr*>(&at), size) == 0;
    if (!bound || ::getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &size) != 0) throw Trouble("no UDP port");
    port_ = ntohs(at.sin_port);
    says(word);
    thread_ = std::thread([this] { run(); });
}

FakePeer::~FakePeer() {
    stopping_ = true;
    thread_.join();
    ::close(socket_);
}

void FakePeer::says(Icp word) {
    says([word](IcpDatagram const& query) { return std::vector{reply(word, query)}; });
}

void FakePeer::says(Answers answers) {
    std::lock_guard const lock(mutex_);
    answers_ = std::move(answers);
}

void FakePeer::run() {
    while (!stopping_) {
        pollfd watched{socket_, POLLIN, 0};
        if (::poll(&watched, 1, 20) <= 0) continue;
        char buffer[65'536];
        sockaddr_in from{};
        socklen_t size = sizeof from;
        auto const got = ::recvfrom(socket_, buffer, sizeof buffer, 0, reinterpret_cast<sockaddr*>(&from), &size);
        if (got < static_cast<ssize_t>(header_size)) continue;
        auto const query = IcpDatagram::of({buffer, static_cast<std::size_t>(got)});
        ++queries_;
        std::lock_guard const lock(mutex_);
        for (auto const& answer : answers_(query))
            ::sendto(socket_, answer.data(), answer.size(), 0, reinterpret_cast<sockaddr*>(&from), size);
    }
}

}   // namespace garner::test
