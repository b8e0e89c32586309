// The facts of a request that rules can match.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "http/identity.hpp"
#include "http/message.hpp"
#include "http/uri.hpp"
#include "http/url_text.hpp"
#include "util/clock.hpp"
#include "util/ip.hpp"

namespace garner::http {

/// Views and pointers: valid as long as the request's bytes.
struct RuleRequest {
    IpAddress client = {};
    Method method = Method::get;
    std::string_view method_text = "GET";
    Scheme scheme = Scheme::http;
    std::string_view host = {};   // any case, IPv6 without brackets
    std::uint16_t port = 80;
    std::string_view url = {};                // normal form (append_normalised); "host:port" for CONNECT
    std::string_view plain_url = {};          // append_unescaped(url), if it differs; else empty
    ResolvedUrls const* resolved = nullptr;   // of `url`; nullptr: none
    WallTime now{};
    std::uint16_t listener = 0;                      // the port the client connected to
    bool accelerated = false;                        // the listener is an accelerator's: its clients are not asked to log in
    bool unverified = false;                         // the client has connected to an address that `host` does not lead to
    std::span<std::string const> certificate = {};   // the names in the client's certificate
    Fields const* fields = nullptr;                  // of the request; nullptr: none
    Identity const* identity = nullptr;              // nullptr: the client was not asked to log in yet
};

}   // namespace garner::http
