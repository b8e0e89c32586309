#include "proxy/quota_page.hpp"

#include <algorithm>

#include "proxy/page_text.hpp"
#include "util/numbers.hpp"
#include "util/units.hpp"

namespace garner::proxy {

namespace {

constexpr std::string_view quota_title = "Your quotas on this proxy";
constexpr std::string_view no_quota = "No quota has counted anything for you. Quotas of users count after a login.";

std::string quota_owner(share::QuotaStanding const& standing) { return standing.subject.empty() ? "all clients together" : "you"; }

/// Only limits that the rule has.
std::vector<share::Nearest> quota_limits(share::QuotaStanding const& standing) {
    auto const& [rule, usage] = std::pair(standing.rule, standing.usage);
    std::vector<share::Nearest> limits;
    if (rule.bytes > 0) limits.push_back({"bytes", usage.bytes, rule.bytes});
    if (rule.requests > 0) limits.push_back({"requests", usage.requests, rule.requests});
    if (rule.minutes() > 0) limits.push_back({"minutes", usage.minutes, rule.minutes()});
    return limits;
}

std::string quota_use(share::QuotaStanding const& standing) {
    std::string text;
    for (auto const& limit : quota_limits(standing)) text += (text.empty() ? "" : ", ") + share::used_text(limit);
    return text;
}

std::string quota_state(share::QuotaStanding const& standing) {
    if (standing.state == share::QuotaState::over) return "used up: only stored pages can be loaded";
    if (standing.state == share::QuotaState::slow) return "slow lane: " + rate_text(standing.rule.slow) + " in each direction";
    return "within the limits";
}

void append_quota_rows(std::string& out, share::QuotaStanding const& standing, ErrorFormat format) {
    auto const used = quota_use(standing), state = quota_state(standing);
    auto const until = share::local_time_text(standing.until);
    append_rows(out,
                {{"quota", standing.rule.name, append_own_text},
                 {"of", quota_owner(standing)},
                 {"used", used},
                 {"state", state},
                 {"begins anew", until}},
                format);
}

std::string quotas_as_html(std::span<share::QuotaStanding const> all) {
    std::string out(head_of_page());
    out.append("<title>").append(quota_title).append("</title></head>\n<body><h1>").append(quota_title).append("</h1>\n");
    if (all.empty()) out.append("<p>").append(no_quota).append("</p>\n");
    for (auto const& standing : all) {
        out.append("<dl>\n");
        append_quota_rows(out, standing, ErrorFormat::html);
        out.append("</dl>\n");
    }
    return out.append("</body></html>\n");
}

std::string quotas_as_text(std::span<share::QuotaStanding const> all) {
    if (all.empty()) return std::string(no_quota).append("\n");
    std::string out;
    for (auto const& standing : all) {
        append_quota_rows(out, standing, ErrorFormat::text);
        out += '\n';
    }
    return out;
}

/// Numbers, for programs.
std::string quotas_as_json(std::span<share::QuotaStanding const> all, WallTime now) {
    std::string out = "{\"quotas\":[";
    for (auto const& standing : all) {
        out.append(&standing == all.data() ? "{\"name\":\"" : ",{\"name\":\"");
        append_own_text(out, standing.rule.name, ErrorFormat::json);
        out.append("\",\"each\":\"").append(text(standing.rule.each));
        out.append("\",\"per\":\"").append(text(standing.rule.per));
        out.append("\",\"state\":\"").append(text(standing.state)).append("\"");
        for (auto const& limit : quota_limits(standing)) {
            out.append(",\"").append(limit.unit).append("\":{\"used\":").append(std::to_string(limit.used));
            out.append(",\"limit\":").append(std::to_string(limit.limit)).append("}");
        }
        auto const left = std::max<std::int64_t>(standing.until - unix_seconds(now), 0);
        out.append(",\"until\":").append(std::to_string(standing.until));
        out.append(",\"left_seconds\":").append(std::to_string(left)).append("}");
    }
    return out.append("]}\n");
}

}   // namespace

std::string quota_page(std::span<share::QuotaStanding const> all, WallTime now, ErrorFormat format) {
    switch (format) {
    case ErrorFormat::html: return quotas_as_html(all);
    case ErrorFormat::json: return quotas_as_json(all, now);
    case ErrorFormat::text: break;
    }
    return quotas_as_text(all);
}

}   // namespace garner::proxy
