// garner purge, stats, peers, group, explain, health, log reopen, quota and ca pins: commands that query a running proxy at its
// admin address.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace garner::admin {

struct Command {
    enum class Kind : std::uint8_t { purge, stats, explain, peers, group, pins, health, reopen_logs, quota, reset_quota };
    Kind kind = Kind::stats;
    std::string url = {};                      // purge, explain: the URL
    std::string method = {};                   // explain, like the following: the request to explain
    std::vector<std::string> fields = {};      // "Accept-Language: de"
    std::string client = {};                   // its client's address; empty: this machine
    std::string quota = {};                    // reset_quota: its name
    std::optional<std::string> subject = {};   // reset_quota: a user or network; nothing: all
    std::string user = {};                     // the logged-in user; may be empty
    std::vector<std::string> groups = {};      // the groups of the user; without user and groups: not logged in
    std::string intercepted = {};              // the address that the client has connected to; empty: the proxy
    std::string server_name = {};              // in the ClientHello of a tunnel; "-": none; empty: unknown
    bool accelerator = false;                  // the request is for the accelerator, not the forward proxy
    bool json = false;                         // print the unmodified JSON
    bool what_if = false;                      // stats: the estimates for other policies and sizes
    bool erase = false;                        // pins: erases them
    std::string host = {};                     // pins, with erase: only those of this host
    bool ready = false;                        // health: it must accept clients, too
    std::string level = {};                    // health: the least state that counts as bad: "attention"; empty: none does
    bool rebuild_digest = false;               // peers: rebuilds this cache's digest instead
    std::string address = "127.0.0.1";         // the running proxy's admin address; an unspecified one means this machine
    std::uint16_t port = 3131;
    std::string token = {};   // of admin.tokens; empty: none
};

/// Returns the exit code: 0 done; 1 the URL was not stored, health is bad, or no Garner answers at the address; 2 a wrong URL,
/// method, field or client. Results go to `out`, errors to `err`. Waits at most 10 s, for a purge
/// 75 s.
int run_command(Command const&, std::ostream& out, std::ostream& err);

}   // namespace garner::admin
