// A takeover hands the objects in memory over: hits go on, and no removed object returns.
#include <sys/socket.h>

#include <cstdint>
#include <random>

#include "story/takeover/service.hpp"
#include "support/traffic.hpp"

namespace garner::test {

namespace {

constexpr int pages = 400;

std::string page(int number) { return "/" + std::to_string(number); }
std::string text(int number) {
    return "page " + std::to_string(number) + std::string(static_cast<std::size_t>(number % 20 == 0 ? 200'000 : 2'000), 'x');
}

struct MemoryTakeovers : ::testing::Test {
    MemoryTakeovers() {
        for (int i = 0; i < pages; ++i) origin.answer(page(i), fresh(text(i)));
    }
    void fill(Proxy const& proxy) {
        Client client(proxy, origin);
        for (int i = 0; i < pages; ++i) ASSERT_EQ(client.get(page(i)).body(), text(i));
        client.close();
    }
    static bool has_received(Service& service) {
        return eventually([&] { return service.errors().find(" in memory after ") != std::string::npos; });
    }
    static std::string patch(std::string const& more = "") { return R"({"deadlines": {"drain_idle": "1s"})" + more + "}"; }
    Origin origin;
    TempDir disk;
};

}   // namespace

TEST_F(MemoryTakeovers, hand_all_objects_over) {
    Service service(patch());
    fill(service.proxy());
    for (int rounds = 0; rounds < 2; ++rounds) {
        ASSERT_TRUE(service.take_over()) << service.refused();
        EXPECT_TRUE(has_received(service)) << service.errors();
        pause_for(500ms);
        Client client(service.proxy(), origin);
        for (int i = 0; i < pages; ++i) EXPECT_TRUE(client.get(page(i)).hit()) << i << service.errors();
        client.close();
        service.expect_former_to_end();
    }
    for (int i = 0; i < pages; ++i) EXPECT_EQ(origin.requests(page(i)), 1u) << i;
}

TEST_F(MemoryTakeovers, under_load_lose_few_hits) {
    Service service(patch());
    fill(service.proxy());
    Traffic traffic;
    for (int i = 0; i < 3; ++i)
        traffic.add("page", [&]() -> std::string {
            thread_local std::mt19937 random(std::random_device{}());
            auto const number = static_cast<int>(random() % pages);
            auto const reply = get(service.proxy(), origin, page(number));
            return reply.body() == text(number) ? "" : "other body: " + reply.trouble();
        });
    constexpr int takeovers = 3;
    for (int i = 0; i < takeovers; ++i) {
        ASSERT_TRUE(service.take_over()) << service.refused();
        pause_for(2s);
    }
    EXPECT_THAT(traffic.stop(), ElementsAre()) << service.errors();
    // In each takeover an object may be requested before it has arrived, and again where the old process has sent it off.
    for (int i = 0; i < pages; ++i) EXPECT_LE(origin.requests(page(i)), 1u + 2 * takeovers) << i << service.errors();
    service.expect_former_to_end();
}

TEST_F(MemoryTakeovers, bring_back_nothing_that_was_removed) {
    Service service(patch(R"(, "disk": {"path": ")" + disk.path("").string() + R"(", "size": "64 MiB"})"));
    auto& proxy = service.proxy();
    fill(proxy);
    EXPECT_EQ(Client(proxy, origin).send("PURGE", page(1)).status(), 200);
    ASSERT_TRUE(service.take_over()) << service.refused();
    EXPECT_THAT(Client(proxy, origin).send("PURGE", page(2)).status(), AnyOf(200, 404));
    origin.answer(page(3), fresh("newer"));
    EXPECT_EQ(get(proxy, origin, page(3), {{"Cache-Control", "no-cache"}}).body(), "newer");
    EXPECT_TRUE(has_received(service)) << service.errors();
    pause_for(500ms);
    EXPECT_FALSE(get(proxy, origin, page(1)).hit());
    EXPECT_FALSE(get(proxy, origin, page(2)).hit());
    EXPECT_EQ(get(proxy, origin, page(3)).body(), "newer");
    EXPECT_TRUE(get(proxy, origin, page(4)).hit());
}

TEST_F(MemoryTakeovers, that_are_undone_before_the_new_process_serves_keep_the_memory) {
    Service service(patch());
    fill(service.proxy());
    {
        auto hello = Partner::hello();
        hello["objects"] = true;
        Partner fresh(service.path());
        ASSERT_TRUE(fresh.send(hello));
        ASSERT_TRUE(fresh.until("sockets").is_object());
        ASSERT_TRUE(fresh.send({{"do", "ready"}}));
        ASSERT_TRUE(fresh.until("objects").is_object());
        ASSERT_TRUE(fresh.until("disk").is_object());
        pause_for(200ms);
    }
    EXPECT_TRUE(eventually([&] { return service.run({"reload"}).code == 0; }));
    Client client(service.proxy(), origin);
    for (int i = 0; i < pages; ++i) EXPECT_TRUE(client.get(page(i)).hit()) << i;
    client.close();
}

TEST_F(MemoryTakeovers, a_new_process_that_reads_no_objects_gets_the_place) {
    Service service(patch());
    fill(service.proxy());
    auto hello = Partner::hello();
    hello["objects"] = true;
    Partner fresh(service.path());
    ASSERT_TRUE(fresh.send(hello));
    ASSERT_TRUE(fresh.until("sockets").is_object());
    ASSERT_TRUE(fresh.send({{"do", "ready"}}));
    ASSERT_TRUE(fresh.until("disk").is_object());
    ASSERT_TRUE(fresh.send({{"do", "serving"}}));
    auto const go = fresh.until("go", 5s);
    ASSERT_TRUE(go.is_object()) << service.errors();
    fresh.end();
    EXPECT_TRUE(eventually([&] { return service.errors().find("this process goes on") != std::string::npos; }));
    EXPECT_EQ(get(service.proxy(), origin, page(1)).body(), text(1));
}

TEST_F(MemoryTakeovers, an_object_that_is_asked_for_comes_with_an_answer) {
    Service service(patch());
    fill(service.proxy());
    auto hello = Partner::hello();
    hello["objects"] = true;
    Partner fresh(service.path());
    ASSERT_TRUE(fresh.send(hello));
    ASSERT_TRUE(fresh.until("sockets").is_object());
    ASSERT_TRUE(fresh.send({{"do", "ready"}}));
    EXPECT_EQ(fresh.until("objects").value("wants", false), true);
    ASSERT_TRUE(fresh.until("disk").is_object());
    ASSERT_TRUE(fresh.send({{"do", "serving"}}));
    ASSERT_TRUE(fresh.until("go").is_object());
    int const stream = fresh.received().back();
    auto const key = "f" + origin.url(page(7)), unknown = "f" + origin.url("/none");
    for (auto const& wanted : {key, unknown}) {
        auto const size = static_cast<std::uint32_t>(wanted.size());
        auto const bytes = std::string(reinterpret_cast<char const*>(&size), sizeof size) + wanted;
        ASSERT_EQ(::send(stream, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    }
    std::string all;
    char some[65'536];
    for (ssize_t count; (count = ::recv(stream, some, sizeof some, 0)) > 0;) all.append(some, static_cast<std::size_t>(count));
    auto const times = [&all](std::string const& text) {
        int found = 0;
        for (auto at = all.find(text); at != all.npos; at = all.find(text, at + 1)) ++found;
        return found;
    };
    EXPECT_EQ(times(unknown), 1) << "the answer";
    EXPECT_GE(times(text(7)), 1);
    for (int i = 1; i < 20; ++i) EXPECT_GE(times(text(i)), 1) << i;
    fresh.end();
    EXPECT_TRUE(eventually([&] { return service.errors().find("this process goes on") != std::string::npos; }));
}

TEST_F(MemoryTakeovers, an_older_process_gets_no_objects) {
    Service service(patch());
    Partner fresh(service.path());
    ASSERT_TRUE(fresh.send(Partner::hello()));
    ASSERT_TRUE(fresh.until("sockets").is_object());
    ASSERT_TRUE(fresh.send({{"do", "ready"}}));
    EXPECT_EQ(fresh.receive().value("do", ""), "disk");
    fresh.end();
    EXPECT_TRUE(eventually([&] { return service.run({"reload"}).code == 0; }));
}

TEST_F(MemoryTakeovers, with_a_disk_that_cannot_be_opened_are_refused) {
    Service service(patch(R"(, "disk": {"path": ")" + disk.path("").string() + R"(", "size": "64 MiB"})"));
    fill(service.proxy());
    EXPECT_FALSE(service.take_over({"--set", "disk.path=" + (disk.path("") / "none" / "deeper").string()}));
    EXPECT_EQ(service.refused_code(), 1);
    EXPECT_THAT(service.refused(), HasSubstr("not started: disk.path: cannot open "));
    EXPECT_TRUE(eventually([&] { return service.run({"reload"}).code == 0; }));
    EXPECT_TRUE(eventually([&] { return service.proxy().stats()["disk"]["state"] == "working"; }));
    EXPECT_TRUE(get(service.proxy(), origin, page(1)).hit());
}

TEST_F(MemoryTakeovers, leave_no_file_of_memory_that_a_later_start_would_read) {
    auto const file = (disk.path("") / "memory").string();
    Service service(patch(R"(, "memory": {"save": ")" + file + R"("})"));
    fill(service.proxy());
    ASSERT_TRUE(service.take_over()) << service.refused();
    service.expect_former_to_end();
    EXPECT_FALSE(std::filesystem::exists(file)) << "the former process has not written it";
    service.current().signal(SIGTERM);
    EXPECT_EQ(service.current().exit_code(Millis{30'000}).value_or(-1), 0);
    EXPECT_TRUE(std::filesystem::exists(file));
}

}   // namespace garner::test
