// Sets of rules as bits, and the tables of an index that find the rules that one fact of a request leaves.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/interval_set.hpp"

namespace garner::http {

/// A bit for each rule.
using RuleBits = std::vector<std::uint64_t>;

inline std::size_t words_for(std::size_t rules) { return (rules + 63) / 64; }
inline void set_bit(RuleBits& bits, std::size_t rule) { bits[rule / 64] |= std::uint64_t{1} << rule % 64; }
inline void flip_bit(RuleBits& bits, std::size_t rule) { bits[rule / 64] ^= std::uint64_t{1} << rule % 64; }
inline void keep_common(RuleBits& bits, std::span<std::uint64_t const> others) {
    for (std::size_t i = 0; i < bits.size(); ++i) bits[i] &= others[i];
}

/// Sets of rules; equal ones share a row.
class RuleRows {
public:
    explicit RuleRows(std::size_t rules) : words_(words_for(rules)) {}
    /// The number of the row. Equal rows are found among the most recent ones only: neighbours are alike.
    std::uint32_t add(RuleBits const& bits) {
        constexpr std::size_t looked_at = 8;
        auto const count = words_ ? rows_.size() / words_ : 0;
        for (std::size_t i = count; i > 0 && i + looked_at > count; --i)
            if (std::equal(bits.begin(), bits.end(), rows_.begin() + static_cast<std::ptrdiff_t>((i - 1) * words_)))
                return static_cast<std::uint32_t>(i - 1);
        rows_.insert(rows_.end(), bits.begin(), bits.end());
        return static_cast<std::uint32_t>(count);
    }
    std::span<std::uint64_t const> operator[](std::uint32_t row) const { return {rows_.data() + row * words_, words_}; }
    std::size_t bytes() const { return rows_.size() * sizeof(std::uint64_t); }

private:
    std::size_t words_;
    std::vector<std::uint64_t> rows_;
};

/// Finds the rules whose numbers include a value. Rules without numbers include every one.
template <class Number>
class RulesByNumber {
public:
    /// A set, or nothing, for each rule.
    explicit RulesByNumber(std::vector<std::optional<IntervalSet<Number>>> const& rules) : rows_(rules.size()) {
        struct Change {
            Number at;
            std::size_t rule;
        };
        std::vector<Change> changes;
        RuleBits bits(words_for(rules.size()));
        for (std::size_t rule = 0; rule < rules.size(); ++rule) {
            if (!rules[rule]) {
                set_bit(bits, rule);
                continue;
            }
            active_ = true;
            for (auto const& [first, last] : rules[rule]->intervals()) {
                changes.push_back({first, rule});
                if (last != static_cast<Number>(~Number{0})) changes.push_back({last + 1, rule});
            }
        }
        std::ranges::sort(changes, {}, &Change::at);
        starts_.push_back(0);
        for (std::size_t i = 0;;) {
            for (; i < changes.size() && changes[i].at == starts_.back(); ++i) flip_bit(bits, changes[i].rule);
            row_of_.push_back(rows_.add(bits));
            if (i == changes.size() || rows_.bytes() > bytes_max) break;
            starts_.push_back(changes[i].at);
        }
        if (rows_.bytes() > bytes_max) *this = RulesByNumber();
    }

    /// False if it leaves all rules.
    bool is_active() const { return active_; }
    std::span<std::uint64_t const> find(Number number) const {
        auto const after = std::ranges::upper_bound(starts_, number);
        return rows_[row_of_[static_cast<std::size_t>(after - starts_.begin()) - 1]];
    }

private:
    static constexpr std::size_t bytes_max = std::size_t{64} << 20;

    RulesByNumber() : rows_(0) {}

    std::vector<Number> starts_;   // of the intervals; the first is 0
    std::vector<std::uint32_t> row_of_;
    RuleRows rows_;
    bool active_ = false;
};

}   // namespace garner::http
