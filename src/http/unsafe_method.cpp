#include "http/unsafe_method.hpp"

namespace garner::http {

bool invalidates(Method method, std::optional<std::uint16_t> status) {
    if (is_safe(method)) return false;
    return !status || (*status >= 200 && *status < 400);
}

std::vector<std::string> also_invalidated(ResponseHead const& response, Uri const& target) {
    std::vector<std::string> also;
    for (Field const& field : response.fields) {
        if (field.id != Name::location && field.id != Name::content_location) continue;
        auto resolved = resolve(target, field.value);
        auto const uri = resolved ? parse_absolute(*resolved) : std::nullopt;
        if (uri && same_origin(*uri, target)) also.push_back(std::move(*resolved));
    }
    return also;
}

}   // namespace garner::http
