// What the program was asked on its command line.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "util/bytes.hpp"

namespace garner::config {

struct CommandLine {
    enum class Command {
        run,          // start the proxy
        check,        // tell the configuration's faults
        purge,        // remove `url` from the cache
        stats,        // one page of figures
        peers,        // the other caches, and how they do
        explain,      // why `url` is, or is not, answered from the cache
        cache,        // what the cache holds: `rest` is what to do, and a pattern
        sim,          // replay a trace: `rest` is the simulator's
        seen,         // a crawler's URL-seen caches: `rest` is theirs
        help,         // print `text`, the help or the version, and end with 0
        wrong         // print `text` to standard error and end with 2
    };
    Command command = Command::run;
    std::string config_file;              // empty: the embedded defaults
    std::vector<std::string> sets;        // "KEY=VALUE", in order
    std::string url;                      // purge, explain
    std::string method = {};              // explain, like the following; empty: by the URL
    std::vector<std::string> fields;      // "Accept-Language: de", in order
    std::string client;                   // an address; empty: this machine
    bool accelerator = false;
    bool json = false;                    // explain, peers, cache
    Bytes rate = 100 * MiB;               // cache verify: bytes a second that are read at most; 0 for any
    bool what_if = false;                 // stats
    bool rebuild_digest = false;          // peers
    std::vector<std::string> rest;        // sim, seen: all that follows; cache: "purge", "http://example.com/"
    std::string text;                     // help, wrong: printed as it is, with its last newline
};

/// `arguments` without the program's name. `--help` anywhere is help for the subcommand before it. Options and operands
/// may come in any order; "--config=FILE" and "--set=K=V" are the same as with a space; after "--" all are operands.
CommandLine parse_command_line(std::span<char const* const> arguments);

}  // namespace garner::config
