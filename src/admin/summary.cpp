#include "admin/summary.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "admin/human.hpp"
#include "admin/json_members.hpp"
#include "admin/metrics.hpp"
#include "admin/peers_text.hpp"
#include "net/certificate_text.hpp"
#include "util/numbers.hpp"

namespace garner::admin {

std::string shown(Json const& value, std::string_view unit) {
    if (unit == "text") return value.is_string() ? value.get<std::string>() : "-";
    if (!value.is_number()) return "-";
    if (unit == "0 to 1") return human_share(value.get<double>());
    if (unit == "short time") return human_micros(static_cast<std::uint64_t>(std::max(value.get<double>(), 0.0) * 1e6 + 0.5));
    if (unit == "seconds") return human_seconds(value.get<double>());
    if (unit == "ms") return human_micros(static_cast<std::uint64_t>(std::max(value.get<double>(), 0.0) * 1e3 + 0.5));
    if (!value.is_number_unsigned()) return with_decimals(value.get<double>(), 2);
    auto const number = value.get<std::uint64_t>();
    if (unit == "bytes") return human_bytes(number);
    if (unit == "port") return std::to_string(number);
    if (unit == "short count") return human_short(number);
    return unit == "µs" ? human_micros(number) : human_count(number);
}

namespace {

/// The unit in the table of metrics; a member has the unit of its object.
std::string_view unit_of(std::string_view path) {
    for (auto const& metric : metrics())
        if (path == metric.path || path.starts_with(std::string(metric.path) + ".")) return metric.unit;
    return "";
}

std::string shown_at(Json const& stats, std::string_view path) { return shown(at(stats, path), unit_of(path)); }

StatRef stat_ref(Json const& value, std::string path) {
    constexpr auto replaced = Json::error_handler_t::replace;
    return {std::move(path), value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, replaced)};
}

// ---- sections from the table of metrics ----

/// "TLS handshakes, *" adds the members that are not 0, "*" adds all. "total" has a row of its own.
void add_members(SummarySection& section, Metric const& metric, Json const& members) {
    std::string const before(metric.line.substr(0, metric.line.size() - 1));
    for (auto const& [name, value] : members.items())
        if (name != "total" && value.is_number_unsigned() && (before.empty() || value != 0))
            section.lines.push_back(
                {before + name, {shown(value, "requests")}, false, {{std::string(metric.path) + "." + name, value.dump()}}});
}

void add_line(SummarySection& section, Metric const& metric, Json const& stats) {
    auto const& value = at(stats, metric.path);
    if (value == "") return;   // no error to report
    auto text = shown(value, metric.unit);
    if (metric.path == "disk.segments_recovered") text += " of " + shown_at(stats, "disk.segments");
    section.lines.push_back({std::string(metric.line), {text}, false, {stat_ref(value, std::string(metric.path))}});
}

SummarySection section(Json const& stats, char const* title) {
    SummarySection section{title, {}, {}};
    for (auto const& metric : metrics()) {
        if (metric.section != title) continue;
        if (!metric.line.ends_with('*'))
            add_line(section, metric, stats);
        else if (auto const& members = at(stats, metric.path); members.is_object())
            add_members(section, metric, members);
    }
    return section;
}

// ---- sections with several columns ----

struct Heading {
    char const* title;
    char const* path;   // the paths of column and line together are the path of a metric
};

SummarySection grid(Json const& stats, char const* title, std::string_view unit, std::initializer_list<Heading> columns,
                    std::initializer_list<Heading> lines) {
    SummarySection section{title, {}, {}};
    for (auto const& column : columns) section.columns.push_back(column.title);
    for (auto const& line : lines) {
        section.lines.push_back({line.title, {}});
        for (auto const& column : columns) {
            auto const path = std::string(column.path) + line.path;
            section.lines.back().values.push_back(shown(at(stats, path), unit));
            section.lines.back().stats.push_back(stat_ref(at(stats, path), path));
        }
    }
    return section;
}

SummarySection ratios(Json const& stats) {
    return grid(stats, "Hit ratio", "0 to 1", {{"requests", "hit_ratio."}, {"bytes", "byte_hit_ratio."}},
                {{"last 60 s", "60s"}, {"last 5 min", "5m"}, {"last hour", "1h"}, {"since the start", "start"}});
}

SummarySection latency(Json const& stats) {
    return grid(stats, "Time to the last byte", "µs",
                {{"hits, 60 s", "latency.hit.60s."},
                 {"5 min", "latency.hit.5m."},
                 {"misses, 60 s", "latency.miss.60s."},
                 {"5 min", "latency.miss.5m."}},
                {{"p50", "p50_us"}, {"p90", "p90_us"}, {"p99", "p99_us"}, {"mean", "mean_us"}});
}

/// Empty if another version answers, which does not know them.
SummarySection memory_parts_of(Json const& stats) {
    SummarySection section{"Memory by part", {"in use", "at most"}, {}};
    auto const& parts = at(stats, "memory_parts");
    if (!parts.is_array()) return section;
    auto const add = [&](std::string const& name, std::string const& path) {
        auto const bytes = path + "bytes", limit = path + "limit";
        section.lines.push_back({name,
                                 {shown(at(stats, bytes), "bytes"), shown(at(stats, limit), "bytes")},
                                 false,
                                 {stat_ref(at(stats, bytes), bytes), stat_ref(at(stats, limit), limit)}});
    };
    for (std::size_t i = 0; i < parts.size(); ++i) add(text_at(parts[i], "name"), "memory_parts." + std::to_string(i) + ".");
    add("all parts", "memory_sum.");
    auto const& resident = at(stats, "resident_bytes");
    section.lines.push_back({"process (resident)", {shown(resident, "bytes"), "-"}, false, {stat_ref(resident, "resident_bytes")}});
    return section;
}

/// "2026-12-08", "12 days left"
SummaryLine certificate_line(std::string const& subject, std::int64_t end, WallTime now) {
    constexpr std::int64_t day = 24 * 60 * 60, warned = 14;
    auto const date = net::date_text(from_unix_seconds(end));
    auto const left = end - unix_seconds(now);
    if (left < 0) return {subject, {date, "expired"}, true};
    auto const days = left / day;
    return {
        subject, {date, human_count(static_cast<std::uint64_t>(days)) + (days == 1 ? " day left" : " days left")}, days < warned};
}

/// The first to end comes first.
SummarySection certificate_days(Json const& stats, WallTime now) {
    SummarySection section{"Certificates", {}, {}};
    auto const& ends = at(stats, "tls.certificates");
    std::vector<std::pair<std::int64_t, std::string>> by_end;
    if (ends.is_object())
        for (auto const& [subject, end] : ends.items())
            if (end.is_number_integer()) by_end.emplace_back(end.get<std::int64_t>(), subject);
    std::ranges::sort(by_end);
    for (auto const& [end, subject] : by_end) section.lines.push_back(certificate_line(subject, end, now));
    return section;
}

// ---- as text ----

std::string text_line(std::string const& name, std::vector<std::string> const& values, std::size_t name_columns = 24,
                      std::size_t value_columns = 14) {
    std::string out = name + std::string(name_columns - std::min(name_columns, columns(name)), ' ');
    for (auto const& value : values) out += std::string(value_columns - std::min(value_columns, columns(value)), ' ') + value;
    return out + "\n";
}

std::string section_text(SummarySection const& section) {
    auto out = section.columns.empty() ? section.title + "\n" : text_line(section.title, section.columns);
    for (auto const& line : section.lines) out += text_line("  " + line.name, line.values);
    return out;
}

}   // namespace

