// Addresses as the tests write them.
#pragma once
#include "net/asio.hpp"

namespace garner::net {

inline Address ip(char const* text) { return asio::ip::make_address(text); }

}   // namespace garner::net
