#include "share/shares.hpp"

#include <algorithm>

namespace garner::share {

namespace {

// A process that gets its processor late loses what does not fit.
constexpr milliseconds line_burst{20};

}   // namespace

void Shares::configure(Options const& options) {
    auto const now = steady_now();
    for (auto const direction : directions) {
        Line::Settings settings;
        settings.rate = options.rate(direction);
        settings.burst = line_burst;
        settings.credit = options.credit;
        line(direction).configure(settings, now);
    }
}

SubjectRef Shares::subject(std::string_view key, float weight) {
    auto subject = subjects_.find(key);
    for (auto const direction : directions) line(direction).set_weight(subject->flow(direction), weight);
    return subject;
}

Figures Shares::figures() const {
    Figures figures;
    for (auto const direction : directions) {
        figures.rates[index(direction)] = line(direction).rate();
        figures.lines[index(direction)] = line(direction).figures();
    }
    figures.subjects = subjects_.size();
    figures.memory = subjects_.memory();
    return figures;
}

std::vector<SubjectFigures> Shares::largest(std::size_t most) const {
    auto const now = steady_now();
    auto const more = [](SubjectFigures const& a, SubjectFigures const& b) { return a.bytes() > b.bytes(); };
    std::vector<SubjectFigures> rows;   // a heap, the least first
    subjects_.for_each([&](std::string const& key, Subject const& subject) {
        SubjectFigures row;
        for (auto const direction : directions) row.flows[index(direction)] = line(direction).figures(subject.flow(direction), now);
        if (rows.size() == most && !more(row, rows.front())) return;
        row.name = subject_name(key);
        rows.push_back(std::move(row));
        std::push_heap(rows.begin(), rows.end(), more);
        if (rows.size() <= most) return;
        std::pop_heap(rows.begin(), rows.end(), more);
        rows.pop_back();
    });
    std::sort_heap(rows.begin(), rows.end(), more);
    return rows;
}

}   // namespace garner::share
