#include "auth/groups.hpp"

#include <algorithm>

#include "auth/ldap_names.hpp"
#include "util/text.hpp"

namespace garner::auth {
namespace {

constexpr std::string_view file_prefix = "file:";

bool has_claim(std::vector<Claim> const& claims, ClaimPatterns const& wanted) {
    return std::ranges::any_of(claims, [&](Claim const& claim) {
        auto const matches = [&](std::string const& pattern) { return matches_glob(pattern, claim.value); };
        return claim.name == wanted.claim && std::ranges::any_of(wanted.patterns, matches);
    });
}

}   // namespace

bool matches_glob(std::string_view pattern, std::string_view text) {
    // After a mismatch the last asterisk takes one more byte.
    std::size_t at = 0, star = npos, resumed = 0;
    for (std::size_t i = 0; i < text.size();) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            resumed = i;
        } else if (at < pattern.size() && pattern[at] == text[i]) {
            ++at, ++i;
        } else if (star != npos) {
            at = star + 1;
            i = ++resumed;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at) == npos;
}

std::vector<std::string> values_of_file(std::string_view text) {
    std::vector<std::string> values;
    while (!text.empty()) {
        auto const end = std::min(text.find('\n'), text.size());
        auto line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        line = trim(line.substr(0, line.find('#')));
        if (line.ends_with('\r')) line = trim(line.substr(0, line.size() - 1));
        if (!line.empty()) values.emplace_back(line);
    }
    return values;
}

bool Groups::Group::has(Facts const& facts) const {
    if (users.contains(facts.user)) return true;
    if (std::ranges::any_of(lists, [&](auto const& names) { return names->contains(facts.user); })) return true;
    if (std::ranges::any_of(facts.ldap_groups, [&](std::string const& dn) { return ldap.contains(dn); })) return true;
    return !claims.empty() && std::ranges::all_of(claims, [&](auto const& wanted) { return has_claim(facts.claims, wanted); });
}

Result<void> Groups::add(GroupOptions const& options, All& all, std::vector<UsersFile>& files) {
    Group group{options.name};
    group.claims = options.claims;
    for (auto const& dn : options.ldap) {
        auto const normal = normal_dn(dn);
        if (normal.empty())
            return Fault{"\"" + dn + "\" is not a DN", R"(write it like "cn=staff,dc=uni")", options.name + ".ldap"};
        group.ldap.insert(normal);
        ldap_groups_.push_back(normal);
    }
    for (std::size_t i = 0; i < options.users.size(); ++i) {
        std::string_view const value = options.users[i];
        if (!value.starts_with(file_prefix)) {
            group.users.insert(lower_case(value));
            continue;
        }
        std::string const path(value.substr(file_prefix.size()));
        // Read twice at a start: refresh() keeps its state in another object, so that a missing file is a fault only here.
        auto const text = WatchedFile(path).read_if_changed();
        if (!*text)
            return Fault{path + ": " + text->fault().what, text->fault().mend, options.name + ".user[" + std::to_string(i) + "]"};
        files.push_back({WatchedFile(path), all.size(), group.lists.size()});
        group.lists.push_back(std::make_shared<Names const>());
    }
    all.push_back(std::move(group));
    return {};
}

std::shared_ptr<Groups::All const> Groups::current() const {
    MutexLock const lock(mutex_);
    return groups_;
}

void Groups::replace(All all) {
    auto fresh = std::make_shared<All const>(std::move(all));
    MutexLock const lock(mutex_);
    groups_.swap(fresh);
}

Result<std::unique_ptr<Groups>> Groups::load(std::vector<GroupOptions> const& options) {
    auto groups = std::make_unique<Groups>();
    All all;
    std::vector<UsersFile> files;
    for (auto const& option : options)
        if (auto const added = groups->add(option, all, files); !added) return added.fault();
    groups->replace(std::move(all));
    {
        MutexLock const lock(groups->refresh_mutex_);
        groups->files_ = std::move(files);
    }
    groups->refresh();
    return groups;
}

std::vector<std::string> Groups::of(Facts const& facts) const {
    std::vector<std::string> names;
    auto const all = current();
    for (auto const& group : *all)
        if (group.has(facts)) names.push_back(group.name);
    return names;
}

std::vector<std::string> Groups::unknown_of(Facts const& facts) const {
    std::vector<std::string> names;
    if (facts.groups_unknown.empty()) return names;
    auto const all = current();
    for (auto const& group : *all)
        if (!group.ldap.empty() && !group.has(facts)) names.push_back(group.name);
    return names;
}

void Groups::add_listed(http::Identity& identity) const {
    if (identity.user.empty()) return;
    for (auto& name : of({.user = lower_case(identity.user)}))
        if (std::ranges::find(identity.groups, name) == identity.groups.end()) identity.groups.push_back(std::move(name));
    auto const all = current();
    if (std::ranges::all_of(*all, &Group::lists_all)) identity.groups_known = true;
}

Changes Groups::refresh() {
    Changes changes;
    MutexLock const refreshing(refresh_mutex_);
    if (files_.empty()) return changes;
    All all = *current();
    for (auto& one : files_) {
        auto const text = one.file.read_if_changed();
        if (!text) continue;
        if (!*text) {
            changes.notices.push_back({text->fault().what + "; its last users stay", text->fault().mend, text->fault().where});
            continue;
        }
        auto names = std::make_shared<Names>();
        for (auto const& value : values_of_file(**text)) names->insert(lower_case(value));
        all[one.group].lists[one.list] = std::move(names);
        changes.all = true;
    }
    if (changes.all) replace(std::move(all));
    return changes;
}

std::vector<Trouble> Groups::troubles() {
    MutexLock const lock(refresh_mutex_);
    std::vector<Trouble> all;
    for (auto const& one : files_)
        if (auto trouble = one.file.trouble("its last users stay")) all.push_back(*std::move(trouble));
    return all;
}

}   // namespace garner::auth
