// A DNS server on loopback, UDP and TCP on one port, with answers set by the test.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace garner::test {

class FakeDns {
public:
    /// A server of a service (RFC 2782).
    struct Server {
        std::uint16_t priority = 0, weight = 0, port = 0;
        std::string host{};
    };
    struct Name {
        enum Kind { answers, nxdomain, servfail, silent, garbage } kind = answers;
        std::vector<std::string> v4{};
        std::vector<std::string> v6{};
        std::vector<Server> servers{};
        std::uint32_t ttl = 60;
        std::string alias{};   // CNAME with alias_ttl; the records belong to this name
        std::uint32_t alias_ttl = 60;
        std::optional<std::uint32_t> soa_minimum{};   // an answer without records has a SOA record with soa_ttl
        std::uint32_t soa_ttl = 3'600;
        bool truncated_on_udp = false;
        int udp_queries_lost = 0;   // before the first one is answered
        bool aaaa_lost = false;
        int aaaa_losses = 0;    // AAAA queries before the first one is answered
        bool rotates = false;   // each answer has one of the addresses, the next one each time
        std::chrono::milliseconds delay{0};
    };

    FakeDns();
    ~FakeDns();
    FakeDns(FakeDns const&) = delete;

    /// Unknown names get NXDOMAIN.
    void set(std::string const& host, Name name);
    std::string server() const { return "127.0.0.1:" + std::to_string(port_); }

    struct Counts {
        int udp = 0;
        int tcp = 0;
    };
    /// Numbers of queries for this name; A and AAAA count separately.
    Counts queries(std::string const& host);

private:
    void serve();
    void serve_udp();
    bool serve_tcp(int client);
    std::string reply_to(std::string_view query, bool tcp);

    int udp_ = -1;
    int tcp_ = -1;
    std::vector<int> clients_;
    int stop_[2] = {-1, -1};
    std::uint16_t port_ = 0;
    std::mutex mutex_;
    std::map<std::string, Name> names_;
    std::map<std::string, Counts> counts_;
    std::thread thread_;
};

}   // namespace garner::test
