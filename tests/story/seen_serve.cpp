// `garner seen serve` from a crawler's view: batches, answers in order, kills, overload, bad input.
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "story/seen_scene.hpp"
#include "support/hosts.hpp"
#include "support/places.hpp"
#include "support/redis.hpp"

namespace garner::test {
namespace {

Finished serve(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {garner_binary(), "seen", "serve"});
    return run(arguments);
}

TEST(SeenServe, answers_in_order_which_are_new) {
    Service service;
    EXPECT_EQ(service.ask("http://a.example/\nHTTP://A.example:80/#top\nhttp://b.example/\n"), "new\nseen\nnew\n");
    EXPECT_EQ(service.ask("http://b.example/\nhttp://c.example/\n"), "seen\nnew\n");
    auto stats = service.stats();
    EXPECT_EQ(stats["links"], 5);
    EXPECT_EQ(stats["new"], 3);
    EXPECT_EQ(stats["set"]["entries"], 3);
    EXPECT_GT(stats["set"]["cache_hit_share"], .3);
    EXPECT_THAT(service.client().get("/metrics").body(), HasSubstr("garner_seen_links_total{answer=\"new\"} 3\n"));
}

TEST(SeenServe, takes_lines_lists_and_fingerprints_on_one_connection) {
    Service service;
    auto client = service.client();
    auto list = client.post("/seen", R"(["http://a.example/", 7, "http:\/\/a.example"])", {{"Content-Type", "application/json"}});
    EXPECT_EQ(list.field("Content-Type"), "application/json");
    EXPECT_EQ(json::parse(list.body()), json({"new", "!not-text", "seen"}));
    auto octets = client.post("/seen", std::string(16, 'x') + "12345678", {{"Content-Type", "application/octet-stream"}});
    EXPECT_EQ(octets.body(), std::string("\1\0\1", 3));
    auto asked =
        client.post("/seen", "http://a.example/\nnone\n", {{"Content-Type", "text/plain"}, {"Accept", "application/octet-stream"}});
    EXPECT_EQ(asked.body(), std::string("\0\2", 2));
    EXPECT_EQ(client.post("/seen", "", {{"Content-Type", "text/plain"}}).body(), "");
    auto chunked = client.begin("POST", "/seen", {{"Transfer-Encoding", "chunked"}});
    client.raw(chunk("http://a.exam"));
    client.raw(chunk("ple/\nhttp://new.example/"));
    client.raw("0\r\n\r\n");
    EXPECT_EQ(chunked.body(), "seen\nnew\n");
    EXPECT_EQ(client.connections(), 1);
}

TEST(SeenServe, bad_links_are_named_and_counted_and_the_batch_goes_on) {
    Service service;
    auto const body = "\n" + std::string(3 << 20, 'a') + "\nmailto:a@b\n" + std::string("\xff\x00\x01\xfe", 4) +
                      "\nhttp://[::1\nhttp://a.example/\nhttp://a.example:99999/\nhttp://a.example/";
    EXPECT_EQ(service.ask(body), "!empty\n!too-long\n!other-scheme\n!no-scheme\n!bad-ipv6\nnew\n!port-too-large\nseen\n");
    auto const refused = service.stats()["refused"];
    EXPECT_EQ(refused,
              json::parse(R"({"empty": 1, "too-long": 1, "other-scheme": 1, "no-scheme": 1, "bad-ipv6": 1, "port-too-large": 1})"));
}

TEST(SeenServe, says_what_it_does_not_take) {
    Service service({"--batch", "3", "--body", "100KiB"});
    struct Case {
        char const *method, *target;
        std::string body;
        Fields fields;
        int status;
        char const* says;
    };
    Fields const text{{"Content-Type", "text/plain"}}, list{{"Content-Type", "application/json"}};
    Case const cases[]{
        {"POST", "/seen", "http://a.example/\nb\nc\nd\n", text, 413, "at most 3 links"},
        {"POST", "/seen", std::string(200'000, 'a'), text, 413, "body"},
        {"POST", "/seen", "[\"a\"", list, 400, "truncated"},
        {"POST", "/seen", "123", {{"Content-Type", "application/octet-stream"}}, 400, "8 bytes"},
        {"POST", "/seen", "a", {{"Content-Type", "image/png"}}, 415, "text/plain"},
        {"POST", "/seen", "a", {{"Content-Type", "text/plain"}, {"Content-Encoding", "gzip"}}, 415, "Content-Encoding"},
        {"POST", "/seen?durable=1", "a", text, 400, "directory"},
        {"POST", "/seen?fast=1", "a", text, 400, "durable=1"},
        {"POST", "/seen", "a", {{"Content-Type", "text/plain"}, {"Origin", "http://evil.example"}}, 403, "Web pages"},
        {"POST", "/seen", "a", {{"Content-Type", "text/plain"}, {"Garner-Seen-Partition", "1/2"}}, 421, "partition"},
        {"POST", "/seen", "a", {{"Content-Type", "text/plain"}, {"Expect", "a miracle"}}, 417, "100-continue"},
        {"GET", "/seen", "", {}, 405, "POST"},
        {"DELETE", "/seen/stats", "", {}, 405, "GET"},
        {"GET", "/nowhere", "", {}, 404, "POST /seen"},
        {"GET", "/seen/stats", "", {{"Host", "rebound.example"}}, 421, "IP address"},
    };
    for (auto const& each : cases) {
        auto reply = service.client().send(each.method, each.target, each.fields, each.body);
        EXPECT_EQ(reply.status(), each.status) << each.says << reply.trouble();
        EXPECT_THAT(reply.body(), HasSubstr(each.says));
    }
    EXPECT_EQ(service.ask("http://a.example/\n"), "new\n") << "a refused batch adds nothing to the set";
    auto unframed = service.client();
    auto reply = unframed.begin("POST", "/seen", {{"Transfer-Encoding", "gzip, chunked"}});
    EXPECT_EQ(reply.status(), 400);
    auto const absolute = "http://" + service.place() + "/seen";
    EXPECT_EQ(service.client().post(absolute, "http://a.example/\n", text).body(), "seen\n");
    auto rebound = service.client().post("http://rebound.example/seen", "http://a.example/\n", text);
    EXPECT_EQ(rebound.status(), 421);
    EXPECT_EQ(service.stats()["too_large"], 2);
}

TEST(SeenServe, what_stands_between_chunks_is_not_gathered_for_ever) {
    Service service;
    for (auto const* begin : {"5;x=", "000000", "1\r\na\r\n0\r\nTrailer: "}) {
        auto client = service.client();
        auto reply = client.begin("POST", "/seen", {{"Transfer-Encoding", "chunked"}});
        client.raw(begin + std::string(500'000, '0'));
        EXPECT_EQ(reply.status(), 400) << begin;
        EXPECT_THAT(reply.body(), HasSubstr("too long")) << begin;
    }
    EXPECT_EQ(service.ask("http://a.example/\n"), "new\n");
}

TEST(SeenServe, nothing_is_durable_in_a_directory_that_is_gone) {
    for (auto const* kind : {"runs", "mercator-file"}) {
        TempDir dir;
        auto const set = dir.path("set");
        Service service({"--path", set.string(), "--set", kind});
        EXPECT_EQ(service.ask("http://a.example/\n", "?durable=1"), "new\n");
        std::filesystem::remove_all(set);
        auto reply = service.client().post("/seen?durable=1", "http://b.example/\n", {{"Content-Type", "text/plain"}});
        EXPECT_NE(reply.body(), "new\n") << kind;
        EXPECT_TRUE(eventually([&] { return service.child().errors().find(set.string()) != std::string::npos; })) << kind;
        service.kill();   // a normal stop would exit with 1 and log the error again
    }
}

TEST(SeenServe, a_large_batch_of_curl_waits_for_its_hundred) {
    Service service;
    auto client = service.client();
    auto const body = urls(0, 50'000);
    auto reply = client.begin("POST", "/seen", {{"Expect", "100-continue"}, {"Content-Length", std::to_string(body.size())}});
    ASSERT_TRUE(eventually([&] { return client.wire().receive(Millis{50}) == Wire::Read::data; }));
    EXPECT_THAT(client.wire().buffer(), StartsWith("HTTP/1.1 100 "));
    client.raw(body);
    EXPECT_EQ(reply.status(), 200);
    EXPECT_EQ(reply.body(), times(50'000, "new"));
}

TEST(SeenServe, many_crawlers_at_once_get_each_url_as_new_once) {
    Service service;
    std::atomic<std::size_t> fresh = 0;
    std::vector<std::thread> crawlers;
    for (int crawler = 0; crawler < 6; ++crawler)
        crawlers.emplace_back([&, crawler] {
            for (std::size_t i = 0; i < 5; ++i) {
                auto const from = (i + static_cast<std::size_t>(crawler)) % 5 * 1000;
                auto const answers = lines(service.ask(urls(from, from + 1500)));
                fresh += static_cast<std::size_t>(std::ranges::count(answers, "new"));
            }
        });
    for (auto& crawler : crawlers) crawler.join();
    EXPECT_EQ(fresh, 5500u);
}

TEST(SeenServe, what_was_answered_durable_survives_a_kill) {
    TempDir dir;
    std::size_t const rounds = 5;
    std::size_t asked = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
        Service service({"--path", dir.path("set").string()});
        if (asked > 0) EXPECT_EQ(service.ask(urls(0, asked)), times(asked, "seen"));
        // Killed while it processes another batch: only answered links count.
        EXPECT_EQ(service.ask(urls(asked, asked + 3000), "?durable=1"), times(3000, "new"));
        asked += 3000;
        auto busy = service.client();
        busy.begin("POST", "/seen", {{"Content-Length", "1000000"}});
        busy.raw(urls(1'000'000, 1'002'000));
        service.kill();
    }
    Service service({"--path", dir.path("set").string()});
    EXPECT_EQ(service.ask(urls(0, asked + 1)), times(asked, "seen") + "new\n");
    EXPECT_EQ(service.stats()["set"]["kind"], "runs");
}

TEST(SeenServe, a_directory_keeps_to_its_kind_and_its_layers) {
    TempDir dir;
    auto const set = dir.path("a/b/set").string();
    { Service service({"--path", set, "--layers", "www-strip"}); }
    auto done = serve({"--listen", "127.0.0.1:" + std::to_string(free_port()), "--path", set});
    EXPECT_EQ(done.code, 1);
    EXPECT_THAT(done.errors, HasSubstr("holds URLs with the layers www-strip, not with no layers"));
    done = serve(
        {"--listen", "127.0.0.1:" + std::to_string(free_port()), "--path", set, "--layers", "www-strip", "--set", "mercator-file"});
    EXPECT_THAT(done.errors, HasSubstr("holds a set runs, not mercator-file"));
    Service again({"--path", set, "--layers", "www-strip"});
}

TEST(SeenServe, warns_of_a_cache_that_may_lose_urls) {
    EXPECT_THAT(Service({"--cache", "sbfl"}).child().errors(),
                HasSubstr("the cache sbfl in front of the URL set has false positives"));
    EXPECT_THAT(Service({"--cache", "scatter"}).child().errors(), Not(HasSubstr("has false positives")));
}

TEST(SeenServe, in_redis_nothing_is_durable_unless_its_nodes_write_it_down) {
    NEEDS("redis-server");
    RedisServer redis;
    std::string const set = "redis:127.0.0.1:" + std::to_string(redis.port());
    for (bool const lasts : {false, true}) {
        if (lasts)
            for (auto const& [name, value] : {std::pair{"appendonly", "yes"}, {"appendfsync", "always"}})
                redis.tell({"CONFIG", "SET", name, value});
        Service service({"--set", set + ",prefix=" + (lasts ? "a:" : "b:")});
        auto reply = service.client().post("/seen?durable=1", "http://a.example/\n", {{"Content-Type", "text/plain"}});
        EXPECT_EQ(reply.status(), lasts ? 200 : 400);
        EXPECT_THAT(reply.body(), HasSubstr(lasts ? "new\n" : "its appendonly is no, not yes"));
        EXPECT_EQ(service.ask("http://a.example/\n"), lasts ? "seen\n" : "new\n");
    }
}

TEST(SeenServe, says_that_redis_has_lost_the_set) {
    NEEDS("redis-server");
    RedisServer redis;
    Service service({"--set", "redis:" + redis.endpoint(), "--cache", "none", "--expected", "100000"});
    EXPECT_EQ(service.ask(urls(0, 1000)), times(1000, "new"));
    EXPECT_EQ(service.stats()["set"]["losses"], 0);
    EXPECT_EQ(service.stats()["health"], "OK: no problem is known.");
    redis.restart_empty();
    EXPECT_EQ(service.ask(urls(0, 1000)), times(1000, "new"));
    EXPECT_TRUE(service.child().says("URL set: redis: the cluster has lost URLs"));
    auto const set = service.stats()["set"];
    EXPECT_EQ(set["losses"], 1);
    EXPECT_EQ(set["faults"], 1);
    EXPECT_THAT(service.stats()["health"].get<std::string>(), StartsWith("Trouble: the set has lost URLs"));
    EXPECT_THAT(set["last_fault"].get<std::string>(), HasSubstr("has lost URLs"));
    EXPECT_EQ(service.ask(urls(0, 1000)), times(1000, "seen"));
}

TEST(SeenServe, finishes_what_it_has_begun_when_it_is_told_to_stop) {
    TempDir dir;
    {
        Service service({"--path", dir.path("set").string()});
        auto idle = service.client();
        EXPECT_EQ(idle.get("/seen/stats").status(), 200);
        auto client = service.client();
        auto const body = urls(0, 20'000);
        auto reply = client.begin("POST", "/seen", {{"Content-Length", std::to_string(body.size())}});
        client.raw(body.substr(0, body.size() / 2));
        pause_for(Millis{100});
        service.child().signal(SIGTERM);
        EXPECT_TRUE(idle.closed_by_proxy());
        client.raw(body.substr(body.size() / 2));
        EXPECT_EQ(reply.body(), times(20'000, "new"));
        EXPECT_EQ(reply.field("Connection"), "close");
    }
    Service again({"--path", dir.path("set").string()});
    EXPECT_EQ(again.ask(urls(0, 20'000)), times(20'000, "seen"));
}

TEST(SeenServe, says_when_it_has_too_much_to_do_and_takes_nothing_then) {
    Service service({"--waiting", "1"});   // in addition to the one being answered
    constexpr std::size_t all = 20'000;
    std::atomic<int> refused = 0;
    std::atomic<std::size_t> fresh = 0;
    auto const crawl = [&](std::string const& body) {
        auto reply = service.client().post("/seen", body, {{"Content-Type", "text/plain"}});
        if (reply.status() == 503) {
            ++refused;
            EXPECT_EQ(reply.field("Retry-After"), "1");
        } else {
            fresh += static_cast<std::size_t>(std::ranges::count(lines(reply.body()), "new"));
        }
    };
    // Small requests are read while the large one is answered.
    std::vector<std::thread> crawlers;
    for (std::size_t crawler = 0; crawler < 8; ++crawler)
        crawlers.emplace_back([&, body = crawler == 0 ? urls(0, all) : urls(crawler, crawler + 1)] {
            for (int round = 0; round < 1'000 && refused < 3; ++round) crawl(body);
        });
    for (auto& crawler : crawlers) crawler.join();
    EXPECT_GE(refused, 1);
    EXPECT_GE(service.stats()["overloads"], 1);
    crawl(urls(0, all));
    EXPECT_EQ(fresh, all);
}

TEST(SeenServe, tells_what_keeps_it_from_starting) {
    TempDir dir;
    Service service({"--path", dir.path("set").string()});
    struct Case {
        std::vector<std::string> arguments;
        int code;
        char const* says;
    };
    auto const free = "127.0.0.1:" + std::to_string(free_port());
    Case const cases[]{
        {{"--listen", service.place()}, 1, "Address already in use"},
        {{"--listen", free, "--path", dir.path("set").string()}, 1, "in use by another process"},
        {{"--listen", free, "--path", dir.write("file", "x")}, 1, "file"},
        {{"--listen", "0.0.0.0:1234"}, 2, "no network is allowed"},
        {{"--listen", "example.org:80"}, 2, "no IP address"},
        {{"--listen", "127.0.0.1"}, 2, "no address and port"},
        {{"--allow", "10.0.0.1/8"}, 2, "no network"},
        {{"--layers", "sort"}, 2, "\"sort\""},
        {{"--set", "trie"}, 2, "no set \"trie\"; valid sets: lines"},
        {{"--set", "runs"}, 2, "give its directory"},
        {{"--set", "lines", "--path", "x"}, 2, "is kept in memory"},
        {{"--cache", "min"}, 2, "needs future requests"},
        {{"--memory", "1KiB"}, 2, "at least 16 MiB"},
        {{"--listen", free, "--expected", "2000000000"}, 1, "for 2000000000 entries, more than the memory of 1 GiB"},
        {{"--listen", free, "--set", "mercator-file", "--path", dir.path("set").string()}, 1, "in use by another process"},
        {{"--listen", free, "--set", "redis"}, 1, "write redis:HOST:PORT"},
        {{"--set", "redis:127.0.0.1:1", "--path", "x"}, 2, "is stored in Redis"},
        {{"--peer-answer", "20"}, 2, "not a time from 100ms to 10m"},
        {{"--partition", "1"}, 2, "together"},
        {{"--partition", "3", "--of", "3", "--peers", "a:1,b:1,c:1"}, 2, "count from 0"},
        {{"--partition", "1", "--of", "3", "--peers", "a:1,b:1"}, 2, "name all of them"},
        {{"--frobnicate"}, 2, "unknown option --frobnicate"},
        {{"--help"}, 0, ""},
    };
    for (auto const& each : cases) {
        auto done = serve(each.arguments);
        EXPECT_EQ(done.code, each.code) << each.says << "\n" << done.errors;
        EXPECT_THAT(done.errors, HasSubstr(each.says));
    }
}

TEST(SeenServe, others_are_answered_only_when_they_are_allowed) {
    NEEDS_HOSTS();
    Network network;
    auto& server = network.add_host();
    auto& crawler = network.add_host();
    for (std::string const allowed : {"10.9.0.0/24", "10.8.0.0/24"}) {
        auto const port = std::to_string(free_port());
        auto child = server.run([&] {
            return std::make_unique<Child>(std::vector<std::string>{garner_binary(), "seen", "serve", "--listen",
                                                                    server.address() + ":" + port, "--allow", allowed});
        });
        ASSERT_TRUE(eventually([&] { return child->errors().find("listens on") != std::string::npos; })) << child->errors();
        crawler.run([&] {
            Client client(server.address(), static_cast<std::uint16_t>(std::stoi(port)));
            auto reply = client.post("/seen", "http://a.example/\n", {{"Content-Type", "text/plain"}});
            EXPECT_EQ(reply.status(), allowed == "10.9.0.0/24" ? 200 : 403) << reply.trouble();
            reply.body();
        });
    }
}

TEST(SeenServe, is_asked_by_the_python_client_as_scrapy_does) {
    NEEDS("python3");
    Service service;
    TempDir dir;
    auto const script = dir.write("ask.py", R"(
import sys, types
sys.path.insert(0, sys.argv[1])
from seen_scrapy import Seen, SeenFilter
seen = Seen(sys.argv[2])
print(seen.ask(["http://a.example/", "http://A.example", "none", "http://b.example/\u00e9"]))
print(seen.ask("http://h%d.example/" % i for i in range(20000)).count("new"))
crawler = types.SimpleNamespace(settings={"GARNER_SEEN": sys.argv[2]})
dupes = SeenFilter.from_crawler(crawler)
dupes.open()
for method, url in ("GET", "http://a.example/"), ("POST", "http://a.example/"), ("GET", "http://c.example/"), ("GET", "http://c.example/#x"):
    print(dupes.request_seen(types.SimpleNamespace(method=method, url=url)), end=" ")
dupes.close("finished")
)");
    auto const done = run({"python3", script, source("docs/guides"), service.place()});
    EXPECT_EQ(done.code, 0) << done.errors;
    EXPECT_EQ(done.output, "['new', 'seen', '!no-scheme', 'new']\n20000\nTrue False False True ");
}

TEST(SeenServe, the_python_client_loses_no_page_to_timeouts_restarts_and_faults) {
    NEEDS("python3");
    auto const listening = listen_on("127.0.0.1");
    std::thread actor([&] {
        // First closes the connection after the batch, then stays silent, then
        // refuses, then answers like a server that already has the batch.
        for (int i = 0; i < 4; ++i) {
            Wire wire(::accept(listening.fd, nullptr, nullptr));
            std::optional<Head> head;
            while (!(head = take_head(wire.buffer()))) wire.receive();
            wire.take(std::stoul(head->field("Content-Length")));
            if (i == 1) wire.receive(Millis{60'000});   // until the client times out
            std::string const list = R"(["seen","seen"])";
            if (i == 2) wire.send("HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            if (i == 3) wire.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(list.size()) + "\r\n\r\n" + list);
            if (i == 3) wire.receive(Millis{60'000});
        }
        ::close(listening.fd);
    });
    TempDir dir;
    auto const script = dir.write("ask.py", R"(
import sys
sys.path.insert(0, sys.argv[1])
from seen_scrapy import Seen
seen = Seen(sys.argv[2], timeout=1, patience=60)
print(seen.ask(["http://a.example/", "http://a.example/"]))
seen.connection.close()
print(Seen(sys.argv[3], patience=0.5).ask(["http://a.example/"] * 2))
)");
    auto const nobody = "127.0.0.1:" + std::to_string(free_port());
    auto const done = run({"python3", script, source("docs/guides"), "127.0.0.1:" + std::to_string(listening.port), nobody});
    actor.join();
    EXPECT_EQ(done.code, 0) << done.errors;
    EXPECT_EQ(done.output, "['new', 'seen']\n['!not-known', '!not-known']\n")
        << "the URL may have been new when it was first asked for";
}

TEST(SeenServe, is_a_part_of_the_proxy_when_it_has_an_address) {
    auto const port = free_port();
    TempDir dir;
    auto const patch = json{{"seen",
                             {{"address", "127.0.0.1:" + std::to_string(port)},
                              {"path", dir.path("set").string()},
                              {"layers", "www-strip"},
                              {"peer_timeout", "5s"}}}}
                           .dump();
    auto const told = "URL-seen service: http://127.0.0.1:" + std::to_string(port) + "/";
    auto const expect_told = [&](Proxy& proxy) {
        EXPECT_TRUE(eventually([&] { return proxy.child().errors().find(told) != std::string::npos; }));
    };
    {
        Proxy proxy(patch);
        expect_told(proxy);
        auto reply = Client("127.0.0.1", port)
                         .post("/seen?durable=1", "http://www.a.example/\nhttp://a.example/\n", {{"Content-Type", "text/plain"}});
        EXPECT_EQ(reply.body(), "new\nseen\n");
        // The service is blocked through the proxy, although its tests may reach loopback.
        EXPECT_EQ(Client(proxy).get("http://127.0.0.1:" + std::to_string(port) + "/seen/stats").status(), 403);
    }
    Proxy again(patch);
    expect_told(again);
    auto reply = Client("127.0.0.1", port).post("/seen", "http://a.example/\n", {{"Content-Type", "text/plain"}});
    EXPECT_EQ(reply.body(), "seen\n");
}

}   // namespace
}   // namespace garner::test
