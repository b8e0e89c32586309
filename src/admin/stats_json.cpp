// The statistics as JSON: GET /stats.json. docs/reference/metrics.md lists every name.
#include "admin/json_members.hpp"
#include "admin/metrics.hpp"

namespace garner::admin {

namespace {

constexpr std::string_view peers = "peers.";

/// Other rows of the same object may have been added before.
void put(Json& place, Json value) {
    if (value.is_object())
        place.update(value);
    else
        place = std::move(value);
}

void put_in_peers(Json& list, std::string const& member, Json const& values) {
    if (list.is_null()) list = Json::array();
    for (std::size_t i = 0; i < values.size(); ++i) list[i][member] = values[i];
}

}   // namespace

Json stats_json(Report const& report) {
    Json json;
    for (auto const& metric : metrics())
        if (metric.path.starts_with(peers))
            put_in_peers(json["peers"], std::string(metric.path.substr(peers.size())), metric.get(report));
        else if (!metric.path.empty())
            put(json[pointer_to(metric.path)], metric.get(report));
    return json;
}

}   // namespace garner::admin
