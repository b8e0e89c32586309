// garner purge with --prefix, --tag, --all, --soft, --group or lines on standard input: asks a running proxy at its admin address.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>

#include "admin/purge_order.hpp"

namespace garner::admin {

struct PurgeCommand {
    PurgeOrder order = {};
    bool reads_lines = false;            // `order` has what is common to all lines
    std::string address = "127.0.0.1";   // as in Command
    std::uint16_t port = 3131;
    std::string token = {};   // of admin.tokens; empty: none
};

/// Returns the exit code: 0 all are accepted; 1 one was refused, or no Garner answers; 2 a wrong order or line, which is not sent.
int run_purge_command(PurgeCommand const&, std::istream& in, std::ostream& out, std::ostream& err);

}   // namespace garner::admin
