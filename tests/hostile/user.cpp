// A process started as root keeps no privileges of root.
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "hostile/hostile.hpp"
#include "support/child.hpp"

namespace garner::test {

namespace {

/// Lines of /proc/PID/status by name, with fields separated by single spaces.
std::map<std::string, std::string> status_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    std::map<std::string, std::string> status;
    for (std::string line; std::getline(file, line);) {
        auto const colon = line.find(':');
        std::istringstream words(line.substr(colon + 1));
        std::string all;
        for (std::string word; words >> word;) all += all.empty() ? word : " " + word;
        status[line.substr(0, colon)] = all;
    }
    return status;
}

std::string four_times(unsigned id) {
    auto const one = std::to_string(id);
    return one + " " + one + " " + one + " " + one;
}

}   // namespace

TEST(User, a_start_as_root_ends_as_the_user_with_its_files_and_no_way_back) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    auto const* nobody = ::getpwnam("nobody");
    ASSERT_TRUE(nobody);
    TempDir folder;
    ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
    auto const store = folder.path() / "store", log = folder.path() / "access.log";
    Origin origin;
    origin.answer("/page", fresh("page"));
    nlohmann::json const patch{{"user", "nobody"}, {"disk", {{"path", store}, {"size", "64 MiB"}}}, {"log", {{"access", log}}}};
    // The leak check at exit needs rights over its own process that were dropped with root.
    auto const start = [&] {
        return std::make_unique<Proxy>(Proxy::Setup{.patch = patch.dump(), .environment = {"ASAN_OPTIONS=detect_leaks=0"}});
    };
    for (bool const again : {false, true}) {
        auto const proxy = start();
        auto const reply = get(*proxy, origin, "/page");
        EXPECT_EQ(reply.body(), "page");
        EXPECT_EQ(reply.hit(), again) << "the store outlives a restart";
        auto const status = status_of(proxy->child().pid());
        EXPECT_EQ(status.at("Uid"), four_times(nobody->pw_uid));
        EXPECT_EQ(status.at("Gid"), four_times(nobody->pw_gid));
        EXPECT_EQ(status.at("CapEff"), "0000000000000000");
        EXPECT_EQ(status.at("NoNewPrivs"), "1");
        EXPECT_THAT(proxy->errors(), HasSubstr("running as user nobody"));
        for (auto const& path : {store, store / "store", log}) {
            struct stat about {};
            ASSERT_EQ(::stat(path.c_str(), &about), 0) << path;
            EXPECT_EQ(about.st_uid, nobody->pw_uid) << path;
        }
    }
}

TEST(User, an_unknown_user_is_a_fault_and_nothing_is_started) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    auto const started = run({garner_binary(), "--set", R"(user="no-such-user")"});
    EXPECT_NE(started.code, 0);
    EXPECT_THAT(started.errors, HasSubstr("there is no user no-such-user on this machine"));
    EXPECT_THAT(started.errors, HasSubstr("adduser"));
}

}   // namespace garner::test
