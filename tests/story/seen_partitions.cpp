// Several `garner seen serve` that partition the hosts: routing of links,
// and answers if one of them hangs, dies or sends wrong answers.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "story/seen_scene.hpp"

namespace garner::test {
namespace {

/// Three processes that partition the hosts.
class Three {
public:
    Three() {
        for (auto& port : ports_) {
            port = free_port();
            (peers_ += peers_.empty() ? "127.0.0.1:" : ",127.0.0.1:") += std::to_string(port);
        }
        for (std::size_t i = 0; i < 3; ++i) start(i);
    }
    void start(std::size_t i, std::vector<std::string> more = {}) {
        std::vector<std::string> arguments{"--partition", std::to_string(i), "--of", "3", "--peers", peers_};
        arguments.insert(arguments.end(), more.begin(), more.end());
        services_[i] = std::make_unique<Service>(arguments, ports_[i]);
    }
    Service& operator[](std::size_t i) { return *services_[i]; }

    TempDir dir;

private:
    std::uint16_t ports_[3] = {};
    std::string peers_;
    std::unique_ptr<Service> services_[3];
};

TEST(SeenPartitions, three_processes_share_the_hosts_and_answer_as_one) {
    Three three;
    EXPECT_EQ(three[0].ask(urls(0, 3000) + "none\n" + urls(0, 10)), times(3000, "new") + "!no-scheme\n" + times(10, "seen"));
    EXPECT_EQ(three[1].ask(urls(0, 3000)), times(3000, "seen"));
    EXPECT_EQ(three[2].ask(urls(0, 3000, "/x") + urls(2000, 3001)), times(3000, "new") + times(1000, "seen") + "new\n");
    std::uint64_t entries = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        auto const stats = three[i].stats();
        entries += stats["set"]["entries"].get<std::uint64_t>();
        EXPECT_GT(stats["set"]["entries"], 1500) << "hosts are spread evenly";
    }
    EXPECT_EQ(entries, 6001u);

