// Either process of a takeover is killed at a random moment: the other one serves, and nothing wrong or purged.
// GARNER_KILLS: how many times; GARNER_SEED: repeats a run. See tools/soak.
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <random>

#include "story/takeover/load.hpp"
#include "support/partner.hpp"

namespace garner::test {

namespace {

using nlohmann::json;

/// Pages with versions. What a purge has removed is never sent again.
class Pages {
public:
    explicit Pages(Origin& origin) : origin_(origin) {
        for (std::size_t i = 0; i < count; ++i)
            origin.by_hand(path(i), [this, i](Hand& hand) {
                hand.read_body();
                hand.answer(fresh(text(i, current_[i])));
            });
    }
    /// Fetches them all, if nobody else reads.
    void read_all(Proxy const& proxy) {
        for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(read(proxy, i), "");
    }
    /// What is wrong with a page. A response that ends with its process is not.
    std::string read_any(Proxy const& proxy) { return read(proxy, any()); }
    std::string purge_any(Proxy const& proxy) {
        auto const page = any();
        auto const now = ++current_[page];
        auto const status = Client(proxy, origin_).send("PURGE", path(page)).status();
        if (status == 200 || status == 404) least_[page] = now;
        pause_for(5ms);
        return {};
    }
    int answered() const { return answered_; }

private:
    static constexpr std::size_t count = 40;
    static std::string path(std::size_t page) { return "/pages/" + std::to_string(page); }
    static std::string text(std::size_t page, int version) {
        return std::to_string(version) + ": page " + std::to_string(page) + std::string(3'000 * (page % 4 + 1), 'x');
    }
    static std::size_t any() {
        thread_local std::mt19937 random(std::random_device{}());
        return random() % count;
    }
    std::string read(Proxy const& proxy, std::size_t page) {
        int const least = least_[page];
        auto const reply = get(proxy, origin_, path(page));
        if (reply.status() != 200 || !reply.complete()) return {};
        ++answered_;
        auto const version = std::atoi(reply.body().c_str());
        if (reply.body() != text(page, version)) return path(page) + " has other bytes";
        if (version >= least) return {};
        return path(page) + " has version " + std::to_string(version) + ", and that before " + std::to_string(least) +
               " was purged";
    }

    Origin& origin_;
    std::array<std::atomic<int>, count> current_{}, least_{};
    std::atomic<int> answered_{0};
};

/// A client that keeps its connection while it is open. Each answer names its request.
class KeptClient {
public:
    KeptClient(Proxy const& proxy, Origin& origin) : client_(proxy, origin) {
        origin.by_hand("/echo", [](Hand& hand) {
            hand.read_body();
            hand.answer(no_store(hand.request().body));
        });
    }
    /// Returns the error: an answer to another request. A connection may end with its process.
    std::string exchange() {
        auto const name = "request " + std::to_string(++requests_);
        auto const reply = client_.post("/echo", name);
        if (reply.status() == 200 && reply.complete() && reply.field("Connection") != "close")
            return reply.body() == name ? "" : name + " has the answer \"" + reply.body() + "\"";
        auto const body = reply.body();
        client_.close();
        return name.starts_with(body) || reply.status() != 200 ? "" : name + " has the answer \"" + body + "\"";
    }

private:
    Client client_;
    int requests_ = 0;
};

/// A tunnel to a server that returns all bytes; a new one when it has ended.
class KeptTunnel {
public:
    explicit KeptTunnel(Proxy const& proxy) : proxy_(proxy) {}
    /// Returns the error: other bytes, or none on an open connection.
    std::string exchange() {
        if (!open()) return {};
        auto const text = "bytes " + std::to_string(++sent_) + "\n";
        client_->raw(text);
        auto const received = client_->wire().take(text.size());
        pause_for(5ms);
        if (received == text) return {};
        bool const is_open = client_->wire().is_open() && !client_->wire().peer_closed();
        client_.reset();
        if (!text.starts_with(received)) return text + "comes back as " + received;
        return is_open ? text + "does not come back" : "";
    }

private:
    bool open() {
        if (client_) return true;
        echo_.emplace();
        client_.emplace(proxy_);
        if (client_->connect_to(echo_->authority()).status() == 200) return true;
        client_.reset();
        return false;
    }
    Proxy const& proxy_;
    std::optional<Echo> echo_;
    std::optional<Client> client_;
    int sent_ = 0;
};

/// A proxy with a disk, and a process that takes over.
class Pair {
public:
    Pair() : fresh_(command("takeover")) {}
    Pair(Pair const&) = delete;

