// garner purge, garner stats: commands that ask a running proxy over its admin address.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>

namespace garner::admin {

struct Command {
    enum class Kind : std::uint8_t { purge, stats };
    Kind kind = Kind::stats;
    std::string url = {};                   // purge: what to remove
    std::string address = "127.0.0.1";      // the running proxy's admin address; an unspecified one means this machine
    std::uint16_t port = 3131;
};

/// The exit code: 0 done; 1 the URL was not there, nobody answers, or what answers is not Garner; 2 a wrong URL. The
/// figures, or what became of the purge, go to `out`, troubles to `err`. Waits 10 s at most.
int run_command(Command const&, std::ostream& out, std::ostream& err);

}  // namespace garner::admin