    // Known answers are not sent over the network again, and each link goes to one other process only.
    auto const before = three[0].stats()["partition"];
    EXPECT_EQ(three[0].ask(urls(0, 3000)), times(3000, "seen"));
    auto const after = three[0].stats()["partition"];
    EXPECT_EQ(after["others"], before["others"]);
    EXPECT_GT(after["kept_home"], 1500);
    for (std::size_t i = 0; i < 3; ++i) {
        std::uint64_t sent = 0;
        for (std::size_t j = 0; j < 3; ++j) {
            auto const stats = three[j].stats();
            for (auto const& other : stats["partition"]["others"])
                if (other["partition"] == i) sent += other["links"].get<std::uint64_t>();
        }
        EXPECT_EQ(three[i].stats()["partition"]["forwarded_links"], sent);
    }
    auto octets = three[0].client().post("/seen", std::string(8, 'x'), {{"Content-Type", "application/octet-stream"}});
    EXPECT_EQ(octets.status(), 400);
    EXPECT_THAT(octets.body(), HasSubstr("send URLs"));
}

TEST(SeenPartitions, the_links_of_a_killed_process_are_unreachable_until_it_is_back) {
    Three three;
    auto const of_one = [&] {
        // A URL on a host of the second process, which that process can be asked for directly.
        for (std::size_t i = 0;; ++i) {
            auto const before = three[1].stats()["set"]["entries"];
            three[1].ask("http://h" + std::to_string(i) + ".example/probe");
            if (three[1].stats()["set"]["entries"] != before) return i;
        }
    }();
    auto const url = "http://h" + std::to_string(of_one) + ".example/";
    three[1].kill();
    auto const answers = lines(three[0].ask(url + "\n" + urls(10'000, 10'300) + url + "\n"));
    ASSERT_EQ(answers.size(), 302u);
    EXPECT_EQ(answers.front(), "!partition 1 unreachable");
    EXPECT_EQ(answers.back(), "!partition 1 unreachable");
    auto const count = [&](std::string const& word) { return std::ranges::count(answers, word); };
    EXPECT_GT(count("new"), 100);
    EXPECT_EQ(count("new") + count("!partition 1 unreachable"), 302);
    EXPECT_FALSE(three[0].stats()["partition"]["others"][0]["up"].get<bool>());
    EXPECT_THAT(three[0].client().get("/metrics").body(), HasSubstr("garner_seen_partition_up{partition=\"1\"} 0\n"));

    three.start(1);
    auto const again = lines(three[0].ask(url + "\n" + urls(10'000, 10'300) + url + "\n"));
    EXPECT_EQ(again.front(), "new") << "a question without a reply does not make a URL seen";
    EXPECT_EQ(again.back(), "seen");
    for (std::size_t i = 1; i < answers.size() - 1; ++i) EXPECT_EQ(again[i], answers[i] == "new" ? "seen" : "new") << i;
    EXPECT_TRUE(three[0].stats()["partition"]["others"][0]["up"].get<bool>());
}

TEST(SeenPartitions, a_process_told_otherwise_is_not_asked) {
    auto const port = free_port(), other = free_port();
    auto const peers = "127.0.0.1:" + std::to_string(port) + ",127.0.0.1:" + std::to_string(other);
    Service one({"--partition", "0", "--of", "2", "--peers", peers}, port);
    Service two({"--partition", "1", "--of", "2", "--peers", peers, "--layers", "www-strip"}, other);
    auto const answers = lines(one.ask(urls(0, 50)));
    EXPECT_GT(std::ranges::count(answers, "!partition 1 unreachable"), 5);
    EXPECT_THAT(one.stats()["partition"]["others"][0]["trouble"].get<std::string>(),
                HasSubstr("421 This is partition 1/2 www-strip, not 1/2"));
}

TEST(SeenPartitions, a_partition_that_hangs_holds_no_batch_up_longer_than_it_is_told) {
    auto const port = free_port();
    auto const listening = listen_on("127.0.0.1");   // accepts connections and requests, and answers none
    auto const peers = "127.0.0.1:" + std::to_string(port) + ",127.0.0.1:" + std::to_string(listening.port);
    Service one({"--partition", "0", "--of", "2", "--peers", peers, "--peer-answer", "1s"}, port);
    auto const begun = std::chrono::steady_clock::now();
    // Several requests at once: a request queued behind another has no more time than its own.
    std::atomic<std::size_t> fresh = 0, unreachable = 0;
    std::vector<std::thread> crawlers;
    for (std::size_t crawler = 0; crawler < 4; ++crawler)
        crawlers.emplace_back([&, crawler] {
            for (auto const& answer : lines(one.ask(urls(100 * crawler, 100 * crawler + 100))))
                ++(answer == "new" ? fresh : unreachable);
        });
    for (auto& crawler : crawlers) crawler.join();
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds{40})
        << "the timeouts must not add up to three minutes";
    EXPECT_EQ(fresh + unreachable, 400u);
    EXPECT_GT(fresh, 100u);
    EXPECT_GT(unreachable, 100u);
    EXPECT_EQ(one.stats()["unreachable"], unreachable.load());
    EXPECT_EQ(one.stats()["partition"]["others"][0]["waiting_links"], 0);
    ::close(listening.fd);
}

TEST(SeenPartitions, a_partition_that_freezes_costs_one_short_wait_and_is_asked_again_when_it_goes_on) {
    Three three;
    three[0].ask(urls(0, 300));
    three[1].child().signal(SIGSTOP);
    using Clock = std::chrono::steady_clock;
    auto const begun = Clock::now();
    auto const answers = lines(three[0].ask(urls(1000, 1300)));
    EXPECT_GT(std::ranges::count(answers, "!partition 1 unreachable"), 30);
    EXPECT_LT(Clock::now() - begun, std::chrono::seconds{6}) << "not 20 s";
    auto const later = Clock::now();
    for (std::size_t i = 0; i < 5; ++i) {
        auto const some = lines(three[0].ask(urls(2000 + 100 * i, 2100 + 100 * i)));
        EXPECT_GT(std::ranges::count(some, "!partition 1 unreachable"), 5);
    }
    EXPECT_LT(Clock::now() - later, std::chrono::seconds{3}) << "it is known to be silent";
    auto const other = three[0].stats()["partition"]["others"][0];
    EXPECT_FALSE(other["up"].get<bool>());
    EXPECT_THAT(other["trouble"].get<std::string>(), HasSubstr("does not reply"));
    EXPECT_THAT(three[0].stats()["health"].get<std::string>(), StartsWith("Trouble: partition 1 at "));

    three[1].child().signal(SIGCONT);
    EXPECT_TRUE(eventually([&] { return three[0].stats()["partition"]["others"][0]["up"].get<bool>(); })) << "no batch is needed";
    auto const again = lines(three[0].ask(urls(1000, 1300)));
    for (std::size_t i = 0; i < again.size(); ++i) EXPECT_EQ(again[i], answers[i] == "new" ? "seen" : "new") << i;
}

