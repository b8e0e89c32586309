#include "auth/htpasswd_source.hpp"

#include <utility>

#include "auth/password_hash.hpp"
#include "util/text.hpp"

namespace garner::auth {

Result<std::unique_ptr<HtpasswdSource>> HtpasswdSource::load(HtpasswdOptions const& options, std::vector<Fault>& notices) {
    if (auto const text = WatchedFile(options.file).read_if_changed(); !*text) return text->fault();
    std::unique_ptr<HtpasswdSource> source(new HtpasswdSource(options.file));
    auto changes = source->refresh();
    for (auto& notice : changes.notices) notices.push_back(std::move(notice));
    return source;
}

std::shared_ptr<Htpasswd const> HtpasswdSource::users() {
    MutexLock const lock(mutex_);
    return users_;
}

Verdict HtpasswdSource::check(Credentials const& credentials, WallTime) {
    auto const file = users();
    auto user = lower_case(credentials.user.view());
    auto const found = file->hashes.find(user);
    bool const is_known = found != file->hashes.end();
    auto const& hash = is_known ? found->second : file->typical;
    bool const matches = !hash.empty() && matches_hash(credentials.secret, hash);
    if (!is_known) return {.kind = Verdict::Kind::not_known, .reason = "the users' file does not have the user"};
    if (!matches) return {.kind = Verdict::Kind::wrong, .reason = "wrong password"};
    return {.kind = Verdict::Kind::accepted, .facts = {.user = std::move(user)}};
}

Changes HtpasswdSource::refresh() {
    MutexLock const refreshing(refresh_mutex_);
    Changes changes;
    auto const text = file_.read_if_changed();
    if (!text) return changes;
    if (!*text) {
        auto const& fault = text->fault();
        changes.notices.push_back({fault.what + "; its last users stay", fault.mend, fault.where});
        return changes;
    }
    auto fresh = std::make_shared<Htpasswd>(parse_htpasswd(file_.path(), **text));
    changes.notices = std::move(fresh->faults);
    changes.users = changed_users(*users(), *fresh);
    MutexLock const lock(mutex_);
    users_ = std::move(fresh);
    return changes;
}

std::vector<Trouble> HtpasswdSource::troubles() {
    MutexLock const lock(refresh_mutex_);
    auto trouble = file_.trouble("its last users stay");
    return trouble ? std::vector{*std::move(trouble)} : std::vector<Trouble>();
}

}   // namespace garner::auth
