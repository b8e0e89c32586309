// garner import on this machine: its result passes garner check.
#include "config/import_command.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "config/check_command.hpp"
#include "support.hpp"
#include "support/child.hpp"

namespace garner::config {
namespace {

using testing::HasSubstr;
using testing::Not;

struct ImportCommand : ::testing::Test {
    ImportCommand() { open(dir.path()); }

    /// The account of the proxy may enter the folder.
    static void open(std::filesystem::path const& folder) { std::filesystem::permissions(folder, std::filesystem::perms(0755)); }

    void import_text(std::string const& squid_conf) {
        std::ostringstream out, err, found;
        code = import_command(dir.write("squid.conf", squid_conf), out, err);
        configuration = out.str(), report = err.str();
        EXPECT_EQ(check_command(dir.write("garner.json", configuration), {}, found), 0) << found.str();
    }

    test::TempDir dir;
    std::string const folder = dir.path("logs").string();
    int code = -1;
    std::string configuration, report;
};

TEST_F(ImportCommand, drops_a_log_that_the_proxy_could_not_write) {
    import_text("http_port 3128\naccess_log daemon:" + folder + "/access.log squid\nhttp_access deny all\n");
    EXPECT_EQ(code, 0);
    EXPECT_THAT(report, HasSubstr("squid.conf:2: dropped: access_log: no file can be created in \"" + folder + "\": No such file"));
    EXPECT_THAT(report, HasSubstr("3 lines: 2 translated, 1 dropped, 0 need you\n"));
    EXPECT_THAT(configuration, Not(HasSubstr(folder)));
}

TEST_F(ImportCommand, keeps_a_log_that_the_proxy_can_write) {
    std::filesystem::create_directory(folder);
    open(folder);
    import_text("access_log daemon:" + folder + "/access.log squid\nhttp_access deny all\n");
    EXPECT_EQ(code, 0);
    EXPECT_THAT(report, HasSubstr("2 lines: 2 translated, 0 dropped, 0 need you\n"));
    EXPECT_THAT(configuration, HasSubstr(folder + "/access.log"));
}

}   // namespace
}   // namespace garner::config
