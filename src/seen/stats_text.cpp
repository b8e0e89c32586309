#include "seen/stats_text.hpp"

#include <nlohmann/json.hpp>

#include "util/version.hpp"

namespace garner::seen {

namespace {

using Json = nlohmann::ordered_json;

double share(std::uint64_t part, std::uint64_t all) {
    return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0;
}

std::string plain_word(Answer answer) { return std::string(word_of(answer).substr(1)); }   // without its !

Json refused(Counters const& counters) {
    Json list = Json::object();
    for (std::size_t answer = is_new + 1; answer <= not_text; ++answer)
        if (counters.refused[answer] > 0) list[plain_word(static_cast<Answer>(answer))] = counters.refused[answer];
    return list;
}

Json set_of(Desk& desk, SetKeeper::Stats const& set) {
    return {{"kind", desk.keeper().set_name()},
            {"entries", set.entries},
            {"bits_per_entry", set.bits_per_entry},
            {"memory_bytes", set.memory_bytes},
            {"file_bytes", set.file_bytes},
            {"links", set.links},
            {"new", set.fresh},
            {"cache_hit_share", share(set.links - set.passed_cache, set.links)},
            {"batches", set.batches},
            {"syncs", set.syncs},
            {"waiting_links", set.waiting_links},
            {"waiting_batches", set.waiting_batches},
            {"faults", set.faults},
            {"last_fault", set.last_fault}};
}

Json partition_of(PeerLink const& link) {
    auto const& stats = link.stats();
    return {{"partition", link.partition()},
            {"address", link.place().text()},
            {"up", stats.up},
            {"batches", stats.batches},
            {"links", stats.links},
            {"answered", stats.answered},
            {"new", stats.fresh},
            {"failed_batches", stats.failed_batches},
            {"unreachable", stats.unreachable},
            {"unsure", stats.unsure},
            {"unsure_forgotten", stats.unsure_forgotten},
            {"waiting_links", stats.waiting_links},
            {"bytes_sent", stats.bytes_sent},
            {"bytes_received", stats.bytes_received},
            {"trouble", stats.trouble}};
}

class Metrics {
public:
    Metrics& family(std::string_view name, std::string_view type, std::string_view help) {
        name_ = "garner_seen_" + std::string(name);
        text_ += "# HELP " + name_ + " " + std::string(help) + "\n# TYPE " + name_ + " " + std::string(type) + "\n";
        return *this;
    }
    Metrics& add(auto value, std::string const& labels = "") {
        text_ += name_ + (labels.empty() ? "" : "{" + labels + "}") + " " + Json(value).dump() + "\n";
        return *this;
    }
    std::string take() { return std::move(text_); }

private:
    std::string text_, name_;
};

void add_partitions(Desk& desk, Metrics& metrics) {
    auto each = [&](auto value) {
        for (auto const& link : desk.links())
            if (link) metrics.add(value(link->stats()), "partition=\"" + std::to_string(link->partition()) + "\"");
    };
    metrics.family("partition_up", "gauge", "1 when the partition answered the last question.");
    each([](auto const& stats) { return stats.up ? 1 : 0; });
    metrics.family("partition_links_total", "counter", "Links the partition was asked.");
    each([](auto const& stats) { return stats.links; });
    metrics.family("partition_bytes_sent_total", "counter", "Bytes of bodies sent to the partition.");
    each([](auto const& stats) { return stats.bytes_sent; });
    metrics.family("partition_unreachable_total", "counter", "Links that got no answer from the partition.");
    each([](auto const& stats) { return stats.unreachable; });
}

}  // namespace

std::string stats_json(Desk& desk) {
    auto const& counters = desk.counters;
    auto const set = desk.keeper().stats();
    Json json{{"version", version},
              {"uptime_seconds", desk.uptime().count()},
              {"batches", counters.batches},
              {"links", counters.links},
              {"new", counters.fresh},
              {"seen", counters.repeated},
              {"refused", refused(counters)},
              {"unreachable", counters.unreachable},
              {"not_durable", counters.not_durable},
              {"durable_batches", counters.durable_batches},
              {"overloads", counters.overloads},
              {"too_large", counters.too_large},
              {"unreadable", counters.unreadable},
              {"connections", counters.connections},
              {"connections_now", desk.connections_now},
              {"held_bytes", desk.held_bytes()},
              {"set", set_of(desk, set)}};
    if (desk.partitions() > 1) {
        Json others = Json::array();
        for (auto const& link : desk.links())
            if (link) others.push_back(partition_of(*link));
        json["partition"] = {{"own", desk.options().partition},
                             {"of", desk.partitions()},
                             {"forwarded_batches", counters.forwarded_batches},
                             {"forwarded_links", counters.forwarded_links},
                             {"kept_home", counters.kept_home},
                             {"others", std::move(others)}};
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string metrics_text(Desk& desk) {
    auto const& counters = desk.counters;
    auto const set = desk.keeper().stats();
    Metrics metrics;
    metrics.family("batches_total", "counter", "Batches answered.").add(counters.batches);
    metrics.family("links_total", "counter", "Links answered, by answer.")
        .add(counters.fresh, "answer=\"new\"")
        .add(counters.repeated, "answer=\"seen\"")
        .add(counters.unreachable, "answer=\"unreachable\"")
        .add(counters.not_durable, "answer=\"not-durable\"");
    for (std::size_t answer = is_new + 1; answer <= not_text; ++answer)
        metrics.add(counters.refused[answer], "answer=\"" + plain_word(static_cast<Answer>(answer)) + "\"");
    metrics.family("overloads_total", "counter", "Batches refused with 503.").add(counters.overloads);
    metrics.family("set_entries", "gauge", "URLs in the set.").add(set.entries);
    metrics.family("set_memory_bytes", "gauge", "Memory of the set and its cache.").add(set.memory_bytes);
    metrics.family("set_file_bytes", "gauge", "Files of the set.").add(set.file_bytes);
    metrics.family("set_links_total", "counter", "Links looked up, in the cache first.").add(set.links);
    metrics.family("set_passed_cache_total", "counter", "Of them, those the cache did not know.").add(set.passed_cache);
    metrics.family("set_waiting_links", "gauge", "Links that wait for the set.").add(set.waiting_links);
    metrics.family("set_faults_total", "counter", "Troubles of the set.").add(set.faults);
    metrics.family("kept_home_total", "counter", "Links of other partitions whose answers were known.").add(counters.kept_home);
    if (desk.partitions() > 1) add_partitions(desk, metrics);
    return metrics.take();
}

}  // namespace garner::seen
