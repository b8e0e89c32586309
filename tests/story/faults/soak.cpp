// Load by many, slow or broken peers for a chosen time: afterwards all resources are released. GARNER_SOAK_SECONDS: duration
// (default 8); GARNER_SOAK_FULL: full amounts. See tools/soak.
#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "story/rest.hpp"
#include "story/tls/secure_listener.hpp"
#include "support/raw_http2.hpp"

namespace garner::test {

namespace {

/// The full amount, or a smaller one for a normal test run.
std::size_t amount(std::size_t in_full, std::size_t in_short) {
    return number_from("GARNER_SOAK_FULL", 0) > 0 ? in_full : in_short;
}

/// Memory beyond the budget for the program, thread arenas, connection buffers and a sanitizer's shadow.
constexpr std::size_t beyond_budget = 300u << 20;
constexpr std::size_t budget = 8u << 20;
/// Buffers of the workers, session tickets of origins and minted certificates.
constexpr std::size_t kept_for_reuse = 16u << 20;

/// ASan's quarantine of freed memory would grow over time; a small one is enough.
Proxy::Setup small() {
    return {.patch = R"({"memory": {"size": "8 MiB", "object_max": "1 MiB"},
    "deadlines": {"head": "1s", "first_byte": "1s", "body": "1s", "stream": "1s", "fill": "2s", "keep_alive": "2s"},
    "caching": {"negative_ttl": "50ms"}, "pool": {"idle_timeout": "1s"}, "limits": {"connections_max": 20000}})",
            .environment = {"ASAN_OPTIONS=quarantine_size_mb=32"}};
}

// ---- behaviour of origins ----