/// Another partition that remembers all links, and sometimes answers after the timeout.
class SlowPartition {
public:
    SlowPartition() : listening_(listen_on("127.0.0.1")), thread_([this] { run(); }) {}
    ~SlowPartition() {
        over_ = true;
        ::shutdown(listening_.fd, SHUT_RDWR);
        thread_.join();
        for (auto& one : conversations_) one.join();
        ::close(listening_.fd);
    }
    std::uint16_t port() const { return listening_.port; }

private:
    void run() {
        for (int fd = 0; (fd = ::accept(listening_.fd, nullptr, nullptr)) >= 0;)
            conversations_.emplace_back([this, fd] {
                Wire wire(fd);
                while (!over_ && answer(wire)) {
                }
            });
    }
    bool answer(Wire& wire) {
        std::optional<Head> head;
        while (!(head = take_head(wire.buffer())))
            if (wire.receive(Millis{100}) != Wire::Read::data && (over_ || wire.peer_closed())) return false;
        if (!head->has("Content-Length")) return wire.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");   // a sign of life
        auto const size = std::stoul(head->field("Content-Length"));
        auto const links = wire.take(size);
        std::string answers;
        {
            std::lock_guard const lock(mutex_);
            for (std::size_t at = 0; at + 8 <= links.size(); at += 8)
                answers += seen_.insert(links.substr(at, 8)).second ? '\1' : '\0';
        }
        // Milliseconds: above the timeout, close to it, and within it for some of the links that are sent together.
        constexpr int delays[]{0, 200, 200, 200, 200, 200, 450, 300};
        int const question = questions_++;
        if (question < 40) pause_for(Millis{delays[question % 8]});
        return wire.send("HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: " +
                         std::to_string(answers.size()) + "\r\n\r\n" + answers);
    }

    std::mutex mutex_;
    std::set<std::string> seen_;
    std::atomic<int> questions_ = 0;
    std::vector<std::thread> conversations_;
    std::atomic<bool> over_ = false;
    Listening listening_;
    std::thread thread_;
};

TEST(SeenPartitions, what_a_partition_answers_too_late_is_lost_for_nobody) {
    SlowPartition slow;
    auto const port = free_port();
    auto const peers = "127.0.0.1:" + std::to_string(port) + ",127.0.0.1:" + std::to_string(slow.port());
    Service one({"--partition", "0", "--of", "2", "--peers", peers, "--peer-answer", "300ms"}, port);
    // Each crawler repeats its own URLs until they are answered: each must be new then, whatever happened to earlier requests.
    std::vector<std::thread> crawlers;
    for (std::size_t crawler = 0; crawler < 4; ++crawler)
        crawlers.emplace_back([&, crawler] {
            for (std::size_t batch = 0; batch < 4; ++batch) {
                auto left = lines(urls(1000 * crawler + 20 * batch, 1000 * crawler + 20 * batch + 20));
                for (int round = 0; !left.empty() && round < 100; ++round) {
                    std::string asked;
                    for (auto const& url : left) asked += url + "\n";
                    pause_for(Millis{(70 * crawler + 40 * static_cast<std::size_t>(round)) % 200});   // spreads the requests
                    auto const answers = lines(one.ask(asked));
                    ASSERT_EQ(answers.size(), left.size());
                    std::vector<std::string> again;
                    for (std::size_t i = 0; i < left.size(); ++i) {
                        if (answers[i] == "!partition 1 unreachable")
                            again.push_back(left[i]);
                        else
                            EXPECT_EQ(answers[i], "new") << left[i] << " in round " << round;
                    }
                    left = again;
                }
                EXPECT_TRUE(left.empty());
            }
        });
    for (auto& crawler : crawlers) crawler.join();
    auto const other = one.stats()["partition"]["others"][0];
    EXPECT_EQ(other["waiting_links"], 0);
    EXPECT_EQ(other["unsure"], 0) << "each link was reported as new to some crawler";
}

