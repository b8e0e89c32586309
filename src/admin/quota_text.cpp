#include "admin/quota_text.hpp"

#include <algorithm>
#include <array>

#include "admin/human.hpp"
#include "share/quota.hpp"
#include "util/units.hpp"

namespace garner::admin {

namespace {

using QuotaCells = std::array<std::string, 5>;

std::uint64_t quota_number(Json const& json, char const* name) {
    auto const& value = at(json, name);
    return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}

}   // namespace

std::string quota_used_text(Json const& quota) {
    auto const unit = text_at(quota, "unit");
    char const* const known = unit == "requests" ? "requests" : unit == "minutes" ? "minutes" : "bytes";
    return share::used_text({known, quota_number(quota, "used"), quota_number(quota, "limit")});
}

std::string quota_state_text(Json const& quota) {
    auto const state = text_at(quota, "state");
    if (state == "over") return "used up";
    if (state != "slow") return state;
    auto const rate = quota_number(quota, "slow_bytes_per_second");
    return "slow lane" + (rate == 0 ? std::string() : " of " + rate_text(rate));
}

std::string quota_until_text(Json const& quota) {
    return share::local_time_text(static_cast<std::int64_t>(quota_number(quota, "until")));
}

std::string quota_text(Json const& quota) {
    return quota_used_text(quota) + ", " + quota_state_text(quota) + ", until " + quota_until_text(quota);
}

std::string quotas_text(Json const& stats) {
    std::vector<QuotaCells> rows{{"quota", "subject", "used", "state", "until"}};
    for (auto const& quota : at(stats, "quotas"))
        rows.push_back({printable(text_at(quota, "name")), printable(text_at(quota, "subject")), quota_used_text(quota),
                        quota_state_text(quota), quota_until_text(quota)});
    if (rows.size() == 1) return "no quota of the running proxy has counted anything in its present window\n";
    std::string out;
    for (auto const& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            auto const widest = std::ranges::max_element(rows, {}, [i](QuotaCells const& one) { return one[i].size(); });
            bool const is_last = i + 1 == row.size();
            out += row[i] + (is_last ? "\n" : std::string((*widest)[i].size() - row[i].size() + 2, ' '));
        }
    }
    return out;
}

}   // namespace garner::admin
