// What `garner seen sim` was asked on its command line.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "util/command_form.hpp"

namespace garner::seen_commands {

struct SeenSimOptions {
    std::string stream;                        // a file, "-" for standard input
    std::vector<std::string> caches;           // specs
    bool all = false;                          // every one there is: those that cannot be had here are left out
    std::vector<std::uint64_t> entries;
    std::uint32_t threads_model = 0;           // private caches; 0: one that all threads share
    std::uint32_t page_links = 62;             // dealt to a thread before the next one's turn
    bool json = false;
    std::uint64_t seed = 1;
};

struct ReadSeenSimOptions : CommandForm::Reading {
    SeenSimOptions options;
};
/// `arguments` after "seen sim".
ReadSeenSimOptions read_seen_sim_options(std::span<std::string const> arguments);

}  // namespace garner::seen_commands
