#include "auth/verified.hpp"

#include <utility>

namespace garner::auth {

std::string_view Verified::key_of(SipDigest const& digest) { return {reinterpret_cast<char const*>(digest.data()), sizeof digest}; }

Verified::Found Verified::find(SipDigest const& digest, WallTime now) {
    MutexLock const lock(mutex_);
    auto const* const entry = entries_.use(key_of(digest));
    if (!entry || now >= entry->until) return {};
    return {entry->identity ? Found::Kind::accepted : Found::Kind::wrong, entry->identity};
}

std::optional<Verified::Known> Verified::last_accepted(SipDigest const& digest) {
    MutexLock const lock(mutex_);
    auto const* const entry = entries_.find(key_of(digest));
    if (!entry || !entry->identity) return std::nullopt;
    return Known{entry->facts, entry->checked};
}

void Verified::accept(SipDigest const& digest, Facts facts, Identity identity, WallTime checked, WallTime until,
                      std::size_t entries_max) {
    MutexLock const lock(mutex_);
    CountedBytes<Verified> counted(bytes_of(facts));
    entries_.get(key_of(digest), entries_max) = {std::move(identity), std::move(facts), checked, until, std::move(counted)};
    limit_bytes(entries_max);
}

void Verified::reject(SipDigest const& digest, WallTime until, std::size_t entries_max) {
    MutexLock const lock(mutex_);
    entries_.get(key_of(digest), entries_max) = {{}, {}, {}, until, CountedBytes<Verified>(bytes_of({}))};
}

/// With the identity, whose groups follow from the facts, and the entry of the map.
Bytes Verified::bytes_of(Facts const& facts) {
    constexpr Bytes fixed = sizeof(Entry) + sizeof(http::Identity) + 160;
    Bytes texts = 2 * (facts.user.size() + facts.source.size());
    for (auto const& group : facts.ldap_groups) texts += sizeof group + group.size();
    for (auto const& claim : facts.claims) texts += sizeof claim + claim.name.size() + claim.value.size();
    return fixed + 2 * texts;
}

void Verified::limit_bytes(std::size_t entries_max) {
    while (bytes() > entries_max * entry_bytes && entries_.size() > 1) entries_.erase_oldest();
}

void Verified::drop(std::function<bool(Facts const&)> const& matches) {
    MutexLock const lock(mutex_);
    std::vector<std::string> dropped;
    entries_.for_each([&](std::string const& key, Entry const& entry) {
        if (!entry.identity || matches(entry.facts)) dropped.push_back(key);
    });
    for (auto const& key : dropped) entries_.erase(key);
}

void Verified::rebuild(std::function<Identity(Facts const&, WallTime until)> const& identity_of) {
    MutexLock const lock(mutex_);
    entries_.for_each([&](std::string const&, Entry& entry) {
        if (entry.identity) entry.identity = identity_of(entry.facts, entry.identity->until);
    });
}

std::size_t Verified::size() {
    MutexLock const lock(mutex_);
    return entries_.size();
}

}   // namespace garner::auth
