// Reloads and takeovers while clients of every kind compare each byte: nothing is lost, and nothing stays open.
// GARNER_SOAK_FULL: 1,000 reloads and 100 takeovers. GARNER_SOAK_RELOADS: another number of reloads, a takeover after each ten.
// GARNER_SOAK_SECONDS: how long a reload a minute and a takeover each five minutes go on. See tools/soak.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>

#include "story/takeover/load.hpp"
#include "story/takeover/service.hpp"
#include "support/devtools.hpp"
#include "support/squid.hpp"

namespace garner::test {

namespace {

using nlohmann::json;

/// A proxy with both tiers, ICP and HTCP, and a process that has taken it over once.
struct Operated {
    Operated() {
        EXPECT_TRUE(service.take_over()) << service.refused();
        service.expect_former_to_end();
        pause_for(2s);   // the conversation with it is closed within a second
        before = descriptors_of(service.current().pid());
        resident_before = resident_of(service.current().pid());
    }
    std::string patch() const {
        auto const at = [](std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); };
        json const all{{"deadlines", {{"drain_idle", "5s"}}},
                       {"pool", {{"idle_timeout", "1s"}}},
                       {"disk", {{"path", disk.path("").string()}, {"size", "64 MiB"}}},
                       {"digest", {{"publish", false}}},
                       {"icp", {{"address", at(icp)}, {"allow", {"127.0.0.0/8"}}}},
                       {"htcp", {{"address", at(htcp)}, {"allow", {"127.0.0.0/8"}}}}};
        return all.dump();
    }

    TempDir disk;
    std::uint16_t const icp = free_port(), htcp = free_port();
    Service service{patch()};
    std::size_t before = 0, resident_before = 0;
};

/// A Squid that stores nothing, and so queries the proxy by ICP and HTCP for each request.
class AskingSquid {
public:
    AskingSquid(Operated const& operated, std::uint16_t port)
        : squid_("store_miss deny all\n" + sibling(port, operated.icp, "by-icp") + sibling(port, operated.htcp, "by-htcp htcp")) {}
    std::string request(std::string const& url, std::string const& body) const {
        pause_for(20ms);
        return wrong(squid_.client().get(url), body);
    }
    void expect_replies() const {
        auto const peers = squid_.peers();
        ASSERT_EQ(peers.size(), 2u);
        for (auto const& peer : peers) EXPECT_GT(peer.number("PINGS ACKED"), 0) << peer.text("Status");
        auto const is_hit = [](SquidLogged const& line) { return line.hierarchy == "SIBLING_HIT"; };
        EXPECT_TRUE(std::ranges::any_of(squid_.log(), is_hit));
    }

private:
    static std::string sibling(std::uint16_t http, std::uint16_t udp, std::string const& name) {
        return "cache_peer 127.0.0.1 sibling " + std::to_string(http) + " " + std::to_string(udp) +
               " no-digest no-netdb-exchange name=" + name + "\n";
    }
    Squid squid_;
};

/// A page in Chromium whose WebSocket goes through a tunnel.
class BrowserChat {
public:
    BrowserChat(Proxy const& proxy, Origin& origin) : browser_(proxy.url()) {
        origin.answer("/chat-page", no_store("<!DOCTYPE html><link rel=icon href=data:,><p>chat</p><script>\n"
                                             "var socket = new WebSocket('ws://' + location.host + '/browser-chat');\n"
                                             "var opened = new Promise((done) => socket.onopen = done);\n"
                                             "function say(text) { return opened.then(() => new Promise((done) => {\n"
                                             "  socket.onmessage = (event) => done(event.data);\n"
                                             "  socket.send(text); })); }\n"
                                             "</script>"));
        origin.by_hand("/browser-chat", websocket_echo);
        EXPECT_EQ(browser_.open(origin.url("/chat-page")), "chat");
    }
    std::string exchange() {
        auto const text = "word " + std::to_string(++said_);
        pause_for(50ms);
        auto const heard = browser_.evaluate("say('" + text + "')");
        return heard == text ? "" : "other words: " + heard.dump();
    }

private:
    DevTools browser_;
    int said_ = 0;
};

/// All kinds of clients.
class AllClients {
public:
    AllClients(Operated& operated, Origin& origin)
        : proxy_(operated.service.proxy()), origin_(origin), tunnel_(proxy_), chat_(proxy_, origin), neighbour_(operated.icp) {
        origin.answer("/page", fresh("page"));
        origin.answer("/live", no_store("live"));
        add_kept(traffic_, proxy_, origin);
        add_bodies(traffic_, proxy_, origin);
        traffic_.add("tunnel", [this] { return tunnel_.exchange(); });
        traffic_.add("WebSocket", [this] { return chat_.exchange(); });
        traffic_.add("ICP", [this] { return neighbour_.ask(origin_.url("/page")); });
        if (is_installed("curl")) traffic_.add("curl", [this] { return by_curl(); });
        if (is_installed("squid")) add_squid(operated);
        if (is_installed("chromium")) add_browser();
    }
    /// What went wrong.
    std::vector<std::string> stop() {
        auto const troubles = traffic_.stop();
        if (squid_) squid_->expect_replies();
        squid_.reset();
        browser_.reset();
        tunnel_.close();
        chat_.close();
        return troubles;
    }
    int requests() const { return traffic_.requests(); }

private:
    /// A new tunnel each time.
    std::string by_curl() const {
        pause_for(50ms);
        auto const done = run({"curl", "-sS", "-p", "-x", proxy_.url(), "--noproxy", "", origin_.url("/live")});
        return done.output == "live" ? "" : std::to_string(done.code) + " " + done.output + done.errors;
    }
    void add_squid(Operated const& operated) {
        squid_.emplace(operated, proxy_.port());
        traffic_.add("Squid", [this] { return squid_->request(origin_.url("/page"), "page"); });
    }
    void add_browser() {
        browser_.emplace(proxy_, origin_);
        traffic_.add("Chromium", [this] { return browser_->exchange(); });
    }