std::string summary_title(Json const& stats) {
    return "garner " + shown_at(stats, "version") + ", up " + shown_at(stats, "uptime_seconds");
}

SummarySection summary_section(Json const& stats, char const* title) { return section(stats, title); }

bool has_disk(Json const& stats) {
    auto const state = shown_at(stats, "disk.state");
    return state != "off" && state != "-";
}

bool has_mesh(Json const& stats) {
    auto const& queries = at(stats, "icp.queries");
    return peers_table(stats) || (queries.is_number_unsigned() && queries != 0);
}

std::vector<SummarySection> summary(Json const& stats, WallTime now) {
    std::vector sections{section(stats, "Requests"), ratios(stats), latency(stats)};
    for (auto const* title : {"Clients", "Origins", "Memory"}) sections.push_back(section(stats, title));
    if (auto parts = memory_parts_of(stats); !parts.lines.empty()) sections.push_back(std::move(parts));
    if (has_disk(stats)) sections.push_back(section(stats, "Disk"));
    if (has_mesh(stats)) sections.push_back(section(stats, "Mesh"));
    if (auto shown = certificate_days(stats, now); !shown.lines.empty()) sections.push_back(std::move(shown));
    sections.push_back(section(stats, "Access log"));
    return sections;
}

std::string health_text(Json const& stats) {
    auto const sentence = text_at(stats, "health.sentence");
    if (sentence.empty()) return {};
    std::string out = sentence + "\n";
    for (auto const& item : at(stats, "health.items")) out += "  " + text_at(item, "what") + " (" + text_at(item, "fix") + ")\n";
    return out + "\n";
}

