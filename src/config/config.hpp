// The whole configuration of a running Garner: one plain struct with a part for each module. Its defaults are the embedded
// ones.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "auth/options.hpp"
#include "bump/options.hpp"
#include "cache/options.hpp"
#include "group/options.hpp"
#include "icp/options.hpp"
#include "net/options.hpp"
#include "proxy/options.hpp"
#include "proxy/rule_question.hpp"
#include "seen/options.hpp"
#include "store/disk_options.hpp"

namespace garner::config {

/// The admin server: statistics, admin page and purge requests.
struct Admin {
    struct Token {
        std::string name;
        std::string role = "viewer";   // or "operator"
        std::string sha256;            // 64 hexadecimal digits, in lower case
        friend bool operator==(Token const&, Token const&) = default;
    };
    std::string address = "127.0.0.1";
    std::uint16_t port = 3131;
    bool enabled = true;
    std::vector<IpNetwork> allow;     // clients in addition to those on loopback
    std::vector<std::string> names;   // allowed values of Host in addition to the address, in lower case
    std::vector<Token> tokens;        // empty: each client may do everything
    friend bool operator==(Admin const&, Admin const&) = default;
};

/// The Unix socket for commands of the same user.
struct Control {
    std::string path;   // empty: `control` in $RUNTIME_DIRECTORY, else none
    friend bool operator==(Control const&, Control const&) = default;
};

/// The state that outlives the process.
struct State {
    std::string path;   // a directory; empty: nothing does
    friend bool operator==(State const&, State const&) = default;
};

/// No address: the crawler's service is off unless it is configured.
inline seen::Options no_seen() {
    seen::Options off;
    off.address.clear();
    return off;
}

/// A request, and the decision of the access rules that the operator expects.
struct RuleTest {
    proxy::RuleQuestion question = {.at = wall_now()};
    std::string expect;   // "deny exams"
};

struct Config {
    unsigned workers = 0;   // 0: one per core
    std::string user;       // account to switch to when started as root; empty: garner, else nobody
    proxy::Options proxy;
    std::vector<RuleTest> tests;   // of proxy.access; they were run when the configuration was loaded
    cache::Options memory;
    store::DiskOptions disk;
    net::ResolverOptions dns;
    net::ConnectorOptions connect;
    net::TlsOptions tls;
    net::PoolOptions pool;
    bump::Options bump;
    group::Options group;
    auth::Options auth;   // from the keys auth and groups
    Admin admin;
    Control control;
    State state;
    seen::Options seen = no_seen();

    icp::Options mesh;   // from the keys icp, htcp, digest, peers and direct
};

}   // namespace garner::config
