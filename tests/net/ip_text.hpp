// Addresses from text, for tests.
#pragma once
#include "net/asio.hpp"

namespace garner::net {

inline Address ip(char const* text) { return asio::ip::make_address(text); }

}   // namespace garner::net
