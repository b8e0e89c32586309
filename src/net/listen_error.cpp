#include "net/listen_error.hpp"

#include <boost/asio/error.hpp>

namespace garner::net {

char const* mend_of_listening(Error const& error) {
    if (error == asio::error::address_in_use) return "stop the process that listens there, or choose another port";
    if (error == asio::error::access_denied) return "choose a port above 1023, or restart as root or with a socket of systemd";
    if (error.value() == EADDRNOTAVAIL) return "choose an address of this machine";
    return "";
}

}   // namespace garner::net
