// Client connections and tunnels that a takeover hands over: the former process ends, and no byte is lost.
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "story/rest.hpp"
#include "story/takeover/load.hpp"
#include "story/takeover/service.hpp"
#include "support/programs.hpp"

namespace garner::test {

namespace {

using nlohmann::json;

constexpr Millis soon{10'000};   // the former process ends, though connections and tunnels are open

struct TakeoverClients : ::testing::Test {
    TakeoverClients() {
        origin.answer("/page", fresh("page"));
        origin.answer("/live", no_store("live"));
    }
    Origin origin;
};

void send_all(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
        auto const sent = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        pollfd waits{descriptor, POLLOUT, 0};
        if (sent < 0 && errno == EAGAIN && ::poll(&waits, 1, static_cast<int>(patience.count())) == 1) continue;
        if (sent <= 0) return;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

/// The other end of one tunnel: sends at once, and reads from read() on, until the end.
class Far {
public:
    explicit Far(std::string bytes) : bytes_(std::move(bytes)), thread_([this] { serve(); }) {}
    ~Far() {
        read_ = true;
        thread_.join();
        ::close(listening_.fd);
    }
    std::string authority() const { return "127.0.0.1:" + std::to_string(listening_.port); }
    void read() { read_ = true; }
    /// The bytes that it has received, when the tunnel has ended.
    std::string received() {
        EXPECT_TRUE(eventually([&] { return over_.load(); }));
        return received_;
    }

private:
    void serve() {
        int const descriptor = ::accept4(listening_.fd, nullptr, nullptr, SOCK_CLOEXEC);
        if (descriptor < 0) return;
        std::jthread sender([this, descriptor] {
            send_all(descriptor, bytes_);
            ::shutdown(descriptor, SHUT_WR);
        });
        while (!read_) pause_for(5ms);
        char some[65'536];
        for (ssize_t count; (count = ::recv(descriptor, some, sizeof some, 0)) > 0;)
            received_.append(some, static_cast<std::size_t>(count));
        sender.join();
        ::close(descriptor);
        over_ = true;
    }
    std::string const bytes_;
    std::string received_;
    Listening listening_ = listen_on("127.0.0.1");
    std::atomic<bool> read_{false}, over_{false};
    std::jthread thread_;
};

std::size_t lines_of(Proxy const& proxy, std::string const& end) {
    std::size_t lines = 0;
    for (auto const& line : proxy.log()) lines += line.url.ends_with(end);
    return lines;
}

}   // namespace

TEST_F(TakeoverClients, idle_ones_are_served_by_the_new_process) {
    Service service;
    Client kept(service.proxy(), origin), silent(service.proxy(), origin);
    EXPECT_EQ(kept.get("/page").body(), "page");
    silent.wire();
    pause_for(100ms);
    ASSERT_TRUE(service.take_over()) << service.refused();
    service.expect_former_to_end(soon);
    auto const reply = kept.get("/page");
    EXPECT_TRUE(reply.hit()) << reply.outcome() << service.errors();
    EXPECT_NE(reply.field("Connection"), "close");
    EXPECT_EQ(kept.get("/live").body(), "live");
    EXPECT_EQ(silent.get("/live").body(), "live");
    EXPECT_EQ(kept.connections() + silent.connections(), 2);
    EXPECT_EQ(service.proxy().stats()["connections"]["now"], 2);
}

TEST_F(TakeoverClients, a_part_of_a_head_is_completed_in_the_new_process) {
    Service service;
    Client client(service.proxy(), origin);
    auto const text = request(origin, "/live");
    client.raw(text.substr(0, 30));
    pause_for(200ms);
    ASSERT_TRUE(service.take_over()) << service.refused();
    service.expect_former_to_end(soon);
    client.raw(text.substr(30));
    EXPECT_EQ(client.expect().body(), "live") << service.errors();
}

TEST_F(TakeoverClients, requests_behind_one_that_runs_are_answered_once_and_in_order) {
    Service service;
    auto slow = origin.hold("/slow");
    std::atomic<int> count{0};
    origin.by_hand("/count", [&](Hand& hand) { hand.answer(no_store("number " + std::to_string(++count))); });
    Client client(service.proxy(), origin);
    client.raw(request(origin, "/slow") + request(origin, "/count") + request(origin, "/count"));
    auto const first = client.expect(), second = client.expect(), third = client.expect();
    slow.arrived(1);
    ASSERT_TRUE(service.take_over()) << service.refused();
    pause_for(200ms);
    slow.release(no_store("slow"));
    EXPECT_EQ(first.body(), "slow") << service.errors();
    EXPECT_EQ(second.body(), "number 1");
    EXPECT_EQ(third.body(), "number 2");
    service.expect_former_to_end(soon);
    EXPECT_EQ(client.get("/live").body(), "live");
    EXPECT_EQ(client.connections(), 1);
    EXPECT_EQ(count, 2);
}

TEST_F(TakeoverClients, keep_the_address_that_a_PROXY_header_names) {
    auto const port = free_port();
    Service service;
    auto const at = [](std::uint16_t number) { return "127.0.0.1:" + std::to_string(number); };
    auto const listen = json::array({json{{"address", at(service.proxy().port())}},
                                     json{{"address", at(port)}, {"proxy_protocol", json::array({"127.0.0.1"})}}});
    json const named{
        {"source", json::array({"192.0.2.7"})}, {"destination", json::array({"127.0.0.0/8"})}, {"port", json::array({"1-65535"})}};
    auto const rules = json::array({json{{"allow", named}}, json{{"deny", "all"}}});
    service.proxy().reconfigure(json{{"listen", listen}, {"access", rules}}.dump());
    ASSERT_EQ(service.run({"reload"}).code, 0);
    auto wire = Wire::connect("127.0.0.1", port);
    wire.send("PROXY TCP4 192.0.2.7 127.0.0.1 5000 80\r\n" + request(origin, "/live"));
    EXPECT_THAT(wire.take(12), EndsWith("200"));
    EXPECT_THAT(wire.take_all(500ms), EndsWith("live"));
    ASSERT_TRUE(service.take_over()) << service.refused();
    service.expect_former_to_end(soon);
    wire.send(request(origin, "/live"));
    EXPECT_THAT(wire.take(12), EndsWith("200")) << service.errors();
    EXPECT_THAT(wire.take_all(500ms), EndsWith("live"));
}

TEST_F(TakeoverClients, of_an_address_that_is_gone_end_in_the_former_process) {
    Service service(R"({"deadlines": {"drain_idle": "3s"}})");
    auto const other = free_port();
    json const usual{{"address", "127.0.0.1:" + std::to_string(service.proxy().port())}};
    json const more{{"address", "127.0.0.1:" + std::to_string(other)}};
    service.proxy().reconfigure(json{{"listen", json::array({usual, more})}}.dump());
    ASSERT_EQ(service.run({"reload"}).code, 0);
    Client there("127.0.0.1", other), here(service.proxy(), origin);
    EXPECT_EQ(there.get(origin.url("/live")).body(), "live");
    EXPECT_EQ(here.get("/live").body(), "live");
    service.proxy().reconfigure(json{{"listen", json::array({usual})}}.dump());
    ASSERT_TRUE(service.take_over()) << service.refused();
    auto const last = there.get(origin.url("/live"));
    EXPECT_EQ(last.body(), "live");
    EXPECT_EQ(last.field("Connection"), "close");
    EXPECT_EQ(here.get("/live").body(), "live");
    EXPECT_EQ(there.connections() + here.connections(), 2);
    service.expect_former_to_end(soon);
}

TEST_F(TakeoverClients, by_curl_stay_connected) {
    NEEDS("curl")
    Service service;
    // One connection for three requests, of which the second one comes after the takeover.
    auto const script = "curl -sS -v -x " + service.proxy().url() + " --noproxy '' --rate 20/m " + origin.url("/live") + " " +
                        origin.url("/page") + " " + origin.url("/live");
    Child curl({"sh", "-c", script + " 2>&1"});
    EXPECT_TRUE(eventually([&] { return origin.requests("/live") == 1; }));
    ASSERT_TRUE(service.take_over()) << service.refused();
    EXPECT_EQ(curl.exit_code(Millis{40'000}).value_or(-1), 0);
    EXPECT_EQ(origin.requests("/live"), 2u);
    auto const reuse = curl.output().find("Re-using existing connection");
    EXPECT_NE(reuse, std::string::npos) << curl.output();
    EXPECT_NE(curl.output().find("Re-using existing connection", reuse + 1), std::string::npos) << curl.output();
    service.expect_former_to_end(soon);
}

// ---- tunnels ----

TEST_F(TakeoverClients, tunnels_go_on_with_the_bytes_in_their_pipes) {
    auto const up = pattern(40'000'000, 1), down = pattern(40'000'000, 2);
    Far far(down);
    Service service;
    Client client(service.proxy());
    ASSERT_EQ(client.connect_to(far.authority()).status(), 200);
    int const descriptor = client.wire().fd();
    std::jthread sender([&] {
        send_all(descriptor, up);
        ::shutdown(descriptor, SHUT_WR);
    });
    for (int i = 0; i < 3; ++i) {
        pause_for(300ms);   // nobody reads: pipes and sockets are full
        ASSERT_TRUE(service.take_over()) << service.refused();
        service.expect_former_to_end(soon);
    }
    far.read();
    auto const received = client.wire().take(down.size());
    EXPECT_TRUE(received == down) << received.size() << " bytes" << service.errors();
    EXPECT_TRUE(far.received() == up) << service.errors();
    EXPECT_TRUE(client.closed_by_proxy());
    auto const line = service.proxy().logged(far.authority());
    EXPECT_EQ(line.tag, "TCP_TUNNEL");
    EXPECT_EQ(line.status, 200);
    EXPECT_GE(line.all.value("bytes", 0u), down.size()) << line.all;
    EXPECT_EQ(lines_of(service.proxy(), far.authority()), 1u);
}

TEST_F(TakeoverClients, tunnels_and_WebSockets_that_are_idle_go_on) {
    Service service;
    Tunnel tunnel(service.proxy());
    Chat chat(service.proxy(), origin);
    EXPECT_EQ(tunnel.exchange(), "");
    EXPECT_EQ(chat.exchange(), "");
    ASSERT_TRUE(service.take_over()) << service.refused();
    service.expect_former_to_end(soon);
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(tunnel.exchange(), "") << service.errors();
        EXPECT_EQ(chat.exchange(), "") << service.errors();
    }
    tunnel.close();
    chat.close();
    EXPECT_TRUE(eventually([&] { return service.proxy().stats()["connections"]["now"] == 0; }));
}

TEST_F(TakeoverClients, a_tunnel_with_one_side_closed_goes_on) {
    Far far(pattern(30'000'000, 3));
    Service service;
    Client client(service.proxy());
    ASSERT_EQ(client.connect_to(far.authority()).status(), 200);
    client.raw("the end");
    client.half_close();
    pause_for(200ms);
    ASSERT_TRUE(service.take_over()) << service.refused();
    service.expect_former_to_end(soon);
    far.read();
    EXPECT_TRUE(client.wire().take(30'000'000) == pattern(30'000'000, 3)) << service.errors();
    EXPECT_EQ(far.received(), "the end");
    EXPECT_TRUE(client.closed_by_proxy());
}

TEST_F(TakeoverClients, a_tunnel_keeps_its_deadline) {
    Service service(R"({"deadlines": {"tunnel_total": "6s"}})");
    Tunnel tunnel(service.proxy());
    pause_for(2s);
    ASSERT_TRUE(service.take_over()) << service.refused();
    EXPECT_EQ(tunnel.exchange(), "");
    ASSERT_TRUE(eventually([&] { return !service.proxy().log().empty(); }));
    auto const line = service.proxy().log().front();
    EXPECT_EQ(line.tag, "TCP_TUNNEL");
    EXPECT_THAT(line.all.value("reason", ""), StartsWith("tunnel timeout"));
    EXPECT_GE(line.all.value("elapsed_ms", 0), 6'000) << line.all;
    EXPECT_LT(line.all.value("elapsed_ms", 0), 8'000) << line.all;
    tunnel.close();
}

TEST_F(TakeoverClients, requests_have_the_time_of_handover) {
    Service service(R"({"deadlines": {"handover": "7s"}})");
    auto slow = origin.hold("/slow");
    Client client(service.proxy(), origin);
    auto const reply = client.get("/slow");
    slow.arrived(1);
    auto const begun = std::chrono::steady_clock::now();
    ASSERT_TRUE(service.take_over()) << service.refused();
    service.expect_former_to_end(Millis{20'000});
    auto const time = std::chrono::steady_clock::now() - begun;
    EXPECT_GT(time, 6s);
    EXPECT_LT(time, 15s);
    EXPECT_TRUE(service.proxy().says("aborting a pending request: GET " + origin.url("/slow"))) << service.proxy().errors();
    EXPECT_FALSE(reply.complete());
    slow.release(no_store("late"));
}

// ---- failures ----

/// A new process that speaks by hand, until it serves.
json begin(Partner& fresh) {
    auto hello = Partner::hello();
    hello["clients"] = true;
    EXPECT_TRUE(fresh.send(hello));
    EXPECT_TRUE(fresh.until("sockets").is_object());
    EXPECT_TRUE(fresh.send({{"do", "ready"}}));
    EXPECT_TRUE(fresh.until("disk").is_object());
    EXPECT_TRUE(fresh.send({{"do", "serving"}}));
    EXPECT_TRUE(fresh.until("go").is_object());
    return fresh.until("clients");
}

bool undone(Service& service) {
    return eventually([&] { return service.errors().find("; this process goes on") != std::string::npos; });
}

TEST_F(TakeoverClients, that_are_not_acknowledged_go_on_in_the_former_process) {
    Service service;
    Tunnel tunnel(service.proxy());
    Client kept(service.proxy(), origin), half(service.proxy(), origin);
    EXPECT_EQ(kept.get("/live").body(), "live");
    auto const text = request(origin, "/live");
    half.raw(text.substr(0, 20));
    pause_for(100ms);
    {
        Partner fresh(service.path());
        auto const message = begin(fresh);
        ASSERT_TRUE(message.is_object()) << service.errors();
        EXPECT_GT(message["clients"].size(), 0u);
    }
    ASSERT_TRUE(undone(service));
    EXPECT_EQ(kept.get("/live").body(), "live") << service.errors();
    half.raw(text.substr(20));
    EXPECT_EQ(half.expect().body(), "live");
    EXPECT_EQ(tunnel.exchange(), "");
    EXPECT_EQ(kept.connections() + half.connections(), 2);
    ASSERT_TRUE(service.take_over()) << service.refused();
    service.expect_former_to_end(soon);
    EXPECT_EQ(kept.get("/live").body(), "live") << "they may leave again";
    EXPECT_EQ(tunnel.exchange(), "");
    EXPECT_EQ(kept.connections(), 1);
}

TEST_F(TakeoverClients, that_were_acknowledged_end_with_the_new_process) {
    Service service;
    Client kept(service.proxy(), origin);
    EXPECT_EQ(kept.get("/live").body(), "live");
    {
        Partner fresh(service.path());
        auto const message = begin(fresh);
        ASSERT_TRUE(message.is_object()) << service.errors();
        ASSERT_TRUE(fresh.send({{"do", "taken"}, {"number", message["number"]}, {"returned", json::array()}}));
        pause_for(200ms);
    }
    ASSERT_TRUE(undone(service));
    EXPECT_TRUE(kept.closed_by_proxy()) << "it is not answered twice";
    EXPECT_EQ(get(service.proxy(), origin, "/live").body(), "live");
}

TEST_F(TakeoverClients, that_the_new_process_returns_end_in_the_former_one) {
    Service service(R"({"deadlines": {"drain_idle": "5s"}})");
    Client kept(service.proxy(), origin);
    EXPECT_EQ(kept.get("/live").body(), "live");
    Partner fresh(service.path());
    auto const message = begin(fresh);
    ASSERT_TRUE(message.is_object()) << service.errors();
    ASSERT_TRUE(fresh.send({{"do", "taken"}, {"number", message["number"]}, {"returned", json::array({0})}}));
    pause_for(100ms);
    auto const last = kept.get("/live");
    EXPECT_EQ(last.body(), "live") << service.errors();
    EXPECT_EQ(last.field("Connection"), "close");
    fresh.end();
    ASSERT_TRUE(undone(service));
}

TEST_F(TakeoverClients, answers_that_are_wrong_undo_the_takeover_and_close_what_they_concern) {
    Service service;
    Client kept(service.proxy(), origin);
    EXPECT_EQ(kept.get("/live").body(), "live");
    Partner fresh(service.path());
    ASSERT_TRUE(begin(fresh).is_object()) << service.errors();
    ASSERT_TRUE(fresh.send({{"do", "taken"}, {"number", 99}, {"returned", json::array()}}));
    ASSERT_TRUE(undone(service));
    EXPECT_TRUE(kept.closed_by_proxy()) << "the new process may serve it";
    EXPECT_EQ(get(service.proxy(), origin, "/live").body(), "live");
}

TEST_F(TakeoverClients, beyond_the_descriptors_of_the_new_process_end_in_the_former_one) {
    NEEDS("prlimit")
    constexpr std::size_t many = 120;
    Service service(R"({"workers": 1, "deadlines": {"drain_idle": "20s"}})");
    std::vector<std::unique_ptr<Client>> clients;
    for (std::size_t i = 0; i < many; ++i) {
        clients.push_back(std::make_unique<Client>(service.proxy(), origin));
        ASSERT_EQ(clients.back()->get("/live").body(), "live");
    }
    auto command = service.command({"takeover"});
    command.insert(command.begin(), {"prlimit", "--nofile=100:100", "--"});
    Child fresh(command);
    ASSERT_TRUE(eventually([&] { return fresh.errors().find("garner listens on") != std::string::npos; })) << fresh.errors();
    pause_for(500ms);
    std::size_t closed = 0;
    for (auto& client : clients) {
        auto const reply = client->get("/live");
        ASSERT_EQ(reply.body(), "live") << reply.trouble() << service.errors() << fresh.errors();
        ASSERT_EQ(client->connections(), 1);
        closed += reply.field("Connection") == "close";
    }
    EXPECT_GT(closed, 0u);
    EXPECT_LT(closed, many);
    clients.clear();
    EXPECT_EQ(service.proxy().child().exit_code(Millis{30'000}).value_or(-1), 0) << service.errors();
    fresh.signal(SIGTERM);
    EXPECT_EQ(fresh.exit_code(Millis{30'000}).value_or(-1), 0) << fresh.errors();
    (void)service.proxy().ended();
}

TEST_F(TakeoverClients, leave_no_descriptor_open) {
    Service service(R"({"pool": {"idle_timeout": "1s"}})");
    ASSERT_TRUE(service.take_over()) << service.refused();
    service.expect_former_to_end();
    auto const before = descriptors_of(service.current().pid());
    {
        Tunnel tunnel(service.proxy());
        Client kept(service.proxy(), origin);
        EXPECT_EQ(kept.get("/live").body(), "live");
        for (int i = 0; i < 3; ++i) {
            ASSERT_TRUE(service.take_over()) << service.refused();
            EXPECT_EQ(kept.get("/live").body(), "live") << service.errors();
            EXPECT_EQ(tunnel.exchange(), "");
            service.expect_former_to_end(soon);
        }
        tunnel.close();
        kept.close();
    }
    expect_rest(service.proxy(), before + 1, Millis{30'000}, service.current().pid());
}

}   // namespace garner::test
