// A cache with scripted ICP replies, true or false, and an Origin for HTTP.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/origin.hpp"
#include "support/wire.hpp"

namespace garner::test {

/// Opcodes of ICP version 2 (RFC 2186).
enum class Icp : std::uint8_t { query = 1, hit = 2, miss = 3, error = 4, miss_nofetch = 21, denied = 22 };

/// An ICP datagram, encoded without the program's code, because that code is under test.
struct IcpDatagram {
    Icp opcode = Icp::query;
    std::uint8_t version = 2;
    std::uint32_t number = 0;
    std::uint32_t options = 0;
    std::uint32_t data = 0;
    std::string url;

    std::string bytes() const;
    static IcpDatagram of(std::string_view bytes);
};

/// Sends to a UDP port of 127.0.0.1 from an unknown port.
void send_datagram(std::string const& bytes, std::uint16_t port);

class FakePeer {
public:
    /// The replies to a query, in order; empty: silence.
    using Answers = std::function<std::vector<std::string>(IcpDatagram const& query)>;

    /// Listens on `address`, an IPv4 address of loopback; `word` is the reply for every URL.
    explicit FakePeer(Icp word = Icp::miss, std::string const& address = "127.0.0.1");
    FakePeer(FakePeer const&) = delete;
    ~FakePeer();

    std::uint16_t icp() const { return port_; }
    Origin& http() { return http_; }
    void says(Icp word);
    void says(Answers answers);
    std::size_t queries() const { return queries_; }

    /// An encoded reply to a query.
    static std::string reply(Icp word, IcpDatagram const& query);

private:
    void run();

    Origin http_;
    int socket_;
    std::uint16_t port_ = 0;
    std::mutex mutex_;
    Answers answers_;
    std::atomic<std::size_t> queries_{0};
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

}   // namespace garner::test
