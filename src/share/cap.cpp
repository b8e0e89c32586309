#include "share/cap.hpp"

#include <algorithm>

namespace garner::share {

namespace {

constexpr milliseconds burst{250};

/// Rules have no control bytes in their names.
constexpr char separator = '\n';
constexpr std::string_view shared_key = "\n";   // no client or connection is named so

constexpr std::size_t eviction_tries = 8;

}   // namespace

void Cap::configure(CapRule const& rule) {
    auto const now = steady_now();
    for (auto const direction : directions) {
        Line::Settings settings;
        settings.rate = rule.rate(direction);
        settings.burst = burst;
        line(direction).configure(settings, now);
    }
}

bool Cap::charge(Direction direction, Bytes bytes, SteadyTime now) {
    totals_->bytes[index(direction)].fetch_add(bytes, std::memory_order_relaxed);
    return line(direction).charge(flow(direction), bytes, now);
}

bool Cap::is_idle(SteadyTime now) {
    return std::ranges::all_of(directions, [&](Direction direction) { return line(direction).is_idle(flow(direction), now); });
}

void Caps::configure(std::vector<CapRule> rules) {
    MutexLock const lock(mutex_);
    rules_ = std::move(rules);
    std::erase_if(totals_, [this](auto const& entry) {
        mutex_.assert_held();
        bool const is_used = entry.second.use_count() > 1;   // by caps, which a rule of the same name would take over
        return !is_used && !rule_named(entry.first);
    });
    for (auto const& rule : rules_)
        if (auto& totals = totals_[rule.name]; !totals) totals = std::make_shared<CapTotals>();
    caps_.for_each([this](std::string const& key, std::shared_ptr<Cap> const& cap) {
        mutex_.assert_held();
        auto const* const rule = rule_named(std::string_view(key).substr(0, key.find(separator)));
        cap->configure(rule ? *rule : CapRule());
    });
}

CapRule const* Caps::rule_named(std::string_view name) const {
    auto const found = std::ranges::find(rules_, name, &CapRule::name);
    return found == rules_.end() ? nullptr : &*found;
}

std::shared_ptr<Cap> Caps::find(std::string_view rule, std::string_view whose) {
    std::string key(rule);
    key.append(1, separator).append(whose);
    MutexLock const lock(mutex_);
    auto const* const known = rule_named(rule);
    if (!known) return nullptr;
    if (!caps_.find(key) && !has_place()) key.assign(rule).append(1, separator).append(shared_key);
    auto& cap = caps_.get(key, most + rules_.size());
    if (cap) return cap;
    cap = std::make_shared<Cap>(totals_[known->name]);
    cap->configure(*known);
    return cap;
}

/// Evicts an idle cap if there are `most`. False if none was found.
bool Caps::has_place() {
    auto const now = steady_now();
    auto const may_go = [now](std::shared_ptr<Cap> const& cap) { return cap.use_count() == 1 && cap->is_idle(now); };
    return caps_.size() < most || caps_.erase_oldest_if(may_go, eviction_tries);
}

std::size_t Caps::size() const {
    MutexLock const lock(mutex_);
    return caps_.size();
}

std::vector<CapFigures> Caps::figures() const {
    MutexLock const lock(mutex_);
    std::vector<CapFigures> rows;
    for (auto const& rule : rules_) {
        auto const& bytes = totals_.at(rule.name)->bytes;
        rows.push_back({rule.name, {bytes[0].load(std::memory_order_relaxed), bytes[1].load(std::memory_order_relaxed)}});
    }
    return rows;
}

}   // namespace garner::share
