#include "admin/history.hpp"

#include <algorithm>

#include "admin/recent_windows.hpp"

namespace garner::admin {

namespace {

namespace series {

using proxy::Answer;
using proxy::Counters;

enum class Kind : std::uint8_t {
    rate,    // the increase per second
    level,   // the number itself
    share,   // the increase of the part in that of the whole
    hit_time,
    miss_time
};

double number(std::uint64_t value) { return static_cast<double>(value); }

// clang-format off
template <auto Member> double counter(Figures const& figures) { return number(figures.sum(Member)); }
template <Answer answer> double answers(Figures const& figures) { return number(figures.count(answer)); }
// clang-format on
double requests(Figures const& figures) { return number(figures.requests); }
double objects(Figures const& figures) { return number(sample_of(figures).requests); }
double connections(Figures const& figures) { return figures.connections_now; }
double memory(Figures const& figures) { return number(figures.cache.used); }

/// A new series needs a row here, and history_series.
struct Row {
    std::string_view name;
    std::string_view unit;
    Kind kind;
    double (*part)(Figures const&) = nullptr;
    double (*whole)(Figures const&) = nullptr;
    double percent = 0;   // of a time
};

constexpr std::array<Row, history_series> rows{{
    {"requests", "a second", Kind::rate, requests},
    {"hits", "a second", Kind::rate, answers<Answer::hit>},
    {"failed", "a second", Kind::rate, answers<Answer::failed>},
    {"refused", "a second", Kind::rate, answers<Answer::refused>},
    {"hit_ratio", "0 to 1", Kind::share, answers<Answer::hit>, objects},
    {"byte_hit_ratio", "0 to 1", Kind::share, counter<&Counters::client_hit_bytes>, counter<&Counters::client_body_bytes>},
    {"client_sent_bytes", "a second", Kind::rate, counter<&Counters::client_sent>},
    {"client_received_bytes", "a second", Kind::rate, counter<&Counters::client_received>},
    {"origin_received_bytes", "a second", Kind::rate, counter<&Counters::origin_received>},
    {"hit_body_bytes", "a second", Kind::rate, counter<&Counters::client_hit_bytes>},
    {"connections", "connections", Kind::level, connections},
    {"memory_bytes", "bytes", Kind::level, memory},
    {"hit_p50_us", "microseconds", Kind::hit_time, nullptr, nullptr, 50},
    {"miss_p50_us", "microseconds", Kind::miss_time, nullptr, nullptr, 50},
}};

std::optional<double> percentile(LatencySnapshot const& before, LatencySnapshot const& after, double percent) {
    auto const times = after.since(before);
    return times.total > 0 ? std::optional(static_cast<double>(times.percentile(percent).count())) : std::nullopt;
}

std::optional<double> value(std::size_t index, HistoryTotals const& before, HistoryTotals const& after) {
    auto const& row = rows[index];
    auto const& from = before.numbers[index];
    auto const& to = after.numbers[index];
    switch (row.kind) {
    case Kind::rate: return (to.part - from.part) / std::chrono::duration<double>(after.at - before.at).count();
    case Kind::level: return to.part;
    case Kind::share:
        if (to.whole <= from.whole) return std::nullopt;
        return std::min((to.part - from.part) / (to.whole - from.whole), 1.0);   // the part may be read later than the whole
    case Kind::hit_time: return percentile(before.hit, after.hit, row.percent);
    case Kind::miss_time: return percentile(before.miss, after.miss, row.percent);
    }
    return std::nullopt;
}

}   // namespace series

}   // namespace

HistoryTotals totals_of(Figures const& figures) {
    HistoryTotals totals{figures.at, {}, figures.hit_time, figures.miss_time};
    for (std::size_t i = 0; i < series::rows.size(); ++i) {
        if (series::rows[i].part) totals.numbers[i].part = series::rows[i].part(figures);
        if (series::rows[i].whole) totals.numbers[i].whole = series::rows[i].whole(figures);
    }
    return totals;
}

std::array<HistoryName, history_series> history_names() {
    std::array<HistoryName, history_series> names;
    for (std::size_t i = 0; i < series::rows.size(); ++i) names[i] = {series::rows[i].name, series::rows[i].unit};
    return names;
}

void HistoryRing::add(HistoryTotals const& totals) {
    if (!begin_) begin_ = totals;
    if (totals.at - begin_->at < interval_) return;
    HistoryValues values;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = series::value(i, *begin_, totals);
    begin_ = totals;
    if (past_.size() == most_) past_.pop_front();
    past_.push_back(values);
}

std::vector<std::optional<double>> HistoryRing::values(std::size_t index) const {
    std::vector<std::optional<double>> all;
    for (auto const& values : past_) all.push_back(values[index]);
    return all;
}

HistoryRing::Handed HistoryRing::handed(HistoryTotals const& now) const {
    Handed all{.past = {past_.begin(), past_.end()}, .age = std::nullopt, .since = {}};
    if (!begin_) return all;
    all.age = std::chrono::duration_cast<milliseconds>(now.at - begin_->at);
    for (std::size_t i = 0; i < all.since.size(); ++i)
        all.since[i] = {now.numbers[i].part - begin_->numbers[i].part, now.numbers[i].whole - begin_->numbers[i].whole};
    return all;
}

void HistoryRing::adopt(Handed const& all, HistoryTotals const& now) {
    past_.assign(all.past.begin(), all.past.end());
    while (past_.size() > most_) past_.pop_front();
    begin_ = now;
    if (!all.age) return;
    begin_->at = now.at - *all.age;
    for (std::size_t i = 0; i < all.since.size(); ++i) {
        begin_->numbers[i].part -= all.since[i].part;
        begin_->numbers[i].whole -= all.since[i].whole;
    }
}

void History::add(Figures const& figures) {
    auto const totals = totals_of(figures);
    fine_.add(totals);
    coarse_.add(totals);
}

History::Handed History::handed(Figures const& now) const {
    auto const totals = totals_of(now);
    return {fine_.handed(totals), coarse_.handed(totals)};
}

void History::adopt(Handed const& all, Figures const& now) {
    auto const totals = totals_of(now);
    fine_.adopt(all.fine, totals);
    coarse_.adopt(all.coarse, totals);
}

std::vector<HistorySeries> History::all() const {
    std::vector<HistorySeries> all;
    for (std::size_t i = 0; i < series::rows.size(); ++i) all.push_back({series::rows[i].name, fine_.values(i), coarse_.values(i)});
    return all;
}

}   // namespace garner::admin
