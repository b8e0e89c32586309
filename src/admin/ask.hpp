// One question to a running Garner's admin address.
#pragma once
#include <string>

#include "util/clock.hpp"
#include "util/ip.hpp"

namespace garner::admin {

struct Question {
    IpEndpoint place;
    std::string method = "GET";
    std::string target = "/";
    std::string body = {};                   // a form, with POST
    milliseconds patience{10'000};           // for all of it
};

struct Answered {
    unsigned status = 0;
    std::string body;                        // at most 1 MiB
    std::string trouble;                     // why there is no answer: "connection refused"; empty when there is one
};

/// Waits for the answer. Sends the field "Garner-Admin: 1".
Answered ask(Question const&);

}  // namespace garner::admin
