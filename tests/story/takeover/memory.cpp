// A takeover hands the objects in memory over: hits go on, and no removed object returns.
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
