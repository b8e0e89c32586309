#include "share/quotas.hpp"

#include <algorithm>
#include <limits>

#include "share/subject.hpp"

namespace garner::share {

namespace {

constexpr std::size_t id_bytes = 2;
// A row of a removed rule, whose window is not known, is kept as long as the longest window.
constexpr std::int64_t longest_window = 32 * 86'400;

std::string entry_key(std::uint16_t id, std::string_view whose) {
    std::string key{static_cast<char>(id & 0xff), static_cast<char>(id >> 8)};
    return key.append(whose);
}

std::uint16_t id_in(std::string_view key) {
    return static_cast<std::uint16_t>(static_cast<unsigned char>(key[0]) | static_cast<unsigned char>(key[1]) << 8);
}

std::string_view subject_in(std::string_view key) { return key.substr(id_bytes); }

}   // namespace

// ---- one subject ----

QuotaState QuotaSubject::begin(WallTime now) { return home_->judge(*this, now, Asks::begin, 0, true); }
QuotaState QuotaSubject::charge(Bytes bytes, WallTime now) { return home_->judge(*this, now, Asks::go_on, bytes, false); }
QuotaState QuotaSubject::state(WallTime now) { return home_->judge(*this, now, Asks::go_on, 0, false); }
std::shared_ptr<Cap> QuotaSubject::lane() { return home_->lane_of(*this); }
QuotaStanding QuotaSubject::standing(WallTime now) { return home_->standing(*this, now); }

/// A subject whose rule is gone has no limit.
QuotaState Quotas::judge(QuotaSubject& subject, WallTime now, Asks asks, Bytes moved, bool counts_request) {
    auto& shard = shard_of(subject.key());
    auto const time = unix_seconds(now);
    MutexLock const lock(shard.mutex);
    auto const* const rule = rule_of(shard, subject.key());
    if (!rule) return QuotaState::within;
    auto& usage = subject.usage_;
    auto& totals = shard.totals[id_in(subject.key())];
    usage.enter(window(shard, rule->per, time));
    if (counts_request && state_of(*rule, usage, time, asks) == QuotaState::over) {
        ++totals.refused;
        return QuotaState::over;
    }
    if (counts_request || moved > 0) {
        auto const before = usage;
        if (moved > 0) usage.count(moved, time);
        if (counts_request && usage.requests < std::numeric_limits<std::uint32_t>::max()) ++usage.requests;
        totals.bytes += moved;
        totals.requests += counts_request ? 1 : 0;
        subject.changed_ = true;
        Usage const more{usage.begin, moved, usage.requests - before.requests, usage.minutes - before.minutes, usage.last_minute};
        note_counted(shard, subject, more);
    }
    return state_of(*rule, usage, time, Asks::go_on);
}

void Quotas::note_counted(Shard& shard, QuotaSubject const& subject, Usage const& more) {
    if (!shard.counts) return;
    auto& counted = shard.counted[subject.key()];
    if (counted.is_empty())
        counted = more;
    else
        counted.add({more.begin, more.bytes, more.requests, more.minutes, more.minutes > 0 ? more.last_minute : 0});
}

std::shared_ptr<Cap> Quotas::lane_of(QuotaSubject const& subject) {
    std::string const key = subject.key();
    return lanes_.find(name_of(key), subject_in(key));
}

QuotaStanding Quotas::standing(QuotaSubject const& subject, WallTime now) const {
    std::string const& key = subject.key();
    auto found = look_up(name_of(key), subject_in(key), now);
    return found ? *std::move(found) : QuotaStanding();
}

// ---- rules ----

void Quotas::configure(std::vector<QuotaRule> rules) {
    std::vector<CapRule> lanes;
    Rules by_id;
    MutexLock const lock(mutex_);
    order_.clear();
    for (auto& rule : rules) {
        if (rule.slow > 0) lanes.push_back({rule.name, {}, Each::client, rule.slow, rule.slow});
        rule.match = {};
        auto const id = id_for(rule.name);
        order_.push_back(id);
        by_id.resize(names_.size());
        by_id[id] = std::make_shared<QuotaRule const>(std::move(rule));
    }
    by_id.resize(names_.size());
    lanes_.configure(std::move(lanes));
    for (auto& shard : shards_) {
        MutexLock const also(shard.mutex);
        shard.rules = by_id;
        shard.totals.resize(by_id.size());
    }
}

std::optional<Quotas::Id> Quotas::id_of(std::string_view rule) const {
    MutexLock const lock(mutex_);
    auto const found = std::ranges::find(names_, rule);
    if (found == names_.end()) return std::nullopt;
    return static_cast<Id>(found - names_.begin());
}

/// There are no more names than lines of configurations; the last id stands for all that are too many.
Quotas::Id Quotas::id_for(std::string_view rule) {
    auto const found = std::ranges::find(names_, rule);
    auto const at = static_cast<std::size_t>(found - names_.begin());
    if (found == names_.end() && at < std::numeric_limits<Id>::max()) names_.emplace_back(rule);
    return static_cast<Id>(std::min<std::size_t>(at, names_.size() - 1));
}

std::string Quotas::name_of(std::string_view key) const {
    MutexLock const lock(mutex_);
    return names_.at(id_in(key));
}

QuotaRule const* Quotas::rule_of(Shard const& shard, std::string_view key) {
    auto const id = id_in(key);
    return id < shard.rules.size() ? shard.rules[id].get() : nullptr;
}

Window const& Quotas::window(Shard const& shard, Per per, std::int64_t now) {
    auto& window = shard.windows[static_cast<std::size_t>(per)];
    if (!window.contains(now)) window = window_at(per, now);
    return window;
}

// ---- subjects ----

QuotaRef Quotas::find(std::string_view rule, std::string_view whose) {
    auto const id = id_of(rule);
    if (!id) return {};
    auto const key = entry_key(*id, whose);
    auto& shard = shard_of(key);
    MutexLock const lock(shard.mutex);
    if (!rule_of(shard, key)) return {};
    return QuotaRef(entry(shard, key));
}

QuotaSubject& Quotas::entry(Shard& shard, std::string_view key) {
    auto& subject = shard.table.get(key);
    if (!subject.home_) subject.home_ = this;   // others read it without the lock
    return subject;
}

QuotaStanding Quotas::standing_of(QuotaRule const& rule, std::string_view key, Usage usage, Window const& window,
                                  std::int64_t now) {
    usage.enter(window);
    QuotaStanding standing{.rule = rule, .subject = std::string(subject_in(key)), .usage = usage};
    standing.state = state_of(rule, usage, now, Asks::begin);
    standing.until = window.end;
    return standing;
}

std::optional<QuotaStanding> Quotas::look_up(std::string_view rule, std::string_view whose, WallTime now) const {
    auto const id = id_of(rule);
    if (!id) return std::nullopt;
    auto const key = entry_key(*id, whose);
    auto const time = unix_seconds(now);
    auto const& shard = shard_of(key);
    MutexLock const lock(shard.mutex);
    auto const* const known = rule_of(shard, key);
    if (!known) return std::nullopt;
    auto const* const found = shard.table.find(key);
    auto const usage = found ? found->usage_ : Usage();
    return standing_of(*known, key, usage, window(shard, known->per, time), time);
}

bool Quotas::has_subject(Id id, std::string_view whose) const {
    auto const key = entry_key(id, whose);
    auto const& shard = shard_of(key);
    MutexLock const lock(shard.mutex);
    return shard.table.find(key) != nullptr;
}

Quotas::Reset Quotas::reset(std::string_view rule, std::optional<std::string_view> whose, WallTime now) {
    auto const id = id_of(rule);
    if (!id) return Reset::no_rule;
    auto const time = unix_seconds(now);
    auto const named = whose ? quota_subject_keys_of(*whose) : std::vector<std::string>();
    auto const is_known = [&](std::string const& one) { return has_subject(*id, one); };
    if (std::ranges::count_if(named, is_known) > 1) return Reset::ambiguous;
    auto result = Reset::no_subject;
    for (auto& shard : shards_) {
        MutexLock const lock(shard.mutex);
        auto const* const known = rule_of(shard, entry_key(*id, {}));
        if (!known) return Reset::no_rule;
        for (auto& [key, subject] : shard.table) {
            if (id_in(key) != *id) continue;
            if (whose && std::ranges::find(named, subject_in(key)) == named.end()) continue;
            subject.usage_ = {};
            subject.usage_.begin = window(shard, known->per, time).begin;
            subject.changed_ = true;
            result = Reset::done;
        }
    }
    return whose ? result : Reset::done;
}

// ---- figures ----

QuotasFigures Quotas::figures() const {
    QuotasFigures figures;
    MutexLock const lock(mutex_);
    figures.ledger = ledger_;
    figures.memory = lanes_.size() * Caps::bytes_each;
    for (auto const id : order_) figures.rules.push_back({.name = names_[id]});
    for (auto const& shard : shards_) {
        MutexLock const also(shard.mutex);
        figures.subjects += shard.table.size();
        figures.memory += shard.table.memory();
        for (std::size_t i = 0; i < order_.size(); ++i) {
            auto const& totals = shard.totals[order_[i]];
            figures.rules[i].bytes += totals.bytes;
            figures.rules[i].requests += totals.requests;
            figures.rules[i].refused += totals.refused;
        }
    }
    return figures;
}

std::vector<QuotaStanding> Quotas::largest(std::size_t most, WallTime now) const {
    auto const time = unix_seconds(now);
    auto const more = [](auto const& a, auto const& b) { return a.first > b.first; };
    std::vector<std::pair<double, QuotaStanding>> rows;   // a heap, the least first
    for (auto const& shard : shards_) {
        MutexLock const lock(shard.mutex);
        for (auto const& [key, subject] : shard.table) {
            auto const* const rule = rule_of(shard, key);
            if (!rule || !is_live(shard, subject, time)) continue;
            auto const part = nearest_limit(*rule, subject.usage_).part();
            if (rows.size() == most && part <= rows.front().first) continue;
            rows.emplace_back(part, standing_of(*rule, key, subject.usage_, window(shard, rule->per, time), time));
            std::push_heap(rows.begin(), rows.end(), more);
            if (rows.size() <= most) continue;
            std::pop_heap(rows.begin(), rows.end(), more);
            rows.pop_back();
        }
    }
    std::sort_heap(rows.begin(), rows.end(), more);
    std::vector<QuotaStanding> standings;
    for (auto& [part, standing] : rows) standings.push_back(std::move(standing));
    return standings;
}

// ---- rows ----

LedgerRow Quotas::row_of(std::string_view key, Usage const& usage) const {
    return {name_of(key), std::string(subject_in(key)), usage};
}

/// False if its window has ended.
bool Quotas::is_live(Shard const& shard, QuotaSubject const& subject, std::int64_t now) {
    auto const& usage = subject.usage_;
    auto const* const rule = rule_of(shard, subject.key());
    if (!rule) return !usage.is_empty() && usage.begin + longest_window > now;
    return usage.begin >= window(shard, rule->per, now).begin && !usage.is_empty();
}

void Quotas::add(std::vector<LedgerRow> const& rows) {
    for (auto const& row : rows) {
        auto const key = [&] {
            MutexLock const lock(mutex_);
            return entry_key(id_for(row.rule), row.subject);
        }();
        auto& shard = shard_of(key);
        MutexLock const lock(shard.mutex);
        auto& subject = entry(shard, key);
        subject.usage_.add(row.usage);
        subject.changed_ = true;
        note_counted(shard, subject, row.usage);
    }
}

std::vector<LedgerRow> Quotas::take_changes(WallTime now) {
    std::vector<LedgerRow> rows;
    auto const time = unix_seconds(now);
    std::vector<std::pair<std::string, Usage>> changed;
    for (auto& shard : shards_) {
        MutexLock const lock(shard.mutex);
        for (auto& [key, subject] : shard.table) {
            if (!std::exchange(subject.changed_, false)) continue;
            // An empty one was reset: its row replaces the former one.
            if (subject.usage_.is_empty() || is_live(shard, subject, time)) changed.emplace_back(key, subject.usage_);
        }
    }
    for (auto const& [key, usage] : changed) rows.push_back(row_of(key, usage));
    return rows;
}

void Quotas::mark_all() {
    for (auto& shard : shards_) {
        MutexLock const lock(shard.mutex);
        for (auto& [key, subject] : shard.table) subject.changed_ = true;
    }
}

std::vector<LedgerRow> Quotas::all_rows(WallTime now) {
    std::vector<LedgerRow> rows;
    auto const time = unix_seconds(now);
    std::vector<std::pair<std::string, Usage>> live;
    for (auto& shard : shards_) {
        MutexLock const lock(shard.mutex);
        for (auto& [key, subject] : shard.table) {
            subject.changed_ = false;
            if (is_live(shard, subject, time)) live.emplace_back(key, subject.usage_);
        }
    }
    for (auto const& [key, usage] : live) rows.push_back(row_of(key, usage));
    return rows;
}

std::vector<LedgerRow> Quotas::begin_counting(WallTime now) {
    std::vector<std::pair<std::string, Usage>> live;
    auto const time = unix_seconds(now);
    for (auto& shard : shards_) {
        MutexLock const lock(shard.mutex);
        shard.counts = true;
        shard.counted.clear();
        for (auto const& [key, subject] : shard.table)
            if (is_live(shard, subject, time)) live.emplace_back(key, subject.usage_);
    }
    std::vector<LedgerRow> rows;
    for (auto const& [key, usage] : live) rows.push_back(row_of(key, usage));
    return rows;
}

std::vector<LedgerRow> Quotas::take_counted() {
    std::vector<LedgerRow> rows;
    for (auto& shard : shards_) {
        std::unordered_map<std::string, Usage> counted;
        {
            MutexLock const lock(shard.mutex);
            counted.swap(shard.counted);
        }
        for (auto const& [key, usage] : counted) rows.push_back(row_of(key, usage));
    }
    return rows;
}

void Quotas::end_counting() {
    for (auto& shard : shards_) {
        MutexLock const lock(shard.mutex);
        shard.counts = false;
        shard.counted.clear();
    }
}

void Quotas::note_ledger(LedgerFigures figures) {
    MutexLock const lock(mutex_);
    ledger_ = std::move(figures);
}

}   // namespace garner::share
