#include "proxy/top_lists.hpp"

namespace garner::proxy {

namespace {

void note(TopDetails& details, TopUse const& use) {
    details.bytes += use.bytes;
    if (use.is_hit) details.hits += use.requests;
    if (!use.reason.empty()) details.reason.assign(use.reason);
}

/// A further part of a request is dropped if its key has lost its place meanwhile.
template <class List>
void add_to(List& list, Fingerprint key, std::string_view name, TopUse const& use) {
    auto* const details = use.requests > 0 ? &list.count(key, name, use.requests) : list.details(key);
    if (details) note(*details, use);
}

void clear(TopLists::Lists& lists) {
    lists.hosts.clear();
    lists.clients.clear();
    lists.misses.clear();
}

}   // namespace

std::uint32_t HitSampler::draw(SteadyTime now) {
    auto const weight = weight_;
    if (++counted_ >= block) {
        bool const is_fast = now - began_ < weight_ * block_time;
        weight_ = is_fast ? weight_max : 1;
        counted_ = 0;
        began_ = now;
    }
    random_ = random_ * 1'664'525 + 1'013'904'223;   // Knuth's linear congruence; its high bits are the best ones
    until_next_ = weight_ == 1 ? 1 : 1 + (random_ >> 16) % (2 * weight_ - 1);
    return weight;
}

void TopLists::add(TopUse const& use, SteadyTime now) {
    std::string_view const client(reinterpret_cast<char const*>(use.client.bytes.data()), use.client.bytes.size());
    MutexLock const lock(mutex_);
    if (now - began_ >= period) begin_period(now);
    auto& lists = lists_[current_];
    add_to(lists.hosts, fingerprint(use.host, seed_), use.host, use);
    add_to(lists.clients, fingerprint(client, seed_), use.client_text, use);
    if (!use.missed_url.empty()) add_to(lists.misses, fingerprint(use.missed_url, seed_), use.missed_url, use);
}

/// After a long pause the former period is over, too.
void TopLists::begin_period(SteadyTime now) {
    if (now - began_ >= 2 * period) clear(lists_[current_]);
    current_ = 1 - current_;
    clear(lists_[current_]);
    began_ = now;
}

std::unique_ptr<TopLists::Copy> TopLists::copy(SteadyTime now) const {
    MutexLock const lock(mutex_);
    if (now - began_ >= 2 * period) return std::make_unique<Copy>();
    auto copied = std::make_unique<Copy>(lists_);
    if (now - began_ >= period) clear((*copied)[1 - current_]);
    return copied;
}

}   // namespace garner::proxy
