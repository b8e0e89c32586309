// Garners that reach each other over TLS.
#pragma once
#include <signal.h>

#include "story/scene.hpp"
#include "story/tls/secure_listener.hpp"
#include "support/tap.hpp"

namespace garner::test {

using nlohmann::json;

/// Certificates of a parent, of a child and of an origin, each its own authority; and configurations that trust them.
struct TlsMesh : ::testing::Test {
    CertificateFiles parent_files{"parent.test"}, child_files{"child.test"}, origin_files{"origin.test"};

    /// A cache with a TLS listener that only the child may use.
    Proxy::Setup secure_parent(json const& more = json::object()) const {
        json patch{{"workers", 1}, {"tls", {{"ca_file", origin_files.chain()}}}};
        patch.merge_patch(more);
        return {.patch = patch.dump(), .tls = parent_files.tls(R"(, "client_ca": ")" + child_files.chain() + "\"")};
    }
    /// The child's `tls` for that parent.
    json trusting() const {
        return {{"ca_file", parent_files.chain()},
                {"server_name", "parent.test"},
                {"chain", child_files.chain()},
                {"key", child_files.key()}};
    }
    /// A parent at that TLS port, with `more` over it.
    json campus(std::uint16_t port, json const& more = json::object()) const {
        json peer{{"name", "campus"}, {"host", "127.0.0.1"}, {"http_port", port}, {"icp_port", 0}, {"tls", trusting()}};
        peer.merge_patch(more);
        return peer;
    }
    /// A cache with these peers, which trusts the origins, too.
    json child_of(std::vector<json> const& peers, json const& more = json::object()) const {
        json patch{{"workers", 1}, {"tls", {{"ca_file", origin_files.chain()}}}, {"peers", peers}};
        patch.merge_patch(more);
        return patch;
    }
    static json only_peers() { return {{"direct", {{"never", json::array({"all"})}}}}; }
    Origin::Setup secure_origin() const { return {.certificate = &origin_files.certificate}; }
};

inline std::string reach(Logged const& line) { return line.all.value("peer_reach", ""); }

/// Sends SIGHUP with this configuration, and waits for the text in the log.
inline void reload(Proxy& proxy, json const& configuration, std::string const& text) {
    auto const count = [&] {
        auto const errors = proxy.errors();
        std::size_t found = 0;
        for (auto at = errors.find(text); at != errors.npos; at = errors.find(text, at + 1)) ++found;
        return found;
    };
    auto const before = count();
    proxy.rewrite(configuration.dump());
    proxy.signal(SIGHUP);
    ASSERT_TRUE(eventually([&] { return count() > before; })) << proxy.errors();
}

}   // namespace garner::test
