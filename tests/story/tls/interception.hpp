// The scene of interception: a CA of the proxy, and origins with certificates of another CA.
#pragma once
#include <nlohmann/json.hpp>

#include "story/tls/secure_listener.hpp"
#include "support/issued_certificate.hpp"

namespace garner::test {

using nlohmann::json;

inline constexpr char const* bump_all = R"([{"bump": {}}])";

/// A CA of the proxy, origins with certificates of another CA, and names for them.
struct Interception : ::testing::Test {
    TempDir dir;
    IssuedCertificate trust{{.common_name = "Origins", .is_ca = true}};
    std::string const ca = dir.path("ca").string();
    std::string const hosts = dir.write("hosts", "127.0.0.1 bumped.test other.test spliced.test pinned.test ended.test\n");
    std::string const trusted = dir.write("trusted.pem", trust.pem());
    std::string const root = ca + "/root.pem";

    void SetUp() override {
        auto const made = run({garner_binary(), "ca", "init", ca, "--any-host"});
        ASSERT_EQ(made.code, 0) << made.errors;
    }

    Certificate issued(std::string const& names, long valid_until = 86'400, bool by_itself = false) const {
        IssuedCertificate const made({.names = names, .valid_from = -7'200, .valid_until = valid_until},
                                     by_itself ? nullptr : &trust);
        return Certificate(made.pem(), made.key_pem());
    }

    std::string patch(std::string const& rules, std::string const& more = "{}") const {
        json all{{"workers", 1},
                 {"dns", {{"hosts_file", hosts}}},
                 {"tls", {{"ca_file", trusted}}},
                 {"bump", {{"ca_chain", ca + "/chain.pem"}, {"ca_key", ca + "/ca.key"}, {"rules", json::parse(rules)}}}};
        all.merge_patch(json::parse(more));
        return all.dump();
    }

    /// curl through the proxy; `trust`: the file with the certificates that it trusts.
    static Finished curl(Proxy const& proxy, std::string const& trust, std::vector<std::string> const& more) {
        std::vector<std::string> command{"curl", "-sS", "--max-time", "30", "-x", proxy.url(), "--cacert", trust};
        command.insert(command.end(), more.begin(), more.end());
        return run(command, 40s);
    }
    Finished curl(Proxy const& proxy, std::vector<std::string> const& more) const { return curl(proxy, root, more); }

    /// The beginning of a script for node: `s` is a CONNECT to `place` in a stream of the connection `c` to the proxy.
    std::string tunnel_in_a_stream(Proxy const& proxy, std::string const& place) const {
        return "const c = require('http2').connect('https://localhost:" + std::to_string(proxy.secure()) +
               "', {rejectUnauthorized: false}), place = '" + place + "', root = '" + root + "';" + R"(
const s = c.request({':method': 'CONNECT', ':authority': place});)";
    }
};

/// A tunnel to `place`, before its first byte.
inline Wire tunnel_to(Proxy const& proxy, std::string const& place) {
    auto wire = Wire::connect("127.0.0.1", proxy.port());
    wire.send("CONNECT " + place + " HTTP/1.1\r\nHost: " + place + "\r\n\r\n");
    auto const has_head = [&] { return wire.buffer().ends_with("\r\n\r\n") || (wire.receive(Millis{50}), false); };
    EXPECT_TRUE(eventually(has_head));
    EXPECT_TRUE(wire.buffer().starts_with("HTTP/1.1 200 ")) << wire.buffer();
    wire.buffer().clear();
    return wire;
}

inline std::string url_of(std::string const& name, Origin const& origin, std::string const& path) {
    return "https://" + name + ":" + std::to_string(origin.port()) + path;
}

}   // namespace garner::test
