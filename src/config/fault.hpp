// What is wrong with a configuration, where, and what would mend it.
#pragma once
#include <string>

namespace garner::config {

struct Fault {
    std::string file;        // "--set" for an override
    unsigned line = 0;       // from 1; 0 when there is none
    std::string key;         // "listen[1].address"; empty for the file as a whole
    std::string text;        // what is wrong
    std::string mend;        // what to do; may be empty

    friend bool operator==(Fault const&, Fault const&) = default;
};

/// "garner.json:12: memory.szie: unknown key (did you mean memory.size?)", "--set memory.szie: unknown key (…)".
std::string text_of(Fault const&);

}  // namespace garner::config
