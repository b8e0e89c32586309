#include "web/http_message.hpp"

#include <boost/beast/http/fields.hpp>

#include "http/message.hpp"

namespace garner::web {

std::optional<Reply> wrong_method(Request const& request, std::string_view allowed) {
    bool is_allowed = false;
    http::for_each_member(allowed, [&](std::string_view method) { is_allowed |= method == request.method; });
    if (is_allowed) return std::nullopt;
    std::string const methods(allowed);
    return Reply{.status = 405, .body = "Allowed methods: " + methods + "\n", .fields = "Allow: " + methods + "\r\n"};
}

std::size_t Request::count(std::string_view field) const { return fields->count({field.data(), field.size()}); }

std::string_view Request::value(std::string_view field) const {
    auto const text = (*fields)[{field.data(), field.size()}];
    return {text.data(), text.size()};
}

}   // namespace garner::web
