#include "proxy/websocket.hpp"

#include "auth/md5_crypt.hpp"
#include "util/text.hpp"

namespace garner::proxy {

namespace {

constexpr std::string_view suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";   // RFC 6455 1.3

/// Empty if there is no such field.
std::string_view value_of(http::Fields const& fields, std::string_view name) {
    auto const* const field = fields.find(name);
    return field ? field->value : std::string_view();
}

}   // namespace

char const* fault_of_websocket(http::RequestHead const& request, http::ResponseHead const& response) {
    if (!equals_ignoring_case(response.fields.first(http::Name::upgrade), "websocket"))
        return "The origin switched to another protocol than websocket.";
    auto const expected = auth::base64_sha1(std::string(value_of(request.fields, "sec-websocket-key")).append(suffix));
    if (value_of(response.fields, "sec-websocket-accept") != expected)
        return "The origin accepted the WebSocket with a wrong Sec-WebSocket-Accept, so it may not be a WebSocket server.";
    return nullptr;
}

}   // namespace garner::proxy
