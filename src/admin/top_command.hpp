// garner top: asks a running proxy each second, and shows health, rates and lists.
#pragma once
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

#include "util/ip.hpp"

namespace garner::admin {

struct TopCommand {
    struct Size {
        std::size_t lines = 24, columns = 80;
    };
    std::string address = "127.0.0.1";   // as in Command
    std::uint16_t port = 3131;
    std::string token = {};
    std::uint32_t count = 0;             // of prints; 0: without end
    std::function<Size()> screen = {};   // the terminal's present size; empty: prints lines
};

/// Returns when the output fails, or after `count` prints. The exit code: 0 done; 1 no Garner answers at the address at first; 2 a
/// wrong address. A proxy that does not answer later is reported, and asked again.
int run_top_command(TopCommand const&, std::ostream& out, std::ostream& err);

}   // namespace garner::admin