    Proxy& proxy() { return proxy_; }
    Child& fresh() { return fresh_; }
    /// The old process has been asked.
    bool has_begun() {
        return eventually([&] { return proxy_.says(" takes over") || !fresh_.running(); }) && fresh_.running();
    }
    bool serves() { return fresh_.errors().find("garner listens on") != std::string::npos; }
    int reload() const { return run(command("reload")).code; }
    std::string errors() { return proxy_.errors() + "---- the new process\n" + fresh_.errors(); }
    /// Without clients, before the takeover.
    std::size_t descriptors() const { return descriptors_; }

private:
    std::string control() const { return (dir_.path("") / "control").string(); }
    Proxy::Setup setup() const {
        json const patch{{"deadlines", {{"drain_idle", "100ms"}}},
                         {"pool", {{"idle_timeout", "1s"}}},
                         {"disk", {{"path", (dir_.path("") / "disk").string()}, {"size", "64 MiB"}}}};
        return {.patch = patch.dump(), .arguments = {"--set", "control.path=" + control()}};
    }
    std::size_t settle() {
        EXPECT_TRUE(eventually([&] { return std::filesystem::exists(control()); }));
        EXPECT_TRUE(eventually([&] { return proxy_.stats()["disk"]["state"] == "working"; }));
        return test::descriptors(proxy_);
    }
    std::vector<std::string> command(std::string const& word) const {
        return {garner_binary(), word, "--config", proxy_.dir().path("garner.json").string(), "--set", "control.path=" + control()};
    }

