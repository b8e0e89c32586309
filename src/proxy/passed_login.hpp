// The login of a client at a parent with `login` = "pass". Pure.
#pragma once
#include <string>

#include "http/message.hpp"

namespace garner::proxy {

/// The client's Proxy-Authorization line for the parent, with CRLF. Empty: there is none, or more than one, or its scheme
/// authenticates a connection (Negotiate, NTLM, RFC 4559), which the clients of this proxy would share.
std::string passed_login(http::Fields const& request);

/// The challenges of the parent's 407 for the client: lines of Proxy-Authenticate, each with CRLF, without those schemes.
std::string passed_challenges(http::Fields const& response);

}   // namespace garner::proxy
