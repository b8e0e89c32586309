// The parsed command line of the program.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/command_description.hpp"

namespace garner::config {

struct CommandLine {
    enum class Command {
        run,         // start the proxy
        check,       // report the configuration's errors
        import,      // translate the squid.conf `url`
        purge,       // remove `url` from the cache
        stats,       // print one page of statistics
        quota,       // print or reset quotas, by asking a running proxy
        top,         // print rates and lists, again each second
        token,       // make a token for the admin address: `rest` is its name
        peers,       // print the other caches and their states
        group,       // print the group that shares invalidations; `rest` is empty, or "fetch" and URLs
        health,      // whether the running proxy serves
        log,         // its log files: `rest` is the operation
        reload,      // makes the running proxy load its configuration again
        takeover,    // starts, and takes the place of the running proxy
        confirm,     // keeps the configuration that `reload` applied for a time
        explain,     // explain why `url` is, or is not, answered from the cache
        cache,       // the cache's content: `rest` is the operation and a pattern
        ca,          // the certificate authority of interception: `rest` is the operation and a directory
        intercept,   // print or check the firewall of listeners that intercept
        rules,       // ask the access rules: `rest` is the operation
        sim,         // replay a trace: `rest` are the simulator's arguments
        seen,        // a crawler's URL-seen caches: `rest` are their arguments
        help,        // print `text`, a help, the version or a completion script, and end with 0
        wrong        // print `text` to standard error and end with 2
    };
    Command command = Command::run;
    std::string config_file;           // empty: the embedded defaults
    std::vector<std::string> sets;     // "KEY=VALUE", in order
    std::string url;                   // purge, explain
    std::string method = {};           // explain, like the following; empty: derived from the URL
    std::vector<std::string> fields;   // "Accept-Language: de", in order
    std::string client;                // an address; empty: this machine; rules: --source
    bool accelerator = false;
    std::string intercepted = {};    // explain: the address that the client has connected to; empty: the proxy
    std::string server_name = {};    // explain: in the ClientHello of a tunnel; "-": none; empty: unknown
    bool json = false;               // explain, peers, group, cache
    Bytes rate = 100 * MiB;          // cache verify: most bytes per second to read; 0: no limit
    bool what_if = false;            // stats
    std::uint32_t count = 0;         // top: number of prints; 0: without end
    bool operates = false;           // token: has the role operator
    std::string token_file = {};     // commands that ask the admin address; empty: $GARNER_TOKEN
    bool ready = false;              // health
    std::string level = {};          // health: attention, trouble; empty: not given
    bool rebuild_digest = false;     // peers
    bool any_host = false;           // ca init
    bool erase = false;              // ca pins
    bool der = false;                // ca export
    bool dry_run = false;            // reload
    seconds confirm_within{};        // reload; 0: needs no confirmation
    bool or_takeover = false;        // reload
    bool background = false;         // takeover
    std::string from = {};           // takeover: the control socket; empty: that of the configuration
    std::vector<std::string> rest;   // sim, seen: all following words; cache, ca: "purge", "http://example.com/"
    struct Rules {
        std::string user;                          // why, explain; empty: not given
        std::vector<std::string> groups;           // why, explain
        std::vector<std::string> unknown_groups;   // why: the user may be in them
        std::string destination, at, id;           // why; empty: not given
        std::uint16_t listener = 0;                // why; 0: the first forward proxy's
        std::string log, against;                  // test
        std::optional<double> new_denials_max;     // test: share of the requests, 0 to 1; nothing: any
    };
    Rules rules = {};
    struct Intercept {
        bool print = false, check = false;          // one of them
        std::vector<std::string> interfaces = {};   // none: all
    };
    Intercept intercept_of = {};
    struct Purge {
        std::string prefix, tag, origin;   // empty: not given
        bool all = false, soft = false, group = false, wait = false;
        /// One URL is removed at once, here and at the peers.
        bool is_plain() const { return prefix.empty() && tag.empty() && !all && !soft && !group && !wait; }
    };
    Purge purge_of = {};
    std::string text;   // help, wrong: printed unchanged, including the last newline
};

/// `arguments` without the program's name. `--help` anywhere prints the help of the subcommand before it. Options and
/// operands may come in any order; "--config=FILE" and "--set=K=V" are equivalent to the form with a space; after "--" all
/// words are operands.
CommandLine parse_command_line(std::span<char const* const> arguments);

/// All commands, for help, completion and the reference page.
CommandDescription describe_commands();

}   // namespace garner::config
