#include "admin/summary.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "admin/human.hpp"
#include "admin/peers_text.hpp"
#include "util/numbers.hpp"

namespace garner::admin {

using Json = nlohmann::ordered_json;

namespace {

/// Reads figures by their path; another version of Garner may have others.
class Stats {
public:
    explicit Stats(Json const& all) : all_(all) {}

    std::string count(char const* path) const { return number(path, human_count); }
    std::string bytes(char const* path) const { return number(path, human_bytes); }
    std::string micros(char const* path) const { return number(path, human_micros); }
    std::string share(char const* path) const {
        auto const* value = find(path);
        return human_share(value && value->is_number() ? std::optional(value->get<double>()) : std::nullopt);
    }
    std::string seconds(char const* path) const {
        auto const* value = find(path);
        return value && value->is_number() ? human_seconds(value->get<double>()) : "-";
    }
    std::string ratio(char const* path) const {
        auto const* value = find(path);
        return value && value->is_number() ? with_decimals(value->get<double>(), 2) : "-";
    }
    std::string uptime() const { return seconds("/uptime_seconds"); }
    bool is(char const* path) const {
        auto const* value = find(path);
        return value && value->is_boolean() && value->get<bool>();
    }
    std::string text(char const* path) const {
        auto const* value = find(path);
        return value && value->is_string() ? value->get<std::string>() : "-";
    }
    /// Names and figures of an object of counts, without its "total".
    std::vector<SummaryLine> counts(char const* path) const {
        std::vector<SummaryLine> lines;
        auto const* object = find(path);
        if (!object || !object->is_object()) return lines;
        for (auto const& [name, value] : object->items())
            if (name != "total" && value.is_number_unsigned())
                lines.push_back({name, {human_count(value.get<std::uint64_t>())}});
        return lines;
    }
    Json const* list(char const* path) const {
        auto const* value = find(path);
        return value && value->is_array() ? value : nullptr;
    }
    std::string windows(char const* path) const {
        std::string const ratio = path;
        return "60 s: " + share((ratio + "/60s").c_str()) + ", 1 h: " + share((ratio + "/1h").c_str());
    }

private:
    Json const* find(char const* path) const {
        Json::json_pointer const pointer(path);
        return all_.is_object() && all_.contains(pointer) ? &all_.at(pointer) : nullptr;
    }
    std::string number(char const* path, std::string (*write)(std::uint64_t)) const {
        auto const* value = find(path);
        return value && value->is_number_unsigned() ? write(value->get<std::uint64_t>()) : "-";
    }

