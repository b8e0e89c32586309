#include "proxy/failure.hpp"

namespace garner::proxy {

std::string_view decided_by(Fault fault) {
    switch (fault) {
    case Fault::none: return "";
    case Fault::name: return "DNS";
    case Fault::connection: return "connection";
    case Fault::answer: return "origin";
    }
    return "";
}

Failure failure_of(client::Trouble trouble, std::string const& server, char const* what_is_wrong) {
    using client::Trouble;
    switch (trouble) {
    case Trouble::timed_out: return {{504, server + " did not answer in time."}, Fault::answer};
    case Trouble::malformed: return {{502, server + " answers what is malformed: " + what_is_wrong}, Fault::answer};
    case Trouble::cancelled: return {{503, "The request was given up."}, Fault::none};
    default: return {{502, server + " closed the connection without an answer."}, Fault::answer};
    }
}

Failure failure_of(net::Connected const& connected, std::string const& server, bool is_peer) {
    using F = net::ConnectFailure;
    switch (connected.failure) {
    case F::forbidden: return {{403, "This proxy's rules do not allow this destination."}, Fault::none};
    case F::timed_out: return {{504, server + " could not be reached in time: " + connected.reason}, Fault::connection};
    case F::no_descriptors: return {{503, "This proxy has no descriptors left: " + connected.reason}, Fault::none};
    case F::no_resources: return {{502, server + " could not be reached: " + connected.reason}, Fault::none};
    case F::dns:
        return {{502, (is_peer ? server + "'s" : "The") + " name could not be resolved: " + connected.reason}, Fault::name};
    case F::cancelled: return {{503, "The request was given up."}, Fault::none};
    default: return {{502, server + " could not be reached: " + connected.reason}, Fault::connection};
    }
}

}  // namespace garner::proxy
