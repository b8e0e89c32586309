// Debian's Squid as an actor: another cache with ICP, HTCP and digests, on free ports of 127.0.0.2.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/certificate.hpp"
#include "support/child.hpp"
#include "support/client.hpp"
#include "support/programs.hpp"

namespace garner::test {

/// One line of Squid's access log; queries of other caches are logged too.
struct SquidLogged {
    std::string tag;      // TCP_MEM_HIT, UDP_HIT …
    int status = 0;       // 0 for queries
    std::string method;   // GET, ICP_QUERY, HTCP_TST …
    std::string url;
    std::string hierarchy;   // HIER_NONE, SIBLING_HIT …
    std::string server;      // the source, "127.0.0.1:3128"; "-:-": none
    std::string client;      // an address
};

/// Squid's report about one of its peers, by Squid's own labels: "Status", "PINGS SENT" …
struct SquidPeer {
    std::map<std::string, std::string> said;

    std::string status() const { return text("Status"); }   // "Up", "Down"
    std::string text(std::string const& label) const;
    /// The number at the beginning of the value.
    int number(std::string const& label) const;
};

class Squid {
public:
    /// Squid drops every ICP datagram from an address that it listens on, and Garner uses 127.0.0.1.
    static constexpr auto address = "127.0.0.2";

    /// Its future ports, for configurations written before it starts.
    struct Ports {
        std::uint16_t http = free_port();
        std::uint16_t icp = free_port();
        std::uint16_t htcp = free_port();
        std::uint16_t https = free_port();   // TLS, if the setup has a certificate
    };
    struct Setup {
        /// Additional configuration: cache_peer lines and rules. Placed before the tests' own, so that its rules come first.
        std::string directives = "";
        Ports ports = {};
        /// With a cache_dir: without one it never publishes a digest.
        bool disk = false;
        /// Shown at Ports::https, where requests of a proxy are answered over TLS.
        Certificate const* certificate = nullptr;
        /// PEM file; given: clients of Ports::https must show a certificate of this authority.
        std::string client_ca = "";
        /// PEM file: the authority of https:// origins. Empty: those of the system.
        std::string origin_ca = "";
    };
    Squid() : Squid(Setup{}) {}
    explicit Squid(std::string const& directives) : Squid(Setup{.directives = directives}) {}
    explicit Squid(Setup);
    Squid(Squid const&) = delete;
    /// Stops it. The test fails if it died without the scene's request, or logged an error.
    ~Squid();

    Ports const& ports() const { return ports_; }
    std::string authority() const { return std::string(address) + ":" + std::to_string(ports_.http); }
    std::string url(std::string const& path = "") const { return "http://" + authority() + path; }
    /// A client of this Squid that sends absolute URIs.
    Client client() const { return Client(address, ports_.http); }

    bool alive() { return child_->running(); }
    Child& child() { return *child_; }
    /// Ends it with a signal, SIGKILL or SIGTERM, and waits for its end.
    void end(int signal);

    std::vector<SquidLogged> log() const;
    /// The lines whose URL ends with `path` and whose tag starts with `tag`,
    /// once there are `count` of them; throws Trouble if they do not come.
    std::vector<SquidLogged> logged(std::string const& path, std::string const& tag = "", std::size_t count = 1) const;
    std::string cache_log() const { return read_file(folder() / "cache.log"); }
    /// Lines of its cache.log about errors of its own or in received data.
    std::vector<std::string> complaints() const;

    /// Its peers in configuration order.
    std::vector<SquidPeer> peers() const;
    SquidPeer peer() const;   // the first peer

private:
    std::filesystem::path folder() const { return dir_.path("squid"); }
    std::vector<std::string> command(std::string const& file) const;
    /// The directives for TLS; empty without a certificate.
    std::string tls_directives(Setup const&) const;
    std::string service_name() const;
    void make_disk(std::string const& file) const;
    void remove_shared_memory() const;

    TempDir dir_;
    Ports ports_;
    std::unique_ptr<Child> child_;
    bool ended_ = false;
};

}   // namespace garner::test
