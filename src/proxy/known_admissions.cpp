#include "proxy/known_admissions.hpp"

#include "proxy/request.hpp"

namespace garner::proxy {

Admission admission_of(Request const& request) {
    return admit(*request.options, *request.services.own, request.target, request.facts());
}

Admission KnownAdmissions::admit(Request const& request) {
    if (!may_be_known(request)) return admission_of(request);
    keep_only_for(request);
    auto const& client = *request.client.client();
    auto const& address = client.peer.address;
    auto const origin = request.target.origin();
    auto& place = places_[(hash_(origin) + address.halves()[1]) % places];
    bool const is_known = place.origin == origin && place.client == address && place.listener == client.listener;
    if (!is_known) {
        place.origin = origin;
        place.client = address;
        place.listener = client.listener;
        place.admission = admission_of(request);
    }
    return place.admission;
}

/// A request that has waited may have older options. The address of an intercepted connection is no part of the origin.
bool KnownAdmissions::may_be_known(Request const& request) {
    auto const& target = request.target;
    return request.options->access.are_about_origins() && request.options == request.services.options &&
           request.head().method != http::Method::connect && !target.accelerated && !target.destination &&
           !target.is_unverified() && !target.host_field.empty();
}

void KnownAdmissions::keep_only_for(Request const& request) {
    if (options_ == request.options && own_ == request.services.own) return;
    for (auto& place : places_) place = {};
    options_ = request.options;
    own_ = request.services.own;
}

}   // namespace garner::proxy
