// The groups of a user by the key `groups`.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "auth/facts.hpp"
#include "auth/options.hpp"
#include "auth/user_source.hpp"
#include "auth/watched_file.hpp"
#include "http/identity.hpp"
#include "util/mutex.hpp"

namespace garner::auth {

/// True if `text` matches the pattern, in which `*` stands for any text. Case-sensitive.
bool matches_glob(std::string_view pattern, std::string_view text);

/// The values of a list in a file: one a line, without blank lines and what follows a `#`.
std::vector<std::string> values_of_file(std::string_view text);

/// Thread-safe.
class Groups {
public:
    /// Reads the files. Fault::where is "NAME.user[INDEX]" below the key `groups`.
    static Result<std::unique_ptr<Groups>> load(std::vector<GroupOptions> const&);

    /// The names of the groups that the user is a member of, in the order of the configuration.
    std::vector<std::string> of(Facts const&) const EXCLUDES(mutex_);
    /// The groups that the user may be a member of, because the directory could not tell.
    std::vector<std::string> unknown_of(Facts const&) const EXCLUDES(mutex_);
    /// Adds the groups that list the user by name. A question to the rules needs no login. Neither a directory nor a
    /// token is asked: if groups have members by them, groups_known stays as it is.
    void add_listed(http::Identity&) const EXCLUDES(mutex_);
    /// The DNs of all groups of the directory, in the spelling of normal_dn().
    std::vector<std::string> const& ldap_groups() const { return ldap_groups_; }
    /// Reads changed files again. A file that cannot be read keeps its last users. Changes::all: a file has changed.
    Changes refresh() EXCLUDES(mutex_, refresh_mutex_);
    /// The files that cannot be read. Called by the thread of refresh().
    std::vector<Trouble> troubles() EXCLUDES(refresh_mutex_);

private:
    struct StringHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    };
    using Names = std::unordered_set<std::string, StringHash, std::equal_to<>>;
    struct Group {
        std::string name = {};
        Names users = {};
        Names ldap = {};
        std::vector<ClaimPatterns> claims = {};
        std::vector<std::shared_ptr<Names const>> lists = {};   // names from files
        bool has(Facts const&) const;
        bool lists_all() const { return ldap.empty() && claims.empty(); }
    };
    struct UsersFile {
        WatchedFile file;
        std::size_t group;   // indices of its list
        std::size_t list;
    };
    using All = std::vector<Group>;
    std::shared_ptr<All const> current() const EXCLUDES(mutex_);
    void replace(All) EXCLUDES(mutex_);
    Result<void> add(GroupOptions const&, All&, std::vector<UsersFile>&);

    std::vector<std::string> ldap_groups_ = {};
    mutable Mutex mutex_;
    std::shared_ptr<All const> groups_ GUARDED_BY(mutex_) = std::make_shared<All const>();
    Mutex refresh_mutex_;   // never waited for by a check: a file may be on a slow disk
    std::vector<UsersFile> files_ GUARDED_BY(refresh_mutex_);
};

}   // namespace garner::auth
