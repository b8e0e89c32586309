// An error in a configuration: its position and a suggested fix.
#pragma once
#include <string>

namespace garner::config {

struct Fault {
    std::string file;    // "--set" for an override
    unsigned line = 0;   // from 1; 0: unknown
    std::string key;     // "listen[1].address"; empty for the file as a whole
    std::string text;    // the error
    std::string mend;    // a suggested fix; may be empty

    friend bool operator==(Fault const&, Fault const&) = default;
};

/// "garner.json:12: memory.szie: unknown key (did you mean memory.size?)", "--set memory.szie: unknown key (…)". Control characters
/// are escaped.
std::string text_of(Fault const&);
/// The form of notices, which have "notice: " before the text.
std::string notice_text_of(Fault);

}   // namespace garner::config
