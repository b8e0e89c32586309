#include "proxy/failure.hpp"

#include <algorithm>

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
    using Kind = cache::FailureKind;
    switch (trouble) {
    case Trouble::timed_out: return {{504, server + " did not respond in time.", Kind::timeout}, FailureCause::answer};
    case Trouble::malformed:
        return {{502, server + " sent an invalid response: " + what_is_wrong, Kind::invalid}, FailureCause::answer};
    case Trouble::cancelled: return {{503, "The request was cancelled."}, FailureCause::none};
    default: return {{502, server + " closed the connection without a response.", Kind::closed}, FailureCause::answer};
    }
}

Failure failure_of(net::Connected const& connected, std::string const& server, bool is_peer) {
    using F = net::ConnectFailure;
    using Kind = cache::FailureKind;
    auto const failed = [&](std::uint16_t status, std::string text, Kind kind, FailureCause cause) -> Failure {
        return {{status, text + ": " + connected.reason, kind}, cause};
    };
    auto const not_reached = server + " could not be reached";
    switch (connected.failure) {
    case F::forbidden: return {{403, "The rules of this proxy do not allow this destination."}, FailureCause::none};
    case F::timed_out: return failed(504, not_reached + " in time", Kind::connect_timeout, FailureCause::connection);
    case F::no_descriptors: return failed(503, "This proxy has no file descriptors left", Kind::resources, FailureCause::none);
    case F::no_resources: return failed(502, not_reached, Kind::resources, FailureCause::none);
    case F::dns:
        return failed(502, (is_peer ? server + "'s" : "The") + " name could not be resolved", Kind::name, FailureCause::name);
    case F::cancelled: return {{503, "The request was cancelled."}, FailureCause::none};
    case F::refused: return failed(502, not_reached, Kind::refused, FailureCause::connection);
    case F::tls: return failed(502, not_reached, Kind::tls, FailureCause::connection);
    default: return failed(502, not_reached, Kind::unreachable, FailureCause::connection);
    }
}

Failure over_quota(share::QuotaStanding const& standing) {
    auto const left = std::max<std::int64_t>(standing.until - unix_seconds(wall_now()), 1);
    Failure failure{{429, over_text(standing), cache::FailureKind::quota}};
    failure.fields = "Retry-After: " + std::to_string(left) + "\r\n";
    return failure;
}

Failure no_seat(std::string_view limit, bool is_of_client, milliseconds waited) {
    auto const whose = is_of_client ? "This client has" : "All clients together have";
    auto const seconds = std::to_string(std::chrono::ceil<std::chrono::seconds>(waited).count());
    Failure failure{{is_of_client ? std::uint16_t{429} : std::uint16_t{503},
                     std::string(whose) + " too many connections and fetches open. None ended within " + seconds + " s.",
                     cache::FailureKind::resources}};
    failure.limit = limit;
    return failure;
}

Failure at_peer(Failure failure) {
    if (failure.cause != FailureCause::none) failure.told.kind = cache::FailureKind::peer;
    return failure;
}

}   // namespace garner::proxy
