#include "auth/jwt_source.hpp"

#include <utility>

namespace garner::auth {

Result<std::unique_ptr<JwtSource>> JwtSource::load(JwtOptions const& options, std::vector<Fault>& notices) {
    std::unique_ptr<JwtSource> source(new JwtSource(options));
    MutexLock const refreshing(source->refresh_mutex_);
    auto const text = source->file_.read_if_changed();
    if (!*text) return text->fault();
    if (auto const read = source->read(**text, notices); !read) return read.fault();
    return source;
}

Result<void> JwtSource::read(std::string_view text, std::vector<Fault>& notices) {
    auto keys = parse_jwt_keys(text);
    if (!keys) return keys.fault().at(options_.keys);
    for (auto const& fault : keys->faults) notices.push_back({fault + " and is left out", "", options_.keys});
    auto fresh = std::make_shared<JwtKeys const>(*std::move(keys));
    MutexLock const lock(mutex_);
    keys_.swap(fresh);
    return {};
}

Verdict JwtSource::check(Credentials const& credentials, WallTime now) {
    auto const keys = [&] {
        MutexLock const lock(mutex_);
        return keys_;
    }();
    return check_jwt(credentials.secret.view(), *keys, options_, now);
}

Changes JwtSource::refresh() {
    MutexLock const refreshing(refresh_mutex_);
    Changes changes;
    auto const text = file_.read_if_changed();
    if (!text) return changes;
    auto const done = *text ? read(**text, changes.notices) : Result<void>(text->fault());
    changes.all = static_cast<bool>(done);
    if (!done && *text) file_.reject(done.fault().what, done.fault().mend);
    if (!done) changes.notices.push_back({done.fault().what + "; its last keys stay", done.fault().mend, done.fault().where});
    return changes;
}

std::vector<Trouble> JwtSource::troubles() {
    MutexLock const lock(refresh_mutex_);
    auto trouble = file_.trouble("its last keys stay");
    return trouble ? std::vector{*std::move(trouble)} : std::vector<Trouble>();
}

}   // namespace garner::auth