std::size_t size_of(std::string const& path) { return path.ends_with("7") ? 300'000 : 3'000; }
std::string body_of(std::string const& path) {
    return pattern(size_of(path), static_cast<unsigned>(std::hash<std::string>{}(path) % 10'000));
}

using Fault = void (*)(Hand&, std::string const& path);

void says_nothing(Hand& hand, std::string const&) {
    hand.wire().receive(5s);
    hand.leave();
}
void stalls(Hand& hand, std::string const& path) {
    hand.send(fresh("").head_text(size_of(path)) + body_of(path).substr(0, 1000));
    says_nothing(hand, path);
}
void drips(Hand& hand, std::string const& path) {
    auto const body = body_of(path);
    hand.send(fresh("").head_text(body.size()));
    for (std::size_t i = 0; i < 40 && hand.send(body.substr(i, 1)); ++i) pause_for(50ms);
    hand.leave();
}
void ends_early(Hand& hand, std::string const& path) {
    hand.send(fresh("").head_text(size_of(path)) + body_of(path).substr(0, size_of(path) - 1));
    hand.leave();
}
void resets(Hand& hand, std::string const& path) {
    hand.wire().reset_at_close();
    ends_early(hand, path);
}
void sends_more_than_it_said(Hand& hand, std::string const& path) {
    hand.send(fresh("").head_text(size_of(path)) + body_of(path) + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison");
}
void never_ends(Hand& hand, std::string const&) {
    hand.send(Answer{.fields = {{"Cache-Control", "max-age=60"}}, .delimited = Delimited::by_chunks}.head_text());
    auto const block = chunk(pattern(100'000));
    for (int i = 0; i < 200 && hand.send(block); ++i) {
    }
    hand.leave();
}
void answers_too_soon(Hand& hand, std::string const&) {
    hand.send(no_store("soon").text());
    hand.leave();
}
void forgets_the_last_chunk(Hand& hand, std::string const& path) {
    hand.send(Answer{.fields = {{"Cache-Control", "max-age=60"}}, .delimited = Delimited::by_chunks}.head_text() +
              chunk(body_of(path)));
    hand.leave();
}
void talks_nonsense(Hand& hand, std::string const&) {
    hand.send("HTTP/1.1 2OO OK\r\n\r\n");
    hand.leave();
}
void is_well(Hand& hand, std::string const& path) {
    hand.read_body();
    hand.answer(fresh(body_of(path), path.ends_with("3") ? 0 : 60, {{"ETag", R"("a")"}}));
}

struct Kind {
    char const* name;
    Fault act;
};
// clang-format off
constexpr std::array kinds{
    Kind{"well", is_well},           Kind{"nothing", says_nothing},         Kind{"stalls", stalls},
    Kind{"drips", drips},            Kind{"early", ends_early},             Kind{"resets", resets},
    Kind{"more", sends_more_than_it_said}, Kind{"endless", never_ends},     Kind{"soon", answers_too_soon},
    Kind{"chunk", forgets_the_last_chunk}, Kind{"nonsense", talks_nonsense},
};
// clang-format on

void act(Hand& hand) {
    auto const path = hand.request().head.target();
    for (auto const& kind : kinds)
        if (path.starts_with("/" + std::string(kind.name) + "/")) return kind.act(hand, path);
    hand.answer(no_store("who?"));
}

// ---- behaviour of clients ----

/// One client in three speaks TLS; some use HTTP/2, or a tunnel that is decrypted.
class Storm {
public:
    Storm(Proxy& proxy, Origin& origin, Origin& secure, unsigned seed)
        : proxy_(proxy), origin_(origin), secure_(secure), random_(seed) {}

    void one_client() {
        auto client = any_client();
        switch (random_() % 11) {
        case 0: return vanishes(client);
        case 1: return reads_slowly(client);
        case 2: return sends_half_a_head(client);
        case 3: return sends_half_a_body(client);
        case 4: return comes_with_others();
        case 5: return sends_half_a_handshake();
        case 6: return opens_streams();
        case 7: return is_decrypted();
        default: return behaves(client);
        }
    }

private:
    std::string any_path() {
        auto const& kind = random_() % 2 ? kinds[0] : kinds[random_() % kinds.size()];
        return "/" + std::string(kind.name) + "/" + std::to_string(random_() % 60);
    }
    Client any_client() {
        Client client(proxy_, origin_);
        if (random_() % 3 == 0) client.over_tls(proxy_.secure());
        return client;
    }
    void leave(Client& client) { random_() % 2 ? client.reset() : client.close(); }

    void behaves(Client& client) {
        for (int i = 0; i < 4; ++i) {
            auto const path = any_path();
            auto reply = client.get(path);
            if (!reply.ends_within(20s) && reply.trouble().empty()) ADD_FAILURE() << path << " does not end";
            if (path.starts_with("/well/")) {
                EXPECT_EQ(reply.status(), 200) << path << " " << reply.trouble();
                EXPECT_TRUE(reply.body() == body_of(path)) << path;
            } else if (!path.starts_with("/soon/") && !path.starts_with("/more/")) {
                EXPECT_FALSE(reply.status() == 200 && reply.complete()) << path;
            }
        }
    }
    void vanishes(Client& client) {
        auto reply = client.get(any_path());
        pause_for(Millis{random_() % 300});
        leave(client);
    }
    void reads_slowly(Client& client) {
        client.receive_buffer(4096);
        auto reply = client.get(random_() % 2 ? "/well/7" : any_path());
        for (int i = 0; i < 10; ++i) {
            client.wire().receive(50ms, 1);
            pause_for(20ms);
        }
        leave(client);
    }
    void sends_half_a_head(Client& client) {
        client.raw("GET /well/1 HTTP/1.1\r\nHost: " + origin_.authority());
        pause_for(Millis{random_() % 300});
        leave(client);
    }
    void sends_half_a_body(Client& client) {
        auto reply = client.begin("POST", any_path(), {{"Content-Length", "100000"}});
        client.raw(pattern(50'000));
        if (random_() % 2) reply.ends_within(3s);
        leave(client);
    }
    void sends_half_a_handshake() {
        Client client("127.0.0.1", proxy_.secure());
        client.raw(random_() % 2 ? std::string("\x16\x03\x01\x02\x00\x01\x00\x01", 8) : "GET / HTTP/1.1\r\n\r\n");
        pause_for(Millis{random_() % 300});
        leave(client);
    }
    void opens_streams() {
        RawHttp2 client(proxy_.secure());
        auto const authority = origin_.authority();
        for (std::uint32_t stream = 1; stream < 20; stream += 2) {
            auto const path = any_path();
            h2::WireFields const fields{{":method", "GET"}, {":scheme", "http"}, {":authority", authority}, {":path", path}};
            client.send(h2::request_frame(stream, fields));
            if (random_() % 3 == 0) client.send(h2::frame(h2::rst_frame, h2::no_flag, stream, h2::number(8)));
        }
        client.wire().receive(Millis{random_() % 300});
        if (random_() % 2) client.wire().reset();
    }
    void is_decrypted() {
        Client client(proxy_);
        if (client.connect_to("bumped.test:" + std::to_string(secure_.port())).status() != 200) return;
        client.start_tls("bumped.test");
        if (random_() % 2) return vanishes(client);
        auto const path = any_path();
        auto reply = client.get(path);
        if (!reply.ends_within(20s) && reply.trouble().empty()) ADD_FAILURE() << path << " does not end";
        if (path.starts_with("/well/")) EXPECT_TRUE(reply.body() == body_of(path)) << path << " " << reply.trouble();
    }
    void comes_with_others() {
        auto const path = any_path();
        std::vector<Client> clients(5, any_client());
        std::vector<Reply> replies;
        for (auto& client : clients) replies.push_back(client.get(path));
        leave(clients[random_() % clients.size()]);
        if (path.starts_with("/well/"))
            for (auto& reply : replies) {
                if (reply.trouble().empty()) EXPECT_TRUE(reply.body() == body_of(path)) << path;
            }
    }

    Proxy& proxy_;
    Origin& origin_;
    Origin& secure_;   // bumped.test
    std::mt19937 random_;
};

/// A CA of the proxy, and one for the origin behind decrypted tunnels.
struct Decryption {
    Decryption() { run({garner_binary(), "ca", "init", ca, "--any-host"}); }
    std::string patch() const {
        return R"({"dns": {"hosts_file": ")" + dir.write("hosts", "127.0.0.1 bumped.test\n") + R"("}, "tls": {"ca_file": ")" +
               dir.write("trusted.pem", certificate.pem()) + R"("}, "bump": {"rules": [{"bump": {}}], "ca_chain": ")" + ca +
               R"(/chain.pem", "ca_key": ")" + ca + R"(/ca.key"}})";
    }
    TempDir dir;
    std::string const ca = dir.path("ca").string();
    Certificate certificate{"bumped.test"};
};

}   // namespace

TEST(Soak, slow_and_broken_peers_leave_nothing_behind) {
    auto const lasts = std::chrono::seconds(number_from("GARNER_SOAK_SECONDS", 8));
    auto const seed = static_cast<unsigned>(number_from("GARNER_SEED", std::random_device{}()));
    SCOPED_TRACE("GARNER_SEED=" + std::to_string(seed));
    clients_up_to(10'000);
    CertificateFiles const files;
    Decryption const decryption;
    auto setup = small();
    auto patch = nlohmann::json::parse(setup.patch);
    patch.merge_patch(nlohmann::json::parse(decryption.patch()));
    setup.patch = patch.dump();
    setup.tls = files.tls();
    setup.arguments = {"--set", "deadlines.head=5s"};   // a handshake takes long on a busy machine
    Proxy proxy(std::move(setup));
    proxy.stats();
    pause_for(200ms);
    auto const before = descriptors(proxy), memory_before = resident(proxy);
    auto const parts_in_use = [&] { return proxy.stats()["memory_sum"]["bytes"].get<std::size_t>(); };
    auto const parts_before = parts_in_use();
    std::atomic<std::size_t> clients{0};
    {
        Origin origin, secure({.certificate = &decryption.certificate});
        origin.otherwise(act);
        secure.otherwise(act);
        auto const until = std::chrono::steady_clock::now() + lasts;
        std::vector<std::thread> threads;
        for (unsigned i = 0; i < 16; ++i)
            threads.emplace_back([&, i] {
                Storm storm(proxy, origin, secure, seed + i);
                while (std::chrono::steady_clock::now() < until) {
                    try {
                        storm.one_client();
                    } catch (Trouble const& trouble) {
                        ADD_FAILURE() << trouble.what();
                    }
                    if (++clients % 1000 == 0) origin.forget_requests(), secure.forget_requests();
                }
            });
        for (auto& thread : threads) thread.join();
        EXPECT_EQ(get(proxy, origin, "/well/1").body(), body_of("/well/1"));
    }
    expect_rest(proxy, before);
    EXPECT_LT(resident(proxy), memory_before + budget + beyond_budget);
    EXPECT_LE(parts_in_use(), parts_before + budget + kept_for_reuse);
    auto const stats = proxy.stats();
    auto const& handshakes = stats["tls"]["handshakes"];
    EXPECT_GT(handshakes["ok"], 0);
    EXPECT_GT(stats["http2"]["streams"]["total"], 0);
    EXPECT_GT(stats["bump"]["tunnels"]["bumped"], 0);
    EXPECT_GT(handshakes["closed"].get<int>() + handshakes["clear_text"].get<int>(), 0);
    std::printf("%zu clients, TLS handshakes %s, %zu descriptors, before %zu MiB; %s\n", clients.load(), handshakes.dump().c_str(),
                descriptors(proxy), memory_before >> 20, memory_text(proxy).c_str());
}

TEST(Soak, very_many_values_of_Vary_stay_within_the_budget) {
    auto const values = amount(100'000, 4'000);
    Proxy proxy(small());
    proxy.stats();   // all descriptors are open by then
    auto const before = descriptors(proxy), memory_before = resident(proxy);
    {
        Origin origin;
        origin.otherwise([](Hand& hand) {
            hand.answer(fresh(hand.request().head.field("X-Value") + pattern(3000), 600, {{"Vary", "X-Value"}}));
        });
        Client client(proxy, origin);
        for (std::size_t i = 0; i < values; ++i) {
            auto const value = std::to_string(i);
            // Most requests are for one URL, some for many.
            auto const path = i % 4 ? "/page" : "/" + std::to_string(i % 997);
            ASSERT_EQ(client.get(path, {{"X-Value", value}}).body(), value + pattern(3000));
            if (i % 1000 == 0) origin.forget_requests();
        }
        EXPECT_LE(proxy.stats()["cache"]["used_bytes"], budget);
    }
    expect_rest(proxy, before);
    EXPECT_LT(resident(proxy), memory_before + budget + beyond_budget);
    std::printf("%zu values, before %zu MiB; %s\n", values, memory_before >> 20, memory_text(proxy).c_str());
}

TEST(Soak, very_many_readers_of_one_byte_hold_what_was_evicted_within_the_budget) {
    auto const count = clients_up_to(amount(10'000, 500));
    Proxy proxy(small());
    proxy.stats();
    auto const before = descriptors(proxy), memory_before = resident(proxy);
    {
        Origin origin;
        origin.otherwise([](Hand& hand) { hand.answer(fresh(pattern(400'000), 600)); });
        std::vector<Client> readers(count, Client(proxy, origin));
        std::size_t largest = 0;
        for (std::size_t i = 0; i < count; ++i) {
            readers[i].receive_buffer(4096);
            readers[i].get("/" + std::to_string(i % 100));
            readers[i].wire().receive(i % 50 ? 0ms : 200ms, 1);
            if (i % 100 == 99) {
                get(proxy, origin, "/other" + std::to_string(i)).body();
                largest = std::max(largest, resident(proxy));
                EXPECT_LE(proxy.stats()["cache"]["used_bytes"], budget);
                origin.forget_requests();
            }
        }
        EXPECT_LT(largest, memory_before + budget + beyond_budget);
        std::printf("%zu readers, resident %zu MiB at most, before %zu MiB\n", count, largest >> 20, memory_before >> 20);
        for (auto& reader : readers) reader.reset();
    }
    expect_rest(proxy, before);
}

}   // namespace garner::test
