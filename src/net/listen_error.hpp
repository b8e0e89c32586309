// The suggested fix for an address that cannot be listened on.
#pragma once
#include "net/asio.hpp"

namespace garner::net {

/// "choose an address of this machine"; empty for an error that no configuration causes.
char const* mend_of_listening(Error const&);

}   // namespace garner::net
