// garner import on this machine: its result passes garner check.
#include "config/import_command.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>

#include "config/check_command.hpp"
#include "support.hpp"
#include "support/child.hpp"
#include "support/places.hpp"

namespace garner::config {
namespace {

using testing::HasSubstr;
using testing::Not;

struct ImportCommand : ::testing::Test {
    ImportCommand() { open(dir.path()); }

    /// The account of the proxy may enter the folder.
    static void open(std::filesystem::path const& folder) { std::filesystem::permissions(folder, std::filesystem::perms(0755)); }

    void import_text(std::string const& squid_conf) { import_file(dir.write("squid.conf", squid_conf)); }

    void import_file(std::string const& squid_conf) {
        std::ostringstream out, err, found;
        code = import_command(squid_conf, out, err);
        configuration = out.str(), report = err.str();
        EXPECT_EQ(check_command(dir.write("garner.json", configuration), {}, found), 0) << squid_conf << "\n" << found.str();
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

TEST_F(ImportCommand, a_file_that_cannot_be_read_is_told) {
    std::ostringstream out, err;
    EXPECT_EQ(import_command(dir.path("absent.conf").string(), out, err), 1);
    EXPECT_EQ(out.str(), "");
    EXPECT_THAT(err.str(), HasSubstr("absent.conf: cannot be read: No such file or directory"));
}

TEST_F(ImportCommand, names_a_users_file_that_is_absent_and_denies_its_users) {
    auto const users = dir.path("users").string();
    auto const text = "auth_param basic program /usr/lib/squid/basic_ncsa_auth " + users +
                      "\nacl users proxy_auth REQUIRED\nhttp_access allow users\n";
    import_text(text);
    EXPECT_EQ(code, 2);
    EXPECT_THAT(report,
                HasSubstr("squid.conf:1: needs you: auth_param: " + users + ": cannot be read: No such file or directory; none"));
    EXPECT_THAT(configuration, Not(HasSubstr(users)));
    dir.write("users", "anna:$2y$05$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZabcdef\n");
    import_text(text);
    EXPECT_EQ(code, 0);
    EXPECT_THAT(configuration, HasSubstr(R"("file": ")" + users + '"'));
}

TEST_F(ImportCommand, the_result_of_every_collected_configuration_passes_the_check) {
    std::size_t imported = 0;
    for (auto const& entry : std::filesystem::directory_iterator(test::source("tests/data/squid_conf"))) {
        if (entry.path().extension() != ".conf") continue;
        import_file(entry.path());
        EXPECT_TRUE(code == 0 || code == 2) << entry.path() << "\n" << report;
        EXPECT_EQ(code == 2, report.find("needs you: ") != report.npos) << entry.path() << "\n" << report;
        ++imported;
    }
    EXPECT_EQ(imported, 8u);
}

}   // namespace
}   // namespace garner::config
