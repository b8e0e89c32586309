#include "proxy/failure.hpp"

namespace garner::proxy {

std::string_view decided_by(FailureCause fault) {
    switch (fault) {
    case FailureCause::none: return "";
    case FailureCause::name: return "DNS";
    case FailureCause::connection: return "connection";
    case FailureCause::answer: return "origin";
    }
    return "";
}

Failure failure_of(client::Trouble trouble, std::string const& server, char const* what_is_wrong) {
    using client::Trouble;
    switch (trouble) {
    case Trouble::timed_out: return {{504, server + " did not answer in time."}, FailureCause::answer};
    case Trouble::malformed: return {{502, server + " answers what is malformed: " + what_is_wrong}, FailureCause::answer};
    case Trouble::cancelled: return {{503, "The request was given up."}, FailureCause::none};
    default: return {{502, server + " closed the connection without an answer."}, FailureCause::answer};
    }
}

Failure failure_of(net::Connected const& connected, std::string const& server, bool is_peer) {
    using F = net::ConnectFailure;
    switch (connected.failure) {
    case F::forbidden: return {{403, "This proxy's rules do not allow this destination."}, FailureCause::none};
    case F::timed_out: return {{504, server + " could not be reached in time: " + connected.reason}, FailureCause::connection};
    case F::no_descriptors: return {{503, "This proxy has no descriptors left: " + connected.reason}, FailureCause::none};
    case F::no_resources: return {{502, server + " could not be reached: " + connected.reason}, FailureCause::none};
    case F::dns:
        return {{502, (is_peer ? server + "'s" : "The") + " name could not be resolved: " + connected.reason}, FailureCause::name};
    case F::cancelled: return {{503, "The request was given up."}, FailureCause::none};
    default: return {{502, server + " could not be reached: " + connected.reason}, FailureCause::connection};
    }
}

}  // namespace garner::proxy
