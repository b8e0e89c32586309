#include "sim/auto_policy.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "policy/options.hpp"

namespace garner::sim {

namespace {

constexpr std::array<std::string_view, 2> aims{"objects", "bytes"};
constexpr std::array declared{
    policy::Setting{.name = "aim", .what = "unit of misses to minimize: objects or bytes", .choices = aims},
    policy::Setting{"margin", "minimum advantage for a change: percent fewer misses", 3, 0.1, 90},
    policy::Setting{"window", "duration of a comparison in seconds", 10, 1, 86'400},
    policy::Setting{"windows", "number of consecutive comparisons that another policy must win", 3, 1, 100},
    policy::Setting{"rest", "minimum seconds between two changes", 60, 0, 604'800},
};

}   // namespace

Result<AutoPolicy::Terms> AutoPolicy::read(std::string_view text) {
    auto const values = policy::read_settings(text.substr(std::min(text.size(), name.size() + 1)), declared);
    if (!values) return values.fault().at(std::string(name));
    policy::Options options;
    options.values = *values;
    auto value = [&](std::size_t index) { return options.value(declared, index); };
    auto whole_seconds = [&](std::size_t index) { return seconds(static_cast<seconds::rep>(value(index))); };
    Terms terms;
    terms.aim = value(0) == 1 ? Aim::bytes : Aim::objects;
    terms.margin = value(1) / 100;
    terms.window = whole_seconds(2);
    terms.windows = static_cast<unsigned>(value(3));
    terms.rest = whole_seconds(4);
    return terms;
}

std::optional<AutoPolicy::Change> AutoPolicy::look(WhatIf const& what_if, std::string_view running, SteadyTime now) {
    if (running != running_) {
        running_ = running;
        for (auto& candidate : candidates_) candidate.lead = 0;
    }
    // The miniatures were rebuilt: their new counts say nothing about the current window.
    if (what_if.epoch != epoch_ || candidates_.empty()) {
        begin_window(what_if, now);
        return std::nullopt;
    }
    bool const over = now - window_began_ >= terms_.window && what_if.requests - requests_before_ >= WhatIf::requests_wanted;
    if (!over) return std::nullopt;
    end_window(what_if, running);
    begin_window(what_if, now);
    if (changed_ && now - *changed_ < terms_.rest) return std::nullopt;
    auto change = best(running);
    if (!change) return std::nullopt;
    changed_ = now;
    return change;
}

void AutoPolicy::begin_window(WhatIf const& what_if, SteadyTime now) {
    epoch_ = what_if.epoch;
    requests_before_ = what_if.requests;
    window_began_ = now;
    std::vector<Candidate> before = std::move(candidates_);
    candidates_.clear();
    for (auto const& row : what_if.rows) {
        if (row.size != what_if.capacity) continue;
        auto of_row = [&](Candidate const& one) { return one.policy == row.policy; };
        auto known = std::find_if(before.begin(), before.end(), of_row);
        candidates_.push_back(known == before.end() ? Candidate{.policy = row.policy} : std::move(*known));
        candidates_.back().before = missed(row);
    }
}

void AutoPolicy::end_window(WhatIf const& what_if, std::string_view running) {
    auto const requests = what_if.requests - requests_before_;
    auto missed_in_window = [&](Candidate const& candidate) -> std::optional<std::uint64_t> {
        for (auto const& row : what_if.rows)
            if (row.size == what_if.capacity && row.policy == candidate.policy) return missed(row) - candidate.before;
        return std::nullopt;
    };
    auto const of_running_one = std::ranges::find(candidates_, running, &Candidate::policy);
    auto const of_running = of_running_one == candidates_.end() ? std::nullopt : missed_in_window(*of_running_one);
    for (auto& candidate : candidates_) {
        auto const own = missed_in_window(candidate);
        bool const led = own && of_running && candidate.policy != running &&
                         static_cast<double>(*own) < static_cast<double>(*of_running) * (1 - terms_.margin);
        if (!led || candidate.lead == 0) candidate.missed = candidate.running_missed = candidate.requests = 0;
        candidate.lead = led ? candidate.lead + 1 : 0;
        if (!led) continue;
        candidate.missed += *own;
        candidate.running_missed += *of_running;
        candidate.requests += requests;
    }
}

std::uint64_t AutoPolicy::missed(WhatIf::Row const& row) const { return terms_.aim == Aim::bytes ? row.missed_bytes : row.misses; }

/// Among the policies that have led long enough, the one with the smallest share of the running policy's misses.
std::optional<AutoPolicy::Change> AutoPolicy::best(std::string_view running) const {
    auto share = [](Candidate const& one) { return static_cast<double>(one.missed) / static_cast<double>(one.running_missed); };
    Candidate const* best = nullptr;
    for (auto const& candidate : candidates_)
        if (candidate.lead >= terms_.windows && (!best || share(candidate) < share(*best))) best = &candidate;
    if (!best) return std::nullopt;
    char text[160];
    std::snprintf(text, sizeof text, ": %.1f %% fewer %s over %llu sampled requests", 100 * (1 - share(*best)),
                  terms_.aim == Aim::bytes ? "missed bytes" : "object misses", static_cast<unsigned long long>(best->requests));
    return Change{best->policy, std::string(running) + " → " + best->policy + text};
}

}   // namespace garner::sim
