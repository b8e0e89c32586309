// Users of a directory: a search finds the entry, a bind checks the password (Squid: basic_ldap_auth).
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/ldap_connection.hpp"
#include "auth/options.hpp"
#include "auth/user_source.hpp"
#include "util/mutex.hpp"

namespace garner::auth {

/// Keeps idle connections. While the directory does not answer, one check a second tries it, and all others are unavailable at
/// once.
class LdapSource : public Source {
public:
    static constexpr milliseconds answer_max{2'500};
    static constexpr milliseconds retry_interval{1'000};
    // A directory that nothing else has asked for so long is probed.
    static constexpr seconds probe_interval{30}, probe_interval_in_trouble{10};

    /// `timeout`: the limit of a check, lowered to answer_max. `groups`: the groups to search, in the spelling of normal_dn(). A
    /// fault names a key in Fault::where if a file cannot be used. Does not connect.
    static Result<std::unique_ptr<LdapSource>> load(LdapOptions const&, std::vector<std::string> groups, milliseconds timeout);

    std::string_view name() const override { return "ldap"; }
    bool takes(Scheme scheme) const override { return scheme == Scheme::basic; }
    Verdict check(Credentials const&, WallTime now) override;
    bool is_directory() const override { return true; }
    Verdict find_member(std::string const& user) override;
    std::vector<Trouble> troubles() override EXCLUDES(mutex_);
    bool wants_probe() override EXCLUDES(mutex_);
    void probe() override;

private:
    /// Binds of users have a connection of their own: the searches stay bound to bind_dn.
    struct Link {
        std::unique_ptr<LdapConnection> search;
        std::unique_ptr<LdapConnection> users;
    };
    using Links = std::vector<std::unique_ptr<Link>>;

    LdapSource(LdapOptions options, std::vector<std::string> groups, milliseconds limit)
        : options_(std::move(options)), groups_(std::move(groups)), limit_(limit) {}
    struct Question {
        std::string_view user = {};                                // empty: only whether the directory answers
        std::optional<std::string_view> password = std::nullopt;   // nothing: another source has accepted the user
    };
    Verdict answer(Question const&);
    Verdict answer_once(Question const&, SteadyTime deadline, bool& may_retry);
    Verdict ask(Link&, Question const&, SteadyTime deadline);
    Verdict probe(Link&, SteadyTime deadline);
    Verdict find_groups(Link&, std::string const& dn, Facts, SteadyTime deadline);
    Result<std::unique_ptr<Link>> connect(SteadyTime deadline);

    void note(Verdict const&) EXCLUDES(mutex_);
    bool may_try() EXCLUDES(mutex_);
    std::unique_ptr<Link> take_idle() EXCLUDES(mutex_);
    void keep(std::unique_ptr<Link>) EXCLUDES(mutex_);
    void drop_all() EXCLUDES(mutex_);

    LdapOptions const options_;
    std::vector<std::string> const groups_;
    milliseconds const limit_;
    enum class Kind : std::uint8_t { unknown, active_directory, other };
    std::atomic<Kind> kind_{Kind::unknown};
    Mutex mutex_;
    Links idle_ GUARDED_BY(mutex_);
    std::optional<SteadyTime> silent_until_ GUARDED_BY(mutex_);   // while the directory does not answer
    std::optional<Trouble> trouble_ GUARDED_BY(mutex_);           // likewise
    std::optional<SteadyTime> asked_ GUARDED_BY(mutex_);          // the last time that it was, or was to be
};

}   // namespace garner::auth
