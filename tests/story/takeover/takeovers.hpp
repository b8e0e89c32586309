// The scene of a takeover: an origin, a disk, and the configuration of a service.
#pragma once
#include <string>

#include "story/takeover/load.hpp"
#include "story/takeover/service.hpp"

namespace garner::test {

/// Kept connections get one more request in any case.
inline std::string patch(std::string const& more = "") {
    return R"({"deadlines": {"drain_idle": "5s"})" + std::string(more.empty() ? "" : ", ") + more + "}";
}

inline std::string with_disk(TempDir const& dir, std::string const& more = "") {
    return patch(R"("disk": {"path": ")" + dir.path("").string() + R"(", "size": "64 MiB"})" + more);
}

inline int status(Proxy const& proxy, Origin const& origin, std::string const& path = "/live") {
    return Client(proxy, origin).get(path).status();
}

struct Takeovers : ::testing::Test {
    Takeovers() {
        origin.answer("/page", fresh("page"));
        origin.answer("/live", no_store("live"));
    }
    Origin origin;
    TempDir disk;
};

}   // namespace garner::test
