// Users of a file (Squid: basic_ncsa_auth).
#pragma once
#include <memory>
#include <vector>

#include "auth/htpasswd.hpp"
#include "auth/options.hpp"
#include "auth/user_source.hpp"
#include "auth/watched_file.hpp"
#include "util/mutex.hpp"

namespace garner::auth {

/// A check of an unknown user takes the time of a hash, too, so that its duration does not tell which users exist.
class HtpasswdSource : public Source {
public:
    /// A fault if the file cannot be read. Bad lines go to `notices`.
    static Result<std::unique_ptr<HtpasswdSource>> load(HtpasswdOptions const&, std::vector<Fault>& notices);

    std::string_view name() const override { return "htpasswd"; }
    bool takes(Scheme scheme) const override { return scheme == Scheme::basic; }
    Verdict check(Credentials const&, WallTime now) override;
    /// A file that vanished keeps its last users.
    Changes refresh() override;
    std::vector<Trouble> troubles() override;

private:
    explicit HtpasswdSource(std::string path) : file_(std::move(path)) {}
    std::shared_ptr<Htpasswd const> users() EXCLUDES(mutex_);

    Mutex refresh_mutex_;
    WatchedFile file_ GUARDED_BY(refresh_mutex_);
    Mutex mutex_;
    std::shared_ptr<Htpasswd const> users_ GUARDED_BY(mutex_) = std::make_shared<Htpasswd const>();
};

}   // namespace garner::auth
