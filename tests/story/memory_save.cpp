// memory.save: the objects in memory survive a stop and a start, and no removed or damaged one returns.
#include <sys/stat.h>

#include <fstream>
#include <optional>

#include "story/scene.hpp"

namespace garner::test {

namespace {

class SavedMemory : public ::testing::Test {
protected:
    SavedMemory() {
        for (int i = 0; i < count; ++i) origin.answer(path(i), fresh(body(i)));
    }
    static constexpr int count = 40;
    static std::string path(int number) { return "/" + std::to_string(number); }
    static std::string body(int number) {
        return std::to_string(number) + std::string(static_cast<std::size_t>(number % 5 == 0 ? 150'000 : 3'000), 'x');
    }

    std::string file() const { return (dir.path("") / "memory").string(); }
    void start() { proxy.emplace(R"({"memory": {"save": ")" + file() + R"("}})"); }
    void fill() {
        for (int i = 0; i < count; ++i) EXPECT_EQ(get(*proxy, origin, path(i)).body(), body(i));
    }
    /// Waits until the log says so.
    std::string read_text() {
        EXPECT_TRUE(eventually([&] { return proxy->errors().find("in memory after ") != std::string::npos; })) << proxy->errors();
        return proxy->errors();
    }
    int hits() {
        int hits = 0;
        for (int i = 0; i < count; ++i) {
            auto const reply = get(*proxy, origin, path(i));
            EXPECT_EQ(reply.body(), body(i)) << "whatever happened to the file";
            hits += reply.hit();
        }
        return hits;
    }
    std::string saved() const {
        std::ifstream stream(file(), std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    void write(std::string const& bytes) const { std::ofstream(file(), std::ios::binary) << bytes; }

    Origin origin;
    TempDir dir;
    std::optional<Proxy> proxy;
};

}   // namespace

TEST_F(SavedMemory, has_the_objects_of_the_last_run) {
    start();
    EXPECT_FALSE(std::filesystem::exists(file()));
    fill();
    proxy->stop();
    EXPECT_THAT(proxy->errors(), HasSubstr("memory.save: 40 objects, "));
    struct stat found {};
    ASSERT_EQ(::stat(file().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600u);
    EXPECT_FALSE(std::filesystem::exists(file() + ".new"));
    start();
    EXPECT_FALSE(std::filesystem::exists(file())) << "a kill must not bring back what this process removes";
    EXPECT_THAT(read_text(), HasSubstr("memory.save: 40 objects, "));
    EXPECT_EQ(hits(), count);
    for (int i = 0; i < count; ++i) EXPECT_EQ(origin.requests(path(i)), 1u);
    proxy->stop();
    EXPECT_TRUE(std::filesystem::exists(file())) << "once more";
}

TEST_F(SavedMemory, is_not_left_by_a_kill) {
    start();
    fill();
    proxy->kill();
    std::ofstream(file() + ".new") << "a kill during the stop";
    start();
    EXPECT_FALSE(std::filesystem::exists(file() + ".new"));
    EXPECT_EQ(hits(), 0);
    proxy->stop();
    start();
    (void)read_text();
    proxy->kill();
    start();
    EXPECT_EQ(hits(), 0);
}

TEST_F(SavedMemory, brings_back_nothing_that_was_purged) {
    start();
    fill();
    EXPECT_EQ(Client(*proxy, origin).send("PURGE", path(1)).status(), 200);
    proxy->stop();
    start();
    EXPECT_EQ(Client(*proxy, origin).post(path(2), "change").status(), 200);
    origin.answer(path(3), fresh("newer"));
    EXPECT_THAT(Client(*proxy, origin).send("PURGE", path(3)).status(), AnyOf(200, 404)) << "it may not have been read yet";
    EXPECT_EQ(get(*proxy, origin, path(3)).body(), "newer");
    (void)read_text();
    EXPECT_FALSE(get(*proxy, origin, path(1)).hit());
    EXPECT_FALSE(get(*proxy, origin, path(2)).hit());
    EXPECT_EQ(get(*proxy, origin, path(3)).body(), "newer");
    EXPECT_TRUE(get(*proxy, origin, path(4)).hit());
}

TEST_F(SavedMemory, loses_only_what_is_damaged) {
    start();
    fill();
    proxy->stop();
    auto const whole = saved();
    ASSERT_GT(whole.size(), 100'000u);
    for (std::size_t const at : {std::size_t{0}, std::size_t{140}, whole.size() / 3, whole.size() - 100}) {
        auto damaged = whole;
        for (std::size_t i = at; i < std::min(at + 20, whole.size()); ++i) damaged[i] = static_cast<char>(~damaged[i]);
        write(damaged);
        start();
        (void)read_text();
        EXPECT_GE(hits(), count - 2) << at;
        proxy->kill();
    }
    write(whole.substr(0, whole.size() / 2));
    start();
    (void)read_text();
    auto const half = hits();
    EXPECT_GT(half, 5);
    EXPECT_LT(half, count);
    proxy->kill();
    write("no objects");
    start();
    EXPECT_TRUE(eventually([&] { return proxy->errors().find("no objects of this version") != std::string::npos; }));
    EXPECT_EQ(hits(), 0);
}

TEST_F(SavedMemory, that_cannot_be_removed_is_not_read) {
    std::filesystem::create_directory(dir.path("real"));
    std::filesystem::create_symlink(dir.path("real") / "target", file());
    std::ofstream(dir.path("real") / "target") << "x";
    start();
    EXPECT_TRUE(eventually([&] { return proxy->errors().find(file() + " is not read: ") != std::string::npos; }))
        << proxy->errors();
    EXPECT_EQ(hits(), 0);
    proxy->stop();
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(file()))) << "the link was replaced";
    EXPECT_EQ(std::filesystem::file_size(dir.path("real") / "target"), 1u);
}

TEST_F(SavedMemory, a_new_name_by_a_reload_is_used_at_the_stop) {
    start();
    fill();
    auto const other = (dir.path("") / "other").string();
    std::ofstream(other) << "an older file";
    proxy->reconfigure(R"({"memory": {"save": ")" + other + R"("}})");
    proxy->signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(other); })) << proxy->errors();
    proxy->stop();
    EXPECT_TRUE(std::filesystem::exists(other));
    EXPECT_FALSE(std::filesystem::exists(file()));
}

}   // namespace garner::test