TEST(SeenPartitions, what_a_partition_does_not_promise_to_keep_is_said_link_by_link) {
    TempDir dir;
    Three three;
    three[0].stop(), three[2].stop();
    three.start(0, {"--path", dir.path("0").string()});
    three.start(2, {"--path", dir.path("2").string()});   // the second keeps its set in memory
    EXPECT_EQ(three[1].client().post("/seen?durable=1", "http://a.example/\n", {{"Content-Type", "text/plain"}}).status(), 400);

    auto const answers = lines(three[0].ask(urls(0, 300), "?durable=1"));
    auto const first = static_cast<std::size_t>(std::ranges::find(answers, "!not-durable") - answers.begin());
    auto const count = [&](std::string const& word) { return std::ranges::count(answers, word); };
    EXPECT_GT(count("!not-durable"), 30);
    EXPECT_GT(count("new"), 100);
    EXPECT_EQ(count("!not-durable") + count("new"), 300);
    EXPECT_EQ(three[1].stats()["set"]["entries"], count("!not-durable"));
    EXPECT_EQ(three[0].stats()["not_durable"], count("!not-durable"));
    ASSERT_LT(first, answers.size());
    EXPECT_EQ(three[0].ask(urls(first, first + 1)), "seen\n") << "the first reply was new";

    // A cached answer to a request that was not durable does not answer a durable one.
    auto const asked = [&] { return three[0].stats()["partition"]["others"][1]["links"].get<int>(); };
    three[0].ask(urls(1000, 1100));
    auto const before = asked();
    three[0].ask(urls(1000, 1100));
    EXPECT_EQ(asked(), before);
    EXPECT_THAT(three[0].ask(urls(1000, 1100), "?durable=1"), Not(HasSubstr("new")));
    EXPECT_GT(asked(), before);
}

TEST(SeenPartitions, an_answer_that_was_lost_makes_a_url_new_again_rather_than_lost) {
    // The other process takes a batch and dies before it answers: simulated twice by closing the connection.
    auto const port = free_port();
    auto const listening = listen_on("127.0.0.1");
    auto const peers = "127.0.0.1:" + std::to_string(port) + ",127.0.0.1:" + std::to_string(listening.port);
    Service one({"--partition", "0", "--of", "2", "--peers", peers}, port);
    std::atomic<int> questions = 0;
    std::thread actor([&] {
        for (int i = 0; i < 3; ++i) {
            Wire wire(::accept(listening.fd, nullptr, nullptr));
            std::optional<Head> head;
            while (!(head = take_head(wire.buffer()))) wire.receive();
            auto const size = std::stoul(head->field("Content-Length"));
            wire.take(size);
            ++questions;
            if (i < 2) continue;   // closes the connection
            auto const count = std::to_string(size / 8);
            wire.send("HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: " + count + "\r\n\r\n" +
                      std::string(size / 8, '\0'));
            wire.receive(Millis{100});
        }
    });
    auto const answers = lines(one.ask(urls(0, 40)));
    actor.join();
    ::close(listening.fd);
    EXPECT_EQ(questions, 3);
    EXPECT_EQ(std::ranges::count(answers, "new"), 40) << "the other process answers seen because of the lost batches";
    EXPECT_EQ(one.stats()["partition"]["others"][0]["unsure"], 0);
}

}   // namespace
}   // namespace garner::test
