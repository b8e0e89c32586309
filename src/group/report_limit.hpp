// Limits repeated log lines about one other end.
#pragma once
#include <map>
#include <string>

#include "group/times.hpp"

namespace garner::group {

/// Pure.
class ReportLimit {
public:
    static constexpr Time again{seconds(60)};
    static constexpr std::size_t ends_max = 256;

    /// True if a line about `end` is due: the first one, one with another text, or one a minute after the last.
    bool is_due(std::string const& end, std::string const& text, Time now) {
        if (told_.size() >= ends_max && !told_.contains(end)) drop_old(now);
        if (told_.size() >= ends_max && !told_.contains(end)) return false;
        auto& told = told_[end];
        bool const due = told.text != text || now >= told.at + again;
        if (due) told = {text, now};
        return due;
    }

private:
    struct Told {
        std::string text = {};
        Time at = never;
    };
    void drop_old(Time now) {
        std::erase_if(told_, [&](auto const& one) { return now >= one.second.at + again; });
    }
    std::map<std::string, Told> told_;
};

}   // namespace garner::group