    Json const& all_;
};

SummarySection requests(Stats const& stats) {
    SummarySection section{"Requests", {}, {{"all", {stats.count("/requests/total")}}}};
    for (auto& line : stats.counts("/requests")) section.lines.push_back(std::move(line));
    section.lines.push_back({"left by the client", {stats.count("/client/aborts")}});
    return section;
}

SummarySection ratios(Stats const& stats) {
    return {"Hit ratio",
            {"requests", "bytes"},
            {{"last 60 s", {stats.share("/hit_ratio/60s"), stats.share("/byte_hit_ratio/60s")}},
             {"last 5 min", {stats.share("/hit_ratio/5m"), stats.share("/byte_hit_ratio/5m")}},
             {"last hour", {stats.share("/hit_ratio/1h"), stats.share("/byte_hit_ratio/1h")}},
             {"since the start", {stats.share("/hit_ratio/start"), stats.share("/byte_hit_ratio/start")}}}};
}

SummarySection latency(Stats const& stats) {
    SummarySection section{"Time to the last byte", {"hits, 60 s", "5 min", "all else, 60 s", "5 min"}, {}};
    auto const add = [&](char const* name, std::string const& figure) {
        SummaryLine line{name, {}};
        for (auto const* window : {"hit/60s/", "hit/5m/", "miss/60s/", "miss/5m/"})
            line.values.push_back(stats.micros(("/latency/" + std::string(window) + figure).c_str()));
        section.lines.push_back(std::move(line));
    };
    add("half within", "p50_us");
    add("90 % within", "p90_us");
    add("99 % within", "p99_us");
    add("mean", "mean_us");
    return section;
}

SummarySection clients(Stats const& stats) {
    return {"Clients",
            {},
            {{"connections now", {stats.count("/connections/now")}},
             {"at most", {stats.count("/connections/limit")}},
             {"since the start", {stats.count("/connections/total")}},
             {"refused", {stats.count("/connections/refused")}},
             {"received", {stats.bytes("/client/received_bytes")}},
             {"sent", {stats.bytes("/client/sent_bytes")}},
             {"bodies sent", {stats.bytes("/client/body_bytes")}},
             {"of them on hits", {stats.bytes("/client/hit_body_bytes")}}}};
}

SummarySection origins(Stats const& stats) {
    return {"Origins",
            {},
            {{"connections made", {stats.count("/origin/connections")}},
             {"requests on kept ones", {stats.count("/origin/reused")}},
             {"sent again", {stats.count("/origin/retries")}},
             {"failures", {stats.count("/origin/failures")}},
             {"received", {stats.bytes("/origin/received_bytes")}},
             {"sent", {stats.bytes("/origin/sent_bytes")}}}};
}

SummarySection memory(Stats const& stats) {
    return {"Memory",
            {},
            {{"policy", {stats.text("/cache/policy")}},
             {"objects", {stats.count("/cache/objects")}},
             {"used", {stats.bytes("/cache/used_bytes")}},
             {"budget", {stats.bytes("/cache/capacity_bytes")}},
             {"objects and keys", {stats.bytes("/cache/stored_bytes")}},
             {"index and policy", {stats.bytes("/cache/metadata_bytes")}},
             {"being received", {stats.bytes("/cache/filling_bytes")}},
             {"fetches to join", {stats.count("/cache/fills")}},
             {"evicted", {stats.count("/cache/evictions")}},
             {"no room for", {stats.count("/cache/no_room")}}}};
}

/// Nothing without a disk tier.
std::optional<SummarySection> disk(Stats const& stats) {
    auto const state = stats.text("/disk/state");
    if (state == "off" || state == "-") return std::nullopt;
    SummarySection section{"Disk", {}, {{"state", {state}}}};
    auto const trouble = stats.text("/disk/trouble");
    if (!trouble.empty()) section.lines.push_back({"trouble", {trouble}});
    auto add = [&section](std::string name, std::string value) { section.lines.push_back({std::move(name), {std::move(value)}}); };
    add("size", stats.bytes("/disk/size_bytes"));
    add("live", stats.bytes("/disk/live_bytes"));
    add("records", stats.count("/disk/records"));
    add("memory for them", stats.bytes("/disk/metadata_bytes"));
    add("for each, bytes", stats.ratio("/disk/metadata_bytes_per_record"));
    add("segments found again", stats.count("/disk/segments_recovered") + " of " + stats.count("/disk/segments"));
    add("segments retired", stats.count("/disk/segments_retired"));
    add("hits", stats.count("/disk/hits"));
    add("of them at once", stats.count("/disk/hits_at_once"));
    add("pieces read", stats.count("/disk/pieces"));
    add("gone or another", stats.count("/disk/misses"));
    add("damaged", stats.count("/disk/damaged"));
    add("too late", stats.count("/disk/too_late"));
    add("stored", stats.count("/disk/stored"));
    for (auto& [reason, counts, trouble] : stats.counts("/disk/not_stored"))
        if (counts.front() != "0") add("not: " + reason, counts.front());
    add("waiting to be written", stats.bytes("/disk/buffered_bytes"));
    add("written a byte stored", stats.ratio("/disk/write_amplification/start"));
    add("in the first lap", stats.ratio("/disk/write_amplification/first_lap"));
    add("after it", stats.ratio("/disk/write_amplification/later"));
    add("of it written again", stats.share("/disk/reinserted_share"));
    add("laps", stats.count("/disk/laps"));
    add("evicted", stats.count("/disk/evicted"));
    add("errors reading", stats.count("/disk/read_errors"));
    add("errors writing", stats.count("/disk/write_errors"));
    return section;
}

SummarySection log(Stats const& stats) {
    SummarySection section{"Access log",
                           {},
                           {{"lines written", {stats.count("/log/written")}},
                            {"dropped, buffer full", {stats.count("/log/dropped")}},
                            {"lost, not writable", {stats.count("/log/lost")}}}};
    auto const error = stats.text("/log/last_error");
    if (!error.empty()) section.lines.push_back({"last error", {error}});
    return section;
}

std::string text_line(std::string const& name, std::vector<std::string> const& values) {
    constexpr std::size_t name_columns = 24, value_columns = 14;
    std::string out = name + std::string(name_columns - std::min(name_columns, columns(name)), ' ');
    for (auto const& value : values)
        out += std::string(value_columns - std::min(value_columns, columns(value)), ' ') + value;
    return out + "\n";
}

std::string section_text(SummarySection const& section) {
    auto out = section.columns.empty() ? section.title + "\n" : text_line(section.title, section.columns);
    for (auto const& line : section.lines) out += text_line("  " + line.name, line.values);
    return out;
}

}  // namespace

std::string summary_title(Json const& json) {
    Stats const stats(json);
    return "garner " + stats.text("/version") + ", up " + stats.uptime();
}

std::vector<Headline> headlines(Json const& json) {
    Stats const stats(json);
    return {{"Requests", stats.count("/requests/total"), "hits: " + stats.count("/requests/hit")},
            {"Hit ratio, 5 min", stats.share("/hit_ratio/5m"), stats.windows("/hit_ratio")},
            {"Byte hit ratio, 5 min", stats.share("/byte_hit_ratio/5m"), stats.windows("/byte_hit_ratio")},
            {"Memory used", stats.bytes("/cache/used_bytes"),
             "of " + stats.bytes("/cache/capacity_bytes") + "; objects: " + stats.count("/cache/objects")},
            {"Connections", stats.count("/connections/now"), "at most " + stats.count("/connections/limit")},
            {"A hit takes, 5 min", stats.micros("/latency/hit/5m/p50_us"), "99 % within " + stats.micros("/latency/hit/5m/p99_us")},
            {"All else takes, 5 min", stats.micros("/latency/miss/5m/p50_us"),
             "99 % within " + stats.micros("/latency/miss/5m/p99_us")}};
}

std::vector<SummarySection> summary(Json const& json) {
    Stats const stats(json);
    std::vector sections{requests(stats), ratios(stats), latency(stats), clients(stats), origins(stats), memory(stats)};
    if (auto tier = disk(stats)) sections.push_back(std::move(*tier));
    if (auto mesh = mesh_section(json)) sections.push_back(std::move(*mesh));
    sections.push_back(log(stats));
    return sections;
}

std::string summary_text(Json const& json) {
    std::string out = summary_title(json) + "\n";
    for (auto const& section : summary(json)) out += "\n" + section_text(section);
    if (peers_table(json)) out += "\n" + peers_text(json);
    return out;
}

std::string tiers_text(Json const& json) {
    Stats const stats(json);
    std::string out;
    if (json.contains("cache")) out = section_text(memory(stats));
    if (auto const tier = disk(stats)) out += (out.empty() ? "" : "\n") + section_text(*tier);
    return out;
}

// ---- what if ----

namespace {

std::string table_line(std::string const& name, std::vector<std::string> const& values, std::size_t name_columns) {
    constexpr std::size_t value_columns = 18;
    std::string out = name + std::string(name_columns - std::min(name_columns, columns(name)), ' ');
    for (auto const& value : values)
        out += std::string(value_columns - std::min(value_columns, columns(value)), ' ') + value;
    return out + "\n";
}

}  // namespace

std::optional<SummarySection> what_if(Json const& json) {
    Stats const stats(json);
    auto const* rows = stats.list("/what_if/rows");
    if (!rows || rows->empty()) return std::nullopt;
    auto const running = stats.text("/what_if/policy");
    SummarySection table{"What if: hits of requests / bytes", {}, {}};
    for (auto const& row : *rows) {
        if (!row.is_object()) return std::nullopt;
        auto const policy = row.value("policy", "");
        auto const name = (policy == running ? "* " : "  ") + policy;
        if (table.lines.empty() || table.lines.back().name != name) table.lines.push_back({name, {}});
        table.lines.back().values.push_back(human_share(row.value("object_hit_ratio", 0.0)) + " / " +
                                            human_share(row.value("byte_hit_ratio", 0.0)));
        if (table.lines.size() == 1) table.columns.push_back(human_bytes(row.value("size_bytes", std::uint64_t{0})));
    }
    return table;
}

std::string what_if_text(Json const& json) {
    Stats const stats(json);
    if (!stats.is("/what_if/on")) return "memory.what_if is false: no traffic is sampled.\n";
    auto const table = what_if(json);
    if (!table)
        return "Too little traffic yet: " + stats.count("/what_if/requests") + " of the " +
               stats.count("/what_if/requests_wanted") + " requests that an estimate wants.\n";
    std::size_t name_columns = 8;
    for (auto const& line : table->lines) name_columns = std::max(name_columns, columns(line.name) + 2);
    std::string out = "Hits of all requests / of all bytes, had the memory tier had another policy or size:\n\n";
    out += table_line("", table->columns, name_columns);
    for (auto const& line : table->lines) out += table_line(line.name, line.values, name_columns);
    out += "\n* runs now, with " + stats.bytes("/cache/capacity_bytes") + ". An estimate from " +
           stats.count("/what_if/requests") + " requests in " + stats.seconds("/what_if/since_seconds") + ", " +
           stats.share("/what_if/rate") + " of the URLs; expiry is not in it.\n";
    auto const change = stats.text("/what_if/auto/last_change");
    if (!change.empty() && change != "-") out += "memory.policy auto: " + change + "\n";
    return out;
}

}  // namespace garner::admin
