#include "proxy/via.hpp"

#include <cstdio>
#include <random>

#include "util/text.hpp"

namespace garner::proxy {

std::string unique_via_name() {
    std::random_device device;
    char text[20];
    std::snprintf(text, sizeof text, "garner-%08x", static_cast<unsigned>(device()));
    return text;
}

void append_via(std::string& out, std::string_view via_name, std::string_view received) {
    out.append("Via: ").append(received).append(" ").append(via_name).append("\r\n");
}

bool is_forwarded(http::Fields const& request) {
    using http::Name;
    return request.has(Name::via) || request.has(Name::forwarded) || request.has(Name::x_forwarded_for);
}

bool is_loop(http::RequestHead const& request, std::string_view via_name, std::uint32_t hops_max) {
    if (!request.fields.has(http::Name::via)) return false;
    std::uint32_t hops = 0;
    bool ours = false;
    http::for_each_member(request.fields, http::Name::via, [&](std::string_view member) {
        ++hops;
        // received-protocol RWS received-by
        auto const space = member.find_first_of(" \t");
        if (space == member.npos) return;
        auto const by = trim(member.substr(space));
        ours = ours || by.substr(0, by.find_first_of(" \t(")) == via_name;
    });
    return ours || hops > hops_max;
}

}   // namespace garner::proxy
