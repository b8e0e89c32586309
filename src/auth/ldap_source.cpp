#include "auth/ldap_source.hpp"

#include <ldap.h>

#include <algorithm>
#include <utility>

#include "auth/ldap_groups.hpp"
#include "auth/ldap_names.hpp"
#include "auth/secret_file.hpp"
#include "util/text.hpp"

namespace garner::auth {
namespace {

using Outcome = Verdict::Kind;

Verdict directory_unavailable(std::string reason) { return {.kind = Outcome::unavailable, .reason = std::move(reason)}; }

/// The name as the directory has it: it may take "BOB" and " bob" for bob.
std::string canonical_user(LdapEntry const& entry, std::string_view typed) {
    auto const same = [&](std::string const& value) { return equals_ignoring_case(value, typed); };
    if (entry.values.empty() || std::ranges::any_of(entry.values, same)) return lower_case(trim(typed));
    return lower_case(entry.values.front());
}

}   // namespace

Result<std::unique_ptr<LdapSource>> LdapSource::load(LdapOptions const& options, std::vector<std::string> groups,
                                                     milliseconds timeout) {
    if (auto const connection = LdapConnection::make(options.url, options.ca_file); !connection) return connection.fault();
    if (normal_dn(options.base).empty()) return Fault{"\"" + options.base + "\" is not a DN", R"(write it like "dc=uni")", "base"};
    if (!options.bind_dn.empty())
        if (auto const password = read_secret(options.bind_password_file); !password)
            return password.fault().at("bind_password_file");
    return std::unique_ptr<LdapSource>(new LdapSource(options, std::move(groups), std::min(timeout, answer_max)));
}

Verdict LdapSource::check(Credentials const& credentials, WallTime) {
    // Directories accept a bind with an empty password without a check (RFC 4513 5.1.2).
    if (credentials.secret.size() == 0) return {.kind = Outcome::wrong, .reason = "the password is empty"};
    return answer({credentials.user.view(), credentials.secret.view()});
}

Verdict LdapSource::find_member(std::string const& user) { return answer({user}); }

Verdict LdapSource::answer(Question const& question) {
    if (!may_try()) return directory_unavailable("the directory did not answer a moment ago");
    auto const deadline = steady_now() + limit_;
    bool may_retry = false;
    auto verdict = answer_once(question, deadline, may_retry);
    if (may_retry) verdict = answer_once(question, deadline, may_retry);
    note(verdict);
    return verdict;
}

void LdapSource::note(Verdict const& verdict) {
    MutexLock const lock(mutex_);
    if (verdict.kind != Outcome::unavailable) {
        silent_until_.reset();
        trouble_.reset();
        return;
    }
    silent_until_ = steady_now() + retry_interval;
    auto const since = trouble_ ? trouble_->since : wall_now();
    trouble_ = Trouble{Trouble::Kind::directory,
                       options_.url,
                       verdict.reason,
                       "new logins get 503, and groups are unknown",
                       "check the directory, and the way to it",
                       since};
}

std::vector<Trouble> LdapSource::troubles() {
    MutexLock const lock(mutex_);
    return trouble_ ? std::vector{*trouble_} : std::vector<Trouble>();
}

bool LdapSource::wants_probe() {
    MutexLock const lock(mutex_);
    auto const interval = trouble_ ? probe_interval_in_trouble : probe_interval;
    auto const now = steady_now();
    if (asked_ && now < *asked_ + interval) return false;
    asked_ = now;
    return true;
}

void LdapSource::probe() { answer({}); }

/// `may_retry`: a kept connection was closed meanwhile.
Verdict LdapSource::answer_once(Question const& question, SteadyTime deadline, bool& may_retry) {
    auto link = take_idle();
    may_retry = link != nullptr;
    if (!link) {
        auto connected = connect(deadline);
        if (!connected) return directory_unavailable(connected.fault().text());
        link = *std::move(connected);
    }
    auto verdict = ask(*link, question, deadline);
    if (verdict.kind == Outcome::unavailable) {
        drop_all();
        may_retry = may_retry && steady_now() < deadline;
        return verdict;
    }
    keep(std::move(link));
    may_retry = false;
    return verdict;
}

Verdict LdapSource::ask(Link& link, Question const& question, SteadyTime deadline) {
    auto const typed = question.user;
    if (typed.empty()) return probe(link, deadline);
    std::vector<LdapEntry> found;
    auto const status = link.search->search({.base = options_.base,
                                             .filter = filter_for(options_.filter, typed),
                                             .attribute = user_attribute(options_.filter),
                                             .entries_max = 2},
                                            deadline, found);
    if (found.size() > 1) return {.kind = Outcome::wrong, .reason = "the filter finds more than one entry for the user"};
    if (!status.good()) return directory_unavailable("search for the user: " + status.text);
    if (found.empty()) return {.reason = "the directory does not have the user"};
    auto const& entry = found.front();
    if (entry.dn.empty()) return {.kind = Outcome::wrong, .reason = "the entry has no DN"};
    if (question.password) {
        auto const bound = link.users->bind(entry.dn, *question.password, deadline);
        if (bound.refused()) return {.kind = Outcome::wrong, .reason = bound.text};
        if (!bound.good()) return directory_unavailable("bind of the user: " + bound.text);
    }
    return find_groups(link, entry.dn, {.user = canonical_user(entry, typed)}, deadline);
}

/// With the account for searches, so that a wrong password of it shows, too. A directory that refuses the search answers.
Verdict LdapSource::probe(Link& link, SteadyTime deadline) {
    std::vector<LdapEntry> found;
    auto const status =
        link.search->search({.base = options_.base, .whole_tree = false, .filter = "(objectClass=*)"}, deadline, found);
    return status.good() || status.refused() ? Verdict{}
                                             : directory_unavailable("search for " + options_.base + ": " + status.text);
}

Verdict LdapSource::find_groups(Link& link, std::string const& dn, Facts facts, SteadyTime deadline) {
    if (groups_.empty()) return {.kind = Outcome::accepted, .facts = std::move(facts)};
    auto kind = kind_.load();
    if (kind == Kind::unknown) {
        bool active = false;
        if (auto const status = is_active_directory(*link.search, deadline, active); !status.good())
            return directory_unavailable("search for the kind of directory: " + status.text);
        kind_ = kind = active ? Kind::active_directory : Kind::other;
    }
    auto const status = find_ldap_groups(*link.search, kind == Kind::active_directory, options_.base, {dn, facts.user}, groups_,
                                         deadline, facts.ldap_groups);
    if (!status.good()) return directory_unavailable("search for groups: " + status.text);
    return {.kind = Outcome::accepted, .facts = std::move(facts)};
}

Result<std::unique_ptr<LdapSource::Link>> LdapSource::connect(SteadyTime deadline) {
    auto search = LdapConnection::make(options_.url, options_.ca_file);
    auto users = LdapConnection::make(options_.url, options_.ca_file);
    if (!search || !users) return (search ? users : search).fault();
    if (!options_.bind_dn.empty()) {
        auto const password = read_secret(options_.bind_password_file);
        if (!password) return password.fault();
        auto const status = (*search)->bind(options_.bind_dn, password->view(), deadline);
        if (!status.good()) return Fault{"bind of " + options_.bind_dn + ": " + status.text};
    }
    auto link = std::make_unique<Link>();
    link->search = *std::move(search);
    link->users = *std::move(users);
    return link;
}

/// The one check that tries again moves the time, so that the others do not wait as well.
bool LdapSource::may_try() {
    MutexLock const lock(mutex_);
    auto const now = steady_now();
    asked_ = now;
    if (silent_until_ && now < *silent_until_) return false;
    if (silent_until_) silent_until_ = now + limit_ + retry_interval;
    return true;
}

std::unique_ptr<LdapSource::Link> LdapSource::take_idle() {
    MutexLock const lock(mutex_);
    if (idle_.empty()) return nullptr;
    auto link = std::move(idle_.back());
    idle_.pop_back();
    return link;
}

void LdapSource::keep(std::unique_ptr<Link> link) {
    MutexLock const lock(mutex_);
    idle_.push_back(std::move(link));
}

void LdapSource::drop_all() {
    Links dropped;
    MutexLock const lock(mutex_);
    dropped.swap(idle_);
}

}   // namespace garner::auth
