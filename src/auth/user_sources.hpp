// The sources and groups of one configuration.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "auth/directory_groups.hpp"
#include "auth/groups.hpp"
#include "auth/login_answer.hpp"
#include "auth/options.hpp"
#include "auth/user_source.hpp"

namespace garner::auth {

/// Thread-safe: only its sources and groups change, and they are thread-safe.
class Sources {
public:
    struct Loaded;
    /// Opens the files, but asks no directory.
    static Loaded load(Options const&);

    /// For tests: these sources, and the groups of the options.
    static std::shared_ptr<Sources const> of(Options, std::vector<std::unique_ptr<Source>>);

    Options const& options() const { return options_; }
    /// True if any source takes the scheme: then it belongs into the challenges of a 407.
    bool takes(Scheme) const;
    bool empty() const { return sources_.empty() && options_.sources.empty(); }
    Groups const& groups() const { return *groups_; }

    /// Asks the sources in order until one accepts or rejects. May block.
    Verdict check(Credentials const&, WallTime now) const;
    /// The user of a request without credentials: by its address, or by the names in its verified certificate. May be empty.
    Facts facts_of(IpAddress const& client, std::span<std::string const> certificate) const;
    std::shared_ptr<http::Identity const> identity(Facts const&, WallTime until) const;

    /// True if a directory must be asked for the groups of the user, and the result is not remembered. Adds the remembered one.
    bool wants_groups(Facts&, WallTime now) const;
    /// Asks the directories. May block. Call it if wants_groups().
    void find_groups(Facts&, WallTime now) const;

    /// Reads changed files again. `changed` gets the facts that may have changed.
    Changes refresh_users() const;
    Changes refresh_groups() const { return groups_->refresh(); }
    /// The facts that the sources and groups cannot learn now. Called by the thread of refresh_users().
    std::vector<Trouble> troubles() const;
    /// The sources that want a probe.
    std::vector<Source*> unprobed() const;

private:
    Result<void> add(SourceOptions const&, std::vector<Fault>& notices);
    void take(std::unique_ptr<Source>);

    Options options_;
    std::unique_ptr<Groups> groups_ = std::make_unique<Groups>();
    std::vector<std::unique_ptr<Source>> sources_;
    std::map<IpAddress, std::string> users_by_address_;
    bool takes_certificates_ = false;
    std::vector<Source*> directories_;   // of sources_
    std::unique_ptr<DirectoryGroups> directory_groups_ = std::make_unique<DirectoryGroups>();
};

struct Sources::Loaded {
    std::shared_ptr<Sources const> sources = {};   // empty if there are faults
    /// Fault::where is a key from the configuration's root: "auth.sources[1].file", "groups.staff.user[0]".
    std::vector<Fault> faults = {};
    std::vector<Fault> notices = {};   // bad lines; Fault::where is their place, "users:7"
};

}   // namespace garner::auth
