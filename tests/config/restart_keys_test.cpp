#include "config/restart_keys.hpp"

#include <gtest/gtest.h>

#include "support.hpp"

namespace garner::config {
namespace {

TEST(Reload, names_what_needs_a_restart) {
    Config const running;
    EXPECT_TRUE(cannot_change(running, running).empty());
    auto const fresh = load("{}", {"memory.size=64MiB", "dns.servers=10.0.0.1", "listen[0].address=:80", "workers=3",
                                   "log.level=warn", "caching.offline=true", "access=[{\"deny\":\"all\"}]",
                                   "admin.address=", "disk.size=20GiB", "disk.rate_max=1MB", "disk.admit=second-hit"});
    std::vector<std::string> const expected{"listen", "workers", "disk.size", "dns", "admin"};
    EXPECT_EQ(cannot_change(running, fresh.config), expected);
}

}   // namespace
}   // namespace garner::config
