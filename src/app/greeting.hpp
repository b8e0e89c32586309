// The line at the start: the addresses, how to use them, how to stop the program.
#pragma once
#include <string>

#include "proxy/server.hpp"

namespace garner::app {

/// `admin` and `seen`: their addresses; empty: none. Ends with a line end.
std::string greeting(proxy::Server const& server, std::string const& admin, std::string const& seen);

/// "listens on 127.0.0.1:3128, [::1]:3128", for a service manager.
std::string listening_text(proxy::Server const& server);

}   // namespace garner::app