    TempDir dir_;
    Proxy proxy_{setup()};
    std::size_t const descriptors_ = settle();
    Child fresh_;
};

enum class Victim { former, fresh };

/// The survivor works as before.
void expect_service(Pair& pair, Pages& pages, pid_t survivor) {
    auto& proxy = pair.proxy();
    auto const answered = pages.answered();
    EXPECT_TRUE(eventually([&] { return pages.read_any(proxy).empty() && pages.answered() > answered; })) << pair.errors();
    pages.read_all(proxy);
    EXPECT_TRUE(eventually([&] { return pair.reload() == 0; })) << pair.errors();
    EXPECT_TRUE(eventually([&] { return proxy.stats()["disk"]["state"] == "working"; })) << pair.errors();
    constexpr std::size_t others = 2;   // the connection of the figures, and a copy of a standard stream
    expect_rest(proxy, pair.descriptors() + others, Millis{60'000}, survivor);
}

/// `at`: the moment after the beginning.
void kill_one(Victim victim, Millis at) {
    Origin origin;
    Pages pages(origin);
    Pair pair;
    auto& proxy = pair.proxy();
    auto& fresh = pair.fresh();
    Traffic traffic;
    for (int i = 0; i < 2; ++i) traffic.add("page", [&] { return pages.read_any(proxy); });
    traffic.add("purge", [&] { return pages.purge_any(proxy); });
    auto kept = std::make_shared<KeptClient>(proxy, origin);
    traffic.add("kept", [kept] { return kept->exchange(); });
    auto tunnel = std::make_shared<KeptTunnel>(proxy);
    traffic.add("tunnel", [tunnel] { return tunnel->exchange(); });
    auto const stop = [&] {
        auto troubles = traffic.stop();
        kept.reset();
        tunnel.reset();
        return troubles;
    };
    ASSERT_TRUE(pair.has_begun()) << pair.errors();
    pause_for(at);
    if (victim == Victim::fresh) {
        fresh.signal(SIGKILL);
        EXPECT_EQ(fresh.exit_code(), 128 + SIGKILL);
        EXPECT_THAT(stop(), ElementsAre()) << pair.errors();
        expect_service(pair, pages, proxy.child().pid());
        return;
    }
    proxy.kill();
    // Before it has all sockets, the new process cannot go on.
    EXPECT_TRUE(eventually([&] { return pair.serves() || !fresh.running(); })) << pair.errors();
    auto const troubles = stop();
    if (!pair.serves()) {
        EXPECT_EQ(fresh.exit_code().value_or(-1), 1) << pair.errors();
        EXPECT_THAT(fresh.errors(), HasSubstr("the running proxy does not hand over"));
        return;
    }
    EXPECT_THAT(troubles, ElementsAre()) << pair.errors();
    expect_service(pair, pages, fresh.pid());
    fresh.signal(SIGTERM);
    EXPECT_EQ(fresh.exit_code(Millis{30'000}).value_or(-1), 0) << pair.errors();
}

/// From the first message until the new process serves.
Millis time_of_a_takeover() {
    Pair pair;
    EXPECT_TRUE(pair.has_begun());
    auto const begun = std::chrono::steady_clock::now();
    EXPECT_TRUE(eventually([&] { return pair.serves(); })) << pair.errors();
    auto const time = std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - begun);
    EXPECT_EQ(pair.proxy().child().exit_code(Millis{60'000}).value_or(-1), 0);
    pair.fresh().signal(SIGTERM);
    EXPECT_EQ(pair.fresh().exit_code(Millis{30'000}).value_or(-1), 0);
    (void)pair.proxy().ended();
    return time;
}

}   // namespace

TEST(TakeoverKills, at_random_moments_leave_a_process_that_serves_nothing_wrong_or_purged) {
    auto const seed = static_cast<unsigned>(number_from("GARNER_SEED", std::random_device{}()));
    SCOPED_TRACE("GARNER_SEED=" + std::to_string(seed));
    std::mt19937 random(seed);
    auto const time = time_of_a_takeover();
    auto const window = std::min(2 * time + 100ms, time + 3s);   // the former process ends after 5 s
    auto const kills = number_from("GARNER_KILLS", 8);
    for (std::size_t i = 0; i < kills; ++i) {
        auto const victim = i % 2 ? Victim::former : Victim::fresh;
        Millis const at{random() % static_cast<unsigned>(window.count())};
        SCOPED_TRACE((i % 2 ? "the old process, after " : "the new process, after ") + std::to_string(at.count()) + " ms");
        ASSERT_NO_FATAL_FAILURE(kill_one(victim, at));
    }
}

/// It holds its connection open and says nothing more.
TEST(TakeoverKills, a_new_process_that_stops_at_any_step_before_it_serves_delays_no_request) {
    Origin origin;
    origin.answer("/live", no_store("live"));
    TempDir dir;
    auto const control = (dir.path("") / "control").string();
    Proxy proxy(Proxy::Setup{.arguments = {"--set", "control.path=" + control}});
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(control); }));
    std::vector<std::string> const steps{"", "hello", "ready"}, answers{"", "sockets", "disk"};
    for (std::size_t last = 0; last < steps.size(); ++last) {
        SCOPED_TRACE(steps[last]);
        Partner fresh(control);
        for (std::size_t step = 1; step <= last; ++step) {
            ASSERT_TRUE(fresh.send(step == 1 ? Partner::hello() : json{{"do", steps[step]}}));
            ASSERT_TRUE(fresh.until(answers[step]).is_object());
        }
        for (int i = 0; i < 20; ++i) {
            auto const reply = get(proxy, origin, "/live");
            EXPECT_TRUE(reply.ends_within(2s));
            EXPECT_EQ(reply.body(), "live");
            pause_for(20ms);
        }
        fresh.end();
        auto const ended = [&] {
            return run({garner_binary(), "reload", "--config", proxy.dir().path("garner.json").string(), "--set",
                        "control.path=" + control})
                       .code == 0;
        };
        EXPECT_TRUE(eventually(ended)) << proxy.errors();
    }
}

}   // namespace garner::test
