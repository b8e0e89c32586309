// Debian's Squid as an actor: another cache that speaks ICP, HTCP and digests, on free ports of 127.0.0.2.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/child.hpp"
#include "support/client.hpp"
#include "support/programs.hpp"

namespace garner::test {

/// One line of Squid's access log; queries of other caches have theirs too.
struct SquidLogged {
    std::string tag;      // TCP_MEM_HIT, UDP_HIT …
    int status = 0;       // 0 for queries
    std::string method;   // GET, ICP_QUERY, HTCP_TST …
    std::string url;
    std::string hierarchy;   // HIER_NONE, SIBLING_HIT …
    std::string server;      // whom it got it from, "127.0.0.1:3128"; "-:-" for nobody
    std::string client;      // an address
};

/// What Squid says of one of its peers, by its own labels: "Status", "PINGS SENT" …
struct SquidPeer {
    std::map<std::string, std::string> said;

    std::string status() const { return text("Status"); }   // "Up", "Down"
    std::string text(std::string const& label) const;
    /// The number that the line begins with.
    int number(std::string const& label) const;
};

class Squid {
public:
    /// Squid drops every ICP datagram that comes from an address that it listens on: ours is 127.0.0.1.
    static constexpr auto address = "127.0.0.2";

    /// Where it will be, for those who are told before it starts.
    struct Ports {
        std::uint16_t http = free_port();
        std::uint16_t icp = free_port();
        std::uint16_t htcp = free_port();
    };
    struct Setup {
        /// More of its configuration: cache_peer lines and rules. Before the tests' own, so that its rules come first.
        std::string directives = "";
        Ports ports = {};
        /// With a folder for objects: without one it never publishes a digest.
        bool disk = false;
    };
    Squid() : Squid(Setup{}) {}
    explicit Squid(std::string const& directives) : Squid(Setup{.directives = directives}) {}
    explicit Squid(Setup);
    Squid(Squid const&) = delete;
    /// Stops it; the test fails when it does not live any more, unless the scene has ended it; and when it complains.
    ~Squid();

    Ports const& ports() const { return ports_; }
    std::string authority() const { return std::string(address) + ":" + std::to_string(ports_.http); }
    std::string url(std::string const& path = "") const { return "http://" + authority() + path; }
    /// A client of it that asks with absolute URIs.
    Client client() const { return Client(address, ports_.http); }

    bool alive() { return child_->running(); }
    Child& child() { return *child_; }
    /// Ends it with a signal, SIGKILL or SIGTERM, and waits until it is gone.
    void end(int signal);

    std::vector<SquidLogged> log() const;
    /// The lines whose URL ends with `path` and whose tag starts with `tag`, once there are `count` of them; throws
    /// Trouble when they do not come.
    std::vector<SquidLogged> logged(std::string const& path, std::string const& tag = "", std::size_t count = 1) const;
    std::string cache_log() const { return read_file(folder() / "cache.log"); }
    /// Lines of its cache.log that tell of a fault in it or in what it was sent.
    std::vector<std::string> complaints() const;

    /// Its peers in the order of its configuration.
    std::vector<SquidPeer> peers() const;
    SquidPeer peer() const;   // the only one, or the first

private:
    std::filesystem::path folder() const { return dir_.path("squid"); }
    std::vector<std::string> command(std::string const& file) const;
    std::string service_name() const;
    void make_disk(std::string const& file) const;
    void remove_shared_memory() const;

    TempDir dir_;
    Ports ports_;
    std::unique_ptr<Child> child_;
    bool ended_ = false;
};

}   // namespace garner::test
