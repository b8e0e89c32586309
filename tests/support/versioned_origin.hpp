// An origin whose pages have versions and tags.
#pragma once
#include <atomic>
#include <string>

#include "support/client.hpp"
#include "support/origin.hpp"

namespace garner::test {

/// "/ab" has the tags "all" and "a". Its body begins with "version N ", where N is the number of the version.
class VersionedOrigin {
public:
    /// `failure`: the status of responses while it fails; 0: it resets each connection.
    explicit VersionedOrigin(int failure = 0);
    Origin& origin() { return origin_; }
    void renew() { ++version_; }
    std::string version() const { return std::to_string(version_); }
    Fields more;   // further fields of each response
    std::atomic<bool> fails{false};
    std::string invalidates;   // Cache-Group-Invalidation in responses to POST

private:
    void answer(Hand& hand);
    int const failure_;
    Origin origin_;
    std::atomic<int> version_{1};
};

/// "version 2 hit": the beginning of the body, and whether the cache has answered. "502" for another status than 200.
std::string told(Reply const& reply);

}   // namespace garner::test
