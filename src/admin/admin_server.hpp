// The admin address: /metrics, /stats.json, a page, and purges.
#pragma once
#include <memory>
#include <string>

#include "proxy/server.hpp"

namespace garner::admin {

struct Options {
    std::string address = "127.0.0.1";
    std::uint16_t port = 3131;                // 0: any that is free
    std::uint32_t connections = 128;          // when there are more, the one that has been silent longest goes
    std::uint32_t head_bytes = 8 * KiB;
    std::uint32_t body_bytes = 16 * KiB;
    std::vector<IpNetwork> allow = {};        // clients beside those on loopback
    std::vector<std::string> names = {};      // that Host may have beside the address; in lower case, without a port
    milliseconds request{15'000};             // from the end of the last answer to the whole request
    milliseconds answer{15'000};              // for a client to take its answer
};

/// Runs on a thread of its own. Answers clients on loopback and those of `allow`, and only where Host is its own
/// literal address or one of `names`; changes things only on POST or
/// PURGE with the field "Garner-Admin: 1"; sends no CORS fields.
class AdminServer {
public:
    /// nullptr with `fault` when the address cannot be had. `server` must outlive it.
    static std::unique_ptr<AdminServer> open(Options const& options, proxy::Server& server, std::string& fault);
    /// Stops it, too.
    ~AdminServer();

    void start();
    /// Ends all connections and the thread; not to be started again.
    void stop();
    /// Where it really listens: "127.0.0.1:3131".
    std::string const& address() const;

private:
    struct Inside;
    explicit AdminServer(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

}  // namespace garner::admin
