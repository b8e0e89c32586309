// Limits repeated log lines about one other end.
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "group/times.hpp"

namespace garner::group {

/// Pure.
class ReportLimit {
public:
    static constexpr Time again{seconds(60)};
    static constexpr std::size_t ends_max = 256, texts_max = 3;

    /// True if a line about `end` is due: each text once a minute, and at most `texts_max` of them.
    bool is_due(std::string const& end, std::string const& text, Time now) {
        if (told_.size() >= ends_max && !told_.contains(end)) drop_old(now);
        if (told_.size() >= ends_max && !told_.contains(end)) return false;
        auto& told = told_[end];
        if (now >= told.since + again) told = {{}, now};
        bool const due = told.texts.size() < texts_max && std::ranges::find(told.texts, text) == told.texts.end();
        if (due) told.texts.push_back(text);
        return due;
    }

private:
    struct Told {
        std::vector<std::string> texts = {};
        Time since = never;
    };
    void drop_old(Time now) {
        std::erase_if(told_, [&](auto const& one) { return now >= one.second.since + again; });
    }
    std::map<std::string, Told> told_;
};

}   // namespace garner::group
