// The Via field (RFC 9110 7.6.3): this proxy's member, and the detection of loops by it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "http/message.hpp"

namespace garner::proxy {

/// "garner-" and a random number: unique to this process.
std::string unique_via_name();

/// Appends "Via: 1.1 NAME" and CRLF, with the version in which the message was received.
void append_via(std::string& out, std::string_view via_name, std::string_view received = "1.1");

/// True if another proxy has probably forwarded the request: it has Via, Forwarded or X-Forwarded-For. Its connection and its
/// address may then be those of several users.
bool is_forwarded(http::Fields const& request);

/// True when the request has passed this proxy before, or more than `hops_max` proxies.
bool is_loop(http::RequestHead const&, std::string_view via_name, std::uint32_t hops_max);

}   // namespace garner::proxy
