#include "seen/stats_text.hpp"

#include <nlohmann/json.hpp>

#include "util/version.hpp"
#include "web/prometheus.hpp"

namespace garner::seen {

namespace {

using Json = nlohmann::ordered_json;

struct Shown {
    ServiceState& state;
    SetKeeper::Stats set;
};

/// A row of the statistics. Without a place it is not in the JSON; without a name it is not shown to Prometheus.
template <class Source>
struct Figure {
    char const* path;
    Json (*get)(Source const&);
    std::string_view name = {}, help = {};
};

std::string plain_word(LinkStatus answer) { return std::string(word_of(answer).substr(1)); }   // without the "!"

Json refused(Shown const& shown) {
    Json list = Json::object();
    auto const& counts = shown.state.counters.refused;
    for (std::size_t answer = is_new + 1; answer <= not_text; ++answer)
        if (counts[answer] > 0) list[plain_word(static_cast<LinkStatus>(answer))] = counts[answer];
    return list;
}

Json by_answer(Shown const& shown) {
    auto const& counters = shown.state.counters;
    // clang-format off
    Json list{{"new", counters.fresh}, {"seen", counters.repeated}, {"unreachable", counters.unreachable},
              {"not-durable", counters.not_durable}};
    // clang-format on
    for (std::size_t answer = is_new + 1; answer <= not_text; ++answer)
        list[plain_word(static_cast<LinkStatus>(answer))] = counters.refused[answer];
    return list;
}

Json cache_hit_share(Shown const& shown) {
    auto const links = static_cast<double>(shown.set.links);
    return links > 0 ? 1 - static_cast<double>(shown.set.passed_cache) / links : 0;
}

Json health(Shown const& shown) {
    if (shown.set.losses > 0) return "Trouble: the set has lost URLs, which are new again: " + shown.set.last_loss;
    for (auto const& link : shown.state.links())
        if (link && !link->stats().up)
            return "Trouble: partition " + std::to_string(link->partition()) + " at " + link->place().text() + ": " +
                   link->stats().trouble;
    return "OK: no problem is known.";
}

// clang-format off
template <auto Member> Json counter(Shown const& shown) { return shown.state.counters.*Member; }
template <auto Member> Json of_set(Shown const& shown) { return shown.set.*Member; }
template <auto Member> Json of_link(PeerLink const& link) { return link.stats().*Member; }
// clang-format on

using Set = SetKeeper::Stats;
using Other = PeerLink::Stats;

constexpr Figure<Shown> figures[]{
    {"/version", [](Shown const&) -> Json { return version; }},
    {"/health", health},
    {"/uptime_seconds", [](Shown const& shown) -> Json { return shown.state.uptime().count(); }},
    {"/batches", counter<&Counters::batches>, "garner_seen_batches_total", "Batches answered."},
    {"/links", counter<&Counters::links>},
    {"/new", counter<&Counters::fresh>},
    {"/seen", counter<&Counters::repeated>},
    {"/refused", refused},
    {"", by_answer, "garner_seen_links_total{answer}", "Links answered, by answer."},
    {"/unreachable", counter<&Counters::unreachable>},
    {"/not_durable", counter<&Counters::not_durable>},
    {"/durable_batches", counter<&Counters::durable_batches>},
    {"/overloads", counter<&Counters::overloads>, "garner_seen_overloads_total", "Batches rejected with 503."},
    {"/too_large", counter<&Counters::too_large>},
    {"/unreadable", counter<&Counters::unreadable>},
    {"/connections", counter<&Counters::connections>},
    {"/connections_now", [](Shown const& shown) -> Json { return shown.state.connections_now; }},
    {"/held_bytes", [](Shown const& shown) -> Json { return shown.state.held_bytes(); }},
    {"/set/kind", [](Shown const& shown) -> Json { return shown.state.keeper().set_name(); }},
    {"/set/entries", of_set<&Set::entries>, "garner_seen_set_entries", "URLs in the set."},
    {"/set/bits_per_entry", of_set<&Set::bits_per_entry>},
    {"/set/memory_bytes", of_set<&Set::memory_bytes>, "garner_seen_set_memory_bytes", "Memory of the set and its cache."},
    {"/set/file_bytes", of_set<&Set::file_bytes>, "garner_seen_set_file_bytes", "Size of the files of the set."},
    {"/set/links", of_set<&Set::links>, "garner_seen_set_links_total", "Links looked up in the cache and then in the set."},
    {"", of_set<&Set::passed_cache>, "garner_seen_set_passed_cache_total",
     "Links looked up in the set because the cache did not have them."},
    {"/set/new", of_set<&Set::fresh>},
    {"/set/cache_hit_share", cache_hit_share},
    {"/set/batches", of_set<&Set::batches>},
    {"/set/syncs", of_set<&Set::syncs>},
    {"/set/waiting_links", of_set<&Set::waiting_links>, "garner_seen_set_waiting_links", "Links that wait for the set."},
    {"/set/waiting_batches", of_set<&Set::waiting_batches>},
    {"/set/faults", of_set<&Set::faults>, "garner_seen_set_faults_total", "Errors of the set."},
    {"/set/losses", of_set<&Set::losses>, "garner_seen_set_losses_total", "Times that the set has lost URLs, which are new again."},
    {"/set/last_fault", of_set<&Set::last_fault>},
    {"", counter<&Counters::kept_home>, "garner_seen_kept_home_total",
     "Links of other partitions that were answered from local knowledge."},
};

/// Shown if there are several partitions.
constexpr Figure<Shown> partition_figures[]{
    {"/partition/own", [](Shown const& shown) -> Json { return shown.state.options().partition; }},
    {"/partition/of", [](Shown const& shown) -> Json { return shown.state.partitions(); }},
    {"/partition/forwarded_batches", counter<&Counters::forwarded_batches>},
    {"/partition/forwarded_links", counter<&Counters::forwarded_links>},
    {"/partition/kept_home", counter<&Counters::kept_home>},
};

constexpr Figure<PeerLink> link_figures[]{
    {"/partition", [](PeerLink const& link) -> Json { return link.partition(); }},
    {"/address", [](PeerLink const& link) -> Json { return link.place().text(); }},
    {"/up", of_link<&Other::up>, "garner_seen_partition_up{partition}", "1 if the partition answered the last query, otherwise 0."},
    {"/batches", of_link<&Other::batches>},
    {"/links", of_link<&Other::links>, "garner_seen_partition_links_total{partition}", "Links sent to the partition."},
    {"/answered", of_link<&Other::answered>},
    {"/new", of_link<&Other::fresh>},
    {"/failed_batches", of_link<&Other::failed_batches>},
    {"/unreachable", of_link<&Other::unreachable>, "garner_seen_partition_unreachable_total{partition}",
     "Links that the partition did not answer."},
    {"/unsure", of_link<&Other::unsure>},
    {"/unsure_forgotten", of_link<&Other::unsure_forgotten>},
    {"/waiting_links", of_link<&Other::waiting_links>},
    {"/bytes_sent", of_link<&Other::bytes_sent>, "garner_seen_partition_bytes_sent_total{partition}",
     "Bytes of bodies sent to the partition."},
    {"/bytes_received", of_link<&Other::bytes_received>},
    {"/trouble", of_link<&Other::trouble>},
};

template <class Source>
void put(Json& json, std::span<Figure<Source> const> rows, Source const& from) {
    for (auto const& row : rows)
        if (*row.path) json[Json::json_pointer(row.path)] = row.get(from);
}

}   // namespace

std::string stats_json(ServiceState& state) {
    Shown const shown{state, state.keeper().stats()};
    Json json;
    put<Shown>(json, figures, shown);
    if (state.partitions() > 1) {
        put<Shown>(json, partition_figures, shown);
        auto& others = json["partition"]["others"] = Json::array();
        for (auto const& link : state.links())
            if (link) put<PeerLink>(others.emplace_back(), link_figures, *link);
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string metrics_text(ServiceState& state) {
    Shown const shown{state, state.keeper().stats()};
    web::PrometheusText text;
    for (auto const& row : figures)
        if (!row.name.empty()) text.add(row.name, row.help, row.get(shown));
    for (auto const& row : link_figures) {
        Json by_partition = Json::object();
        for (auto const& link : state.links())
            if (link && !row.name.empty()) by_partition[std::to_string(link->partition())] = row.get(*link);
        if (!by_partition.empty()) text.add(row.name, row.help, by_partition);
    }
    return text.take();
}

}   // namespace garner::seen
