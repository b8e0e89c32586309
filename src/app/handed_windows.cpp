#include "app/handed_windows.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "app/state_members.hpp"

namespace garner::app {
namespace {

using admin::History;
using admin::HistoryRing;
using admin::LatencySamples;
using admin::Samples;
using takeover::Json;
using takeover::Reader;

// A number takes at most 9 bytes, and a message 64 KiB.
constexpr std::size_t samples_a_message = 200, latencies_a_message = 4, intervals_a_message = 100;
constexpr milliseconds age_max = std::chrono::hours{24};

/// In the order of admin::sample_counts.
constexpr std::array<char const*, admin::sample_counts.size()> count_names{"requests",     "hits",   "bytes",   "hit_bytes",
                                                                           "all_requests", "failed", "refused", "lost_lines"};

std::uint64_t number_of(milliseconds time) { return static_cast<std::uint64_t>(time.count()); }

void read_age(Reader& reader, milliseconds& into) {
    reader.time("age_ms", into);
    if (into > age_max) reader.refuse("age_ms");
}

/// The oldest comes first.
template <class Handed>
bool are_in_order(std::vector<Handed> const& all) {
    return std::ranges::is_sorted(all, std::ranges::greater{}, &Handed::age);
}

// ---- ratios ----

Json json_of(Samples::Handed const& one) {
    Json json{{"age_ms", number_of(one.age)}};
    for (std::size_t i = 0; i < count_names.size(); ++i) json[count_names[i]] = one.since.*admin::sample_counts[i];
    return json;
}

Samples::Handed sample_in(Reader& reader) {
    Samples::Handed one;
    read_age(reader, one.age);
    for (std::size_t i = 0; i < count_names.size(); ++i) reader.bits(count_names[i], one.since.*admin::sample_counts[i]);
    return one;
}

// ---- latencies ----

/// The sum in microseconds, then pairs: a bucket and its count.
Json json_of(LatencySnapshot const& times) {
    auto json = Json::array({times.sum_micros});
    for (std::size_t i = 0; i < times.buckets.size(); ++i) {
        if (times.buckets[i] == 0) continue;
        json.push_back(i);
        json.push_back(times.buckets[i]);
    }
    return json;
}

LatencySnapshot times_in(Reader& reader, char const* member) {
    LatencySnapshot times;
    std::vector<std::uint64_t> numbers;
    reader.numbers(member, numbers);
    if (numbers.size() % 2 == 0) return reader.refuse(member), times;
    times.sum_micros = numbers.front();
    for (std::size_t i = 1; i < numbers.size(); i += 2) {
        if (numbers[i] >= times.buckets.size()) return reader.refuse(member), times;
        times.buckets[numbers[i]] += numbers[i + 1];
        times.total += numbers[i + 1];
    }
    return times;
}

Json json_of(LatencySamples::Handed const& one, bool is_dense) {
    return {
        {"dense", is_dense}, {"age_ms", number_of(one.age)}, {"hit", json_of(one.times.hit)}, {"miss", json_of(one.times.miss)}};
}

struct NamedTimes {
    LatencySamples::Handed times;
    bool is_dense = false;
};

NamedTimes latencies_in(Reader& reader) {
    NamedTimes one;
    reader.flag("dense", one.is_dense);
    read_age(reader, one.times.age);
    one.times.times = {times_in(reader, "hit"), times_in(reader, "miss")};
    return one;
}

// ---- history: the values of a row belong to the names in `series` ----

template <class Values, class Value>
Json array_of(Values const& values, Value value_in) {
    auto json = Json::array();
    for (auto const& one : values) json.push_back(value_in(one));
    return json;
}

void add_ring(std::vector<Json>& rows, HistoryRing::Handed const& ring, seconds interval) {
    using Pair = admin::HistoryTotals::Pair;
    auto const or_null = [](std::optional<double> const& value) { return value ? Json(*value) : Json(nullptr); };
    for (auto const& values : ring.past) rows.push_back({{"interval_s", interval.count()}, {"values", array_of(values, or_null)}});
    if (!ring.age) return;
    rows.push_back({{"interval_s", interval.count()},
                    {"age_ms", number_of(*ring.age)},
                    {"parts", array_of(ring.since, [](Pair const& pair) { return Json(pair.part); })},
                    {"wholes", array_of(ring.since, [](Pair const& pair) { return Json(pair.whole); })}});
}

std::vector<std::string> series_names() {
    std::vector<std::string> names;
    for (auto const& one : admin::history_names()) names.emplace_back(one.name);
    return names;
}

using Numbers = std::vector<std::optional<double>>;

struct HistoryRow {
    std::int64_t interval = 0;
    std::optional<milliseconds> age;
    Numbers values, parts, wholes;
};

Numbers numbers_in(Reader& reader, char const* member) {
    Numbers numbers;
    auto const* const array = reader.array(member);
    if (!array) return numbers;
    for (auto const& one : *array) {
        if (!one.is_number() && !one.is_null()) reader.refuse(member);
        numbers.push_back(one.is_number() ? std::optional(one.get<double>()) : std::nullopt);
    }
    return numbers;
}

HistoryRow row_in(Reader& reader) {
    HistoryRow row;
    reader.number("interval_s", row.interval);
    if (!reader.has("age_ms")) {
        row.values = numbers_in(reader, "values");
        return row;
    }
    read_age(reader, row.age.emplace());
    row.parts = numbers_in(reader, "parts");
    row.wholes = numbers_in(reader, "wholes");
    return row;
}

/// Another version may have other series.
void add_row(HistoryRow const& row, std::vector<std::string> const& series, HistoryRing::Handed& ring) {
    admin::HistoryValues values{};
    auto const known = admin::history_names();
    auto const at = [](Numbers const& numbers, std::size_t i) { return i < numbers.size() ? numbers[i] : std::nullopt; };
    for (std::size_t i = 0; i < known.size(); ++i) {
        auto const from = static_cast<std::size_t>(std::ranges::find(series, known[i].name) - series.begin());
        values[i] = at(row.values, from);
        if (row.age) ring.since[i] = {at(row.parts, from).value_or(0), at(row.wholes, from).value_or(0)};
    }
    if (row.age)
        ring.age = row.age;
    else
        ring.past.push_back(values);
}

Result<void> read_history(Json const& message, History::Handed& into) {
    auto const rows = elements(message, "history", row_in);
    if (!rows || rows->empty()) return rows ? Result<void>() : rows.fault();
    Reader reader(message);
    std::vector<std::string> series;
    reader.texts("series", series);
    if (!reader.is_valid()) return reader.result(0).fault();
    for (auto const& row : *rows) {
        if (row.interval == History::fine.count()) add_row(row, series, into.fine);
        if (row.interval == History::coarse.count()) add_row(row, series, into.coarse);
    }
    return {};
}

}   // namespace

std::vector<Json> window_messages(admin::Past const& past) {
    std::vector<Json> messages, samples, latencies, rows;
    for (auto const& one : past.samples) samples.push_back(json_of(one));
    split(messages, "samples", std::move(samples), samples_a_message, Json::object());
    for (auto const& one : past.latencies.dense) latencies.push_back(json_of(one, true));
    for (auto const& one : past.latencies.sparse) latencies.push_back(json_of(one, false));
    split(messages, "latencies", std::move(latencies), latencies_a_message, Json::object());
    add_ring(rows, past.history.fine, History::fine);
    add_ring(rows, past.history.coarse, History::coarse);
    split(messages, "history", std::move(rows), intervals_a_message, {{"series", series_names()}});
    return messages;
}

Result<void> read_windows(Json const& message, admin::Past& into) {
    auto const samples = elements(message, "samples", sample_in);
    if (!samples) return samples.fault();
    auto const latencies = elements(message, "latencies", latencies_in);
    if (!latencies) return latencies.fault();
    std::ranges::copy(*samples, std::back_inserter(into.samples));
    for (auto const& one : *latencies) (one.is_dense ? into.latencies.dense : into.latencies.sparse).push_back(one.times);
    Reader reader(message);
    if (!are_in_order(into.samples)) reader.refuse("samples");
    if (!are_in_order(into.latencies.dense) || !are_in_order(into.latencies.sparse)) reader.refuse("latencies");
    if (!reader.is_valid()) return reader.result(0).fault();
    return read_history(message, into.history);
}

}   // namespace garner::app
