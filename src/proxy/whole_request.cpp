#include "proxy/whole_request.hpp"

#include "http/hop_by_hop.hpp"

namespace garner::proxy {

using http::Name;

namespace {

/// Fields that do not apply to the whole response: ranges, conditions, and the client's own cache directives.
bool about_one_answer(Name id) {
    switch (id) {
    case Name::range:
    case Name::if_range:
    case Name::if_match:
    case Name::if_none_match:
    case Name::if_modified_since:
    case Name::if_unmodified_since:
    case Name::cache_control:
    case Name::pragma:
    case Name::content_length:
    case Name::expect: return true;
    default: return false;
    }
}

}   // namespace

std::string whole_request(http::RequestHead const& head, std::string_view host) {
    std::string text("GET ");
    text.append(head.target).append(" HTTP/1.1\r\n");
    http::HopByHop hop_by_hop(head.fields);
    for (auto const& field : head.fields)
        if (!hop_by_hop.dropped(field) && !about_one_answer(field.id))
            text.append(field.name).append(": ").append(field.value).append("\r\n");
    if (!head.fields.has(Name::host)) text.append("Host: ").append(host).append("\r\n");
    return text.append("\r\n");
}

}   // namespace garner::proxy
