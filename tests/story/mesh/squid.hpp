// Garner and Debian's Squid in one mesh: configurations of each with the other as a peer.
#pragma once
#include <signal.h>

#include "story/scene.hpp"
#include "support/squid.hpp"

namespace garner::test {

using nlohmann::json;

/// Addresses that both need before they start. If Squid queries Garner, start Garner first: Squid treats a peer as dead if it
/// cannot connect to its HTTP port.
struct MeshWithSquid : ::testing::Test {
    Origin origin;
    Squid::Ports squid_ports;
    std::uint16_t our_icp = free_port();
    std::uint16_t our_htcp = free_port();

    void SetUp() override { NEEDS("squid"); }

    /// Squid as a peer of Garner, with `more` merged over it.
    json squid_as(std::string const& type, json const& more = json::object()) const {
        json peer{{"name", "squid"},
                  {"type", type},
                  {"host", Squid::address},
                  {"http_port", squid_ports.http},
                  {"icp_port", squid_ports.icp}};
        peer.merge_patch(more);
        return peer;
    }
    /// Garner's configuration with these peers and ICP, with `more` merged over it.
    std::string ours(std::vector<json> const& peers, json const& more = json::object()) const {
        json patch{{"workers", 1},
                   {"peers", peers},
                   {"icp", {{"address", at_us(our_icp)}, {"allow", {"127.0.0.0/8"}}, {"timeout_min", "2s"}}},
                   {"digest", {{"publish", false}}}};
        patch.merge_patch(more);
        return patch.dump();
    }
    static std::string at_us(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

    Squid::Setup squid_with(std::string const& directives = "") const { return {.directives = directives, .ports = squid_ports}; }
    /// Garner as a peer of Squid: "sibling" and options.
    std::string us_as(std::string const& type, Proxy const& proxy, std::string const& options = "") const {
        return "cache_peer 127.0.0.1 " + type + " " + std::to_string(proxy.port()) + " " + std::to_string(our_icp) +
               " no-digest no-netdb-exchange name=garner " + options + "\n";
    }
};

inline std::string hierarchy(Logged const& line) { return line.all.value("hierarchy", ""); }
inline std::string peer(Logged const& line) { return line.all.value("peer", ""); }

}   // namespace garner::test
