#include "auth/directory_groups.hpp"

#include <algorithm>
#include <utility>

#include "util/text.hpp"

namespace garner::auth {
namespace {

/// The time after which a silent directory is asked again about a user whose last result is used.
constexpr seconds known_retry{10};

/// A ticket proves a name of a Kerberos realm. The directory that does not have "carol@other.example" may have her as "carol".
bool is_of_other_realm(Facts const& facts) { return facts.source == "negotiate" && facts.user.find('@') != npos; }

}   // namespace

bool DirectoryGroups::add_remembered(Facts& facts, WallTime now) {
    MutexLock const lock(mutex_);
    auto const* const entry = entries_.use(facts.user);
    if (!entry || now >= entry->until) return false;
    add(facts, *entry);
    return true;
}

void DirectoryGroups::look_up(Facts& facts, Directories directories, Options const& options, WallTime now) {
    auto entry = ask(facts.user, directories, now);
    entry.until = now + (entry.unknown.empty() ? options.remember : milliseconds{retry});
    MutexLock const lock(mutex_);
    auto const* const former = entries_.find(facts.user);
    bool const is_usable = former && former->unknown.empty() && now < former->checked + options.grace;
    if (!entry.unknown.empty() && is_usable) {
        auto last = *former;
        last.until = std::min(now + known_retry, former->checked + options.grace);
        entry = std::move(last);
    }
    add(facts, entry);
    keep(facts.user, std::move(entry), options.entries_max);
}

void DirectoryGroups::add_unknown(Facts& facts, std::string why, WallTime now) {
    facts.groups_unknown = std::move(why);
    facts.groups_until = now + retry;
}

/// The user of one directory may be a member in another one.
DirectoryGroups::Entry DirectoryGroups::ask(std::string const& user, Directories directories, WallTime now) {
    Entry entry{.checked = now};
    for (auto* const directory : directories) {
        auto verdict = directory->find_member(user);
        if (verdict.kind == Verdict::Kind::accepted) {
            entry.is_listed = true;
            std::ranges::move(verdict.facts.ldap_groups, std::back_inserter(entry.groups));
        } else if (verdict.kind != Verdict::Kind::not_known) {
            entry.unknown = std::string(directory->name()) + ": " + verdict.reason;
        }
    }
    return entry;
}

void DirectoryGroups::add(Facts& facts, Entry const& entry) {
    facts.ldap_groups = entry.groups;
    facts.groups_until = entry.until;
    facts.groups_unknown = entry.unknown;
    if (entry.unknown.empty() && !entry.is_listed && is_of_other_realm(facts))
        facts.groups_unknown = "the directory does not have " + facts.user;
}

Bytes DirectoryGroups::bytes_of(std::string const& user, Entry const& entry) {
    constexpr Bytes of_map = 120;
    Bytes texts = user.size() + entry.unknown.size();
    for (auto const& group : entry.groups) texts += sizeof group + group.size();
    return sizeof(Entry) + of_map + texts;
}

void DirectoryGroups::keep(std::string const& user, Entry entry, std::size_t entries_max) {
    entry.counted = CountedBytes<DirectoryGroups>(bytes_of(user, entry));
    entries_.get(user, entries_max) = std::move(entry);
    while (bytes() > entries_max * entry_bytes && entries_.size() > 1) entries_.erase_oldest();
}

}   // namespace garner::auth
