// garner purge, garner stats, garner peers, garner explain: commands that ask a running proxy over its admin address.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace garner::admin {

struct Command {
    enum class Kind : std::uint8_t { purge, stats, explain, peers };
    Kind kind = Kind::stats;
    std::string url = {};                   // purge, explain: the URL
    std::string method = {};                // explain, like the following: the request that it is about
    std::vector<std::string> fields = {};   // "Accept-Language: de"
    std::string client = {};                // its client's address; empty: this machine
    bool accelerator = false;               // the request is for the accelerator, not the forward proxy
    bool json = false;                      // the answer as it came
    bool what_if = false;                   // stats: the estimates for other policies and sizes
    bool rebuild_digest = false;            // peers: instead, that our digest is built anew
    std::string address = "127.0.0.1";      // the running proxy's admin address; an unspecified one means this machine
    std::uint16_t port = 3131;
};

/// The exit code: 0 done; 1 the URL was not there, or no Garner answers at the address; 2 a wrong URL, method, field or
/// client. The answer goes to `out`, troubles to `err`. Waits 10 s at most.
int run_command(Command const&, std::ostream& out, std::ostream& err);

}  // namespace garner::admin
