// The statistics as JSON: GET /stats.json. docs/reference/metrics.md lists every name.
#include "admin/json_members.hpp"
#include "admin/metrics.hpp"

namespace garner::admin {

namespace {

constexpr std::string_view peers = "peers.";

/// A list for values of peers, in their order.
Json value_here(Metric const& metric, Report const& report) {
    if (!is_counter(metric)) return metric.get(report);
    auto value = value_of(metric, report);
    if (!metric.path.starts_with(peers)) return value;
    Json list = Json::array();
    for (auto const& peer : report.figures.peers) list.push_back(value[peer.options.name]);
    return list;
}

std::uint64_t sum_of(Json const& counts) {
    std::uint64_t sum = 0;
    for (auto const& count : counts) sum += count.get<std::uint64_t>();
    return sum;
}

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
            put_in_peers(json["peers"], std::string(metric.path.substr(peers.size())), value_here(metric, report));
        else if (!metric.path.empty())
            put(json[pointer_to(metric.path)], value_here(metric, report));
    if (report.former) {
        auto& requests = json["requests"];
        requests["total"] = 0;
        requests["total"] = sum_of(requests);
    }
    return json;
}

}   // namespace garner::admin
