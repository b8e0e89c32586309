#include "http/caching_rules.hpp"

namespace garner::http {

bool CachingRule::applies(RuleRequest const& request, std::string_view content_type) const {
    return match.matches(request, nullptr) == Matcher::Result::yes && (type.empty() || is_media_type_among(content_type, type));
}

Reload reload_for(std::span<CachingRule const> rules, RuleRequest const& request) {
    for (CachingRule const& rule : rules)
        if (rule.reload && rule.applies(request, "")) return *rule.reload;
    return Reload::honour;
}

}   // namespace garner::http