    Proxy& proxy_;
    Origin& origin_;
    Tunnel tunnel_;
    Chat chat_;
    Neighbour neighbour_;
    std::optional<AskingSquid> squid_;
    std::optional<BrowserChat> browser_;
    Traffic traffic_;
};

/// Each of them changes another part, and later back.
void reload(Operated& operated, std::size_t number) {
    auto& proxy = operated.service.proxy();
    auto const usual = json{{"address", "127.0.0.1:" + std::to_string(proxy.port())}};
    // A former process keeps the sockets of a removed address for some seconds.
    auto const other = json{{"address", "127.0.0.1:" + std::to_string(free_port())}};
    bool const again = number / 6 % 2;
    std::vector<json> const changes{
        {{"listen", again ? json::array({usual}) : json::array({usual, other})}},
        {{"disk", {{"size", again ? "64 MiB" : "96 MiB"}}}},
        {{"memory", {{"policy", again ? "garner" : "lru"}}}},
        {{"via", again ? "one" : "other"}},
        {{"icp", {{"timeout", again ? "2s" : "1s"}}}},
        {{"pool", {{"idle_max", again ? 20 : 10}}}},
    };
    proxy.reconfigure(changes[number % changes.size()].dump());
    auto const done = operated.service.run({"reload"});
    ASSERT_EQ(done.code, 0) << done.output << done.errors;
}

/// At most four processes end their requests.
void take_over(Service& service) {
    auto const is_busy = [&] { return service.refused().find("four former") != std::string::npos; };
    ASSERT_TRUE(eventually([&] { return service.take_over() || !is_busy(); }, Millis{120'000})) << service.refused();
    ASSERT_TRUE(service.current().running() && (service.refused_code() == 0 || is_busy())) << service.refused();
}

/// The origin keeps each request with its body until it forgets them: those of an hour would fill the machine's memory.
void pause_and_forget(Millis pause, Origin& origin) {
    constexpr Millis piece{5'000};
    for (; pause > Millis{0}; pause -= std::min(pause, piece)) {
        pause_for(std::min(pause, piece));
        origin.forget_requests();
    }
}

struct Pace {
    std::size_t reloads;
    std::size_t reloads_a_takeover;
    Millis pause;
};

struct End {
    std::vector<std::string> troubles{};   // of the clients
    int requests = 0;
    std::size_t resident_before = 0, resident = 0;
    std::string errors{};
};

/// A sanitizer keeps 256 MiB of freed memory by default, and would hide what the program keeps.
void limit_freed_memory() {
    char const* const given = std::getenv("ASAN_OPTIONS");
    ::setenv("ASAN_OPTIONS", (std::string(given ? given : "") + ":quarantine_size_mb=32").c_str(), 1);
}

void operate(Pace const& pace, End& end) {
    limit_freed_memory();
    Operated operated;
    Origin origin;
    auto& service = operated.service;
    {
        AllClients clients(operated, origin);
        for (std::size_t i = 0; i < pace.reloads; ++i) {
            ASSERT_NO_FATAL_FAILURE(reload(operated, i));
            pause_and_forget(pace.pause, origin);
            if (i % pace.reloads_a_takeover == pace.reloads_a_takeover - 1) ASSERT_NO_FATAL_FAILURE(take_over(service));
        }
        auto const requests = clients.requests();
        pause_for(500ms);
        EXPECT_GT(clients.requests(), requests);
        end.troubles = clients.stop();
        end.requests = clients.requests();
        end.errors = service.errors();
    }
    EXPECT_TRUE(get(service.proxy(), origin, "/page").hit());
    EXPECT_EQ(service.proxy().stats()["disk"]["state"], "working");
    service.proxy().reconfigure(operated.patch());
    service.expect_former_to_end();
    auto const last = service.current().pid();
    constexpr std::size_t others = 3;   // a socket of the added address for each worker, and the connection of the figures
    expect_rest(service.proxy(), operated.before + others, Millis{60'000}, last);
    end.resident_before = operated.resident_before;
    end.resident = resident_of(last);
    auto const used = service.proxy().stats()["memory_sum"]["bytes"].get<double>();
    std::printf("%d requests; resident at the beginning %zu MiB, at the end %zu MiB, %.2f times the memory by part and 24 MiB; "
                "descriptors %zu, %zu\n",
                end.requests, end.resident_before >> 20, end.resident >> 20,
                static_cast<double>(end.resident) / (used + static_cast<double>(24u << 20)), operated.before, descriptors_of(last));
}

constexpr std::size_t stored_and_freed = 128u << 20;   // memory.size, and what a sanitizer keeps

}   // namespace

TEST(TakeoverSoak, reloads_and_takeovers_fail_no_request_and_leave_nothing_open) {
    bool const full = number_from("GARNER_SOAK_FULL", 0) > 0;
    auto const reloads = number_from("GARNER_SOAK_RELOADS", full ? 1'000 : 0);
    Pace const pace{.reloads = reloads ? reloads : 15, .reloads_a_takeover = reloads ? 10u : 3u, .pause = 100ms};
    End end;
    ASSERT_NO_FATAL_FAILURE(operate(pace, end));
    EXPECT_THAT(end.troubles, ElementsAre()) << end.errors;
    EXPECT_GT(end.requests, 0);
    EXPECT_LT(end.resident, end.resident_before + stored_and_freed);
}

TEST(TakeoverSoak, a_reload_a_minute_and_a_takeover_each_five_end_as_they_began) {
    auto const total = number_from("GARNER_SOAK_SECONDS", 5);
    bool const is_short = total < 300;
    Pace const pace{.reloads = is_short ? 5 : total / 60, .reloads_a_takeover = 5, .pause = is_short ? 1'000ms : 60'000ms};
    End end;
    ASSERT_NO_FATAL_FAILURE(operate(pace, end));
    EXPECT_THAT(end.troubles, ElementsAre()) << end.errors;
    EXPECT_GT(end.requests, 0);
    EXPECT_LT(end.resident, end.resident_before + stored_and_freed);
}

}   // namespace garner::test
