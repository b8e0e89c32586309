// The URLs of one shard that have had events since objects of a former process began to be added.
#pragma once
#include <cstddef>
#include <unordered_set>

#include "util/hash.hpp"

namespace garner::cache {

/// Objects of a former process are older than every event in this one: a URL that was fetched, purged or reported here gets none of
/// them. Used under the lock of its shard.
class TouchedUrls {
public:
    static constexpr std::size_t most = 10'000;   // then nothing more may be added

    /// From now on events are remembered.
    void begin() { is_on_ = true; }
    /// Nothing may be added any more.
    void end() {
        is_on_ = false;
        std::unordered_set<Fingerprint>().swap(urls_);
    }

    /// An event of the URL.
    void add(Fingerprint url) {
        if (!is_on_) return;
        urls_.insert(url);
        if (urls_.size() > most) end();
    }
    bool may_restore(Fingerprint url) const { return is_on_ && !urls_.contains(url); }

private:
    bool is_on_ = false;
    std::unordered_set<Fingerprint> urls_;
};

}   // namespace garner::cache