std::string summary_text(Json const& stats) {
    std::string out = health_text(stats) + summary_title(stats) + "\n";
    for (auto const& section : summary(stats)) out += "\n" + section_text(section);
    if (peers_table(stats)) out += "\n" + peers_text(stats);
    return out;
}

std::string tiers_text(Json const& stats) {
    std::string out;
    if (stats.contains("cache")) out = section_text(section(stats, "Memory"));
    if (has_disk(stats)) out += (out.empty() ? "" : "\n") + section_text(section(stats, "Disk"));
    return out;
}

// ---- what if ----

std::optional<SummarySection> what_if(Json const& stats) {
    auto const& rows = at(stats, "what_if.rows");
    if (!rows.is_array() || rows.empty()) return std::nullopt;
    auto const running = shown_at(stats, "what_if.policy");
    SummarySection table{"What if: hit ratio / byte hit ratio", {}, {}};
    for (auto const& row : rows) {
        if (!row.is_object()) return std::nullopt;
        auto const policy = row.value("policy", "");
        auto const name = (policy == running ? "* " : "  ") + policy;
        if (table.lines.empty() || table.lines.back().name != name) table.lines.push_back({name, {}});
        table.lines.back().values.push_back(shown(at(row, "object_hit_ratio"), "0 to 1") + " / " +
                                            shown(at(row, "byte_hit_ratio"), "0 to 1"));
        if (table.lines.size() == 1) table.columns.push_back(shown(at(row, "size_bytes"), "bytes"));
    }
    return table;
}

namespace {

std::string what_if_lines(SummarySection const& table) {
    constexpr std::size_t value_columns = 18;
    std::size_t name_columns = 8;
    for (auto const& line : table.lines) name_columns = std::max(name_columns, columns(line.name) + 2);
    auto out = text_line("", table.columns, name_columns, value_columns);
    for (auto const& line : table.lines) out += text_line(line.name, line.values, name_columns, value_columns);
    return out;
}

}   // namespace

std::string what_if_text(Json const& stats) {
    if (at(stats, "what_if.on") != true) return "memory.what_if is false: no traffic is sampled.\n";
    auto const requests = shown_at(stats, "what_if.requests");
    auto const table = what_if(stats);
    if (!table)
        return "Too little traffic yet: " + requests + " of the " + shown_at(stats, "what_if.requests_wanted") +
               " requests that an estimate needs.\n";
    auto out = "Estimated hit ratio / byte hit ratio of the memory tier with other policies and sizes:\n\n" +
               what_if_lines(*table) + "\n* policy in use, with memory.size " + shown_at(stats, "cache.capacity_bytes") +
               ". Estimated from " + requests + " requests in " + shown_at(stats, "what_if.since_seconds") + ", " +
               shown_at(stats, "what_if.rate") + " of the URLs; expiry is not simulated.\n";
    auto const change = shown_at(stats, "what_if.auto.last_change");
    if (!change.empty() && change != "-") out += "memory.policy auto: " + change + "\n";
    return out;
}

}   // namespace garner::admin
