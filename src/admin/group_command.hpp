// garner group fetch: asks a running proxy at its admin address.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace garner::admin {

struct GroupFetchCommand {
    std::vector<std::string> urls = {};
    std::string address = "127.0.0.1";   // as in Command
    std::uint16_t port = 3131;
    std::string token = {};   // of admin.tokens; empty: none
};

/// Prints a line for each URL. Returns the exit code: 0 all are accepted; 1 one was refused, or no Garner answers.
int run_group_fetch_command(GroupFetchCommand const&, std::ostream& out, std::ostream& err);

}   // namespace garner::admin
