// Users by JSON Web Tokens, as Bearer or as the password of Basic.
#pragma once
#include <memory>

#include "auth/jwt.hpp"
#include "auth/options.hpp"
#include "auth/user_source.hpp"
#include "auth/watched_file.hpp"
#include "util/mutex.hpp"

namespace garner::auth {

class JwtSource : public Source {
public:
    /// A fault if the file cannot be read or has no usable key. Keys that are left out go to `notices`.
    static Result<std::unique_ptr<JwtSource>> load(JwtOptions const&, std::vector<Fault>& notices);

    std::string_view name() const override { return "jwt"; }
    bool takes(Scheme scheme) const override { return scheme != Scheme::negotiate; }
    Verdict check(Credentials const&, WallTime now) override;
    /// A file that vanished or has no usable key any more keeps the last keys.
    Changes refresh() override;
    std::vector<Trouble> troubles() override;

private:
    explicit JwtSource(JwtOptions const& options) : options_(options), file_(options.keys, 1 * MiB) {}
    Result<void> read(std::string_view text, std::vector<Fault>& notices) EXCLUDES(mutex_);

    JwtOptions const options_;
    Mutex refresh_mutex_;
    WatchedFile file_ GUARDED_BY(refresh_mutex_);
    Mutex mutex_;
    std::shared_ptr<JwtKeys const> keys_ GUARDED_BY(mutex_) = std::make_shared<JwtKeys const>();
};

}   // namespace garner::auth
