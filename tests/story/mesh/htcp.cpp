// HTCP between Garners: purges of peers, and queries.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "story/scene.hpp"

namespace garner::test {

using nlohmann::json;

namespace {

std::string at_us(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

/// A Garner with an HTCP port that allows loopback clients, with `more` merged over it.
std::string answering(std::uint16_t port, json const& more = json::object()) {
    json patch{{"htcp", {{"address", at_us(port)}, {"allow", {"127.0.0.0/8"}}, {"clear_allow", {"127.0.0.0/8"}}}}};
    patch.merge_patch(more);
    return patch.dump();
}

/// A Garner that sends its purges to `port`.
std::string telling(std::uint16_t port, json const& more = json::object()) {
    json patch{{"htcp", {{"purge_to", {at_us(port)}}}}};
    patch.merge_patch(more);
    return patch.dump();
}

Finished purge(Proxy const& proxy, std::string const& url) {
    return run({garner_binary(), "purge", url, "--config", proxy.dir().path("garner.json").string()});
}

/// A datagram socket outside the mesh.
class Datagrams {
public:
    Datagrams() : fd_(::socket(AF_INET, SOCK_DGRAM, 0)) {}
    Datagrams(Datagrams const&) = delete;
    ~Datagrams() { ::close(fd_); }

    void send(std::uint16_t port, std::string const& bytes) {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ::sendto(fd_, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof to);
    }
    /// Empty if nothing comes in time.
    std::string receive(Millis limit = Millis{5'000}) {
        pollfd ready{fd_, POLLIN, 0};
        if (::poll(&ready, 1, static_cast<int>(limit.count())) != 1) return {};
        std::string bytes(65'536, '\0');
        auto const n = ::recv(fd_, bytes.data(), bytes.size(), 0);
        bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
        return bytes;
    }

private:
    int fd_;
};

std::string be16(std::size_t value) { return {static_cast<char>(value >> 8), static_cast<char>(value & 0xff)}; }
std::string counted(std::string const& text) { return be16(text.size()) + text; }

/// A message of RFC 2756 2, unsigned, with transaction 7.
std::string htcp(int opcode, int flags, std::string const& data) {
    auto section = std::string{static_cast<char>(opcode << 4), static_cast<char>(flags)};
    section += std::string("\0\0\0\7", 4) + data;
    section = be16(section.size() + 2) + section;
    return be16(section.size() + 6) + std::string("\0\1", 2) + section + std::string("\0\2", 2);
}
std::string specifier(std::string const& url) { return counted("GET") + counted(url) + counted("1/1") + counted(""); }

/// Two bytes of a reply: opcode and response code, then flags.
std::string codes(std::string const& answer) { return answer.size() < 8 ? "none" : answer.substr(6, 2); }

}   // namespace

TEST(MeshHtcp, a_purge_at_one_is_a_purge_at_the_other) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    auto const port = free_port();
    Proxy far(answering(port)), near(telling(port));
    for (auto* proxy : {&far, &near}) {
        get(*proxy, origin, "/page").body();
        EXPECT_TRUE(get(*proxy, origin, "/page").hit());
    }
    auto reply = Client(near).send("PURGE", origin.url("/page"));
    EXPECT_EQ(reply.status(), 200);
    EXPECT_EQ(reply.body(), "purged\npeer " + at_us(port) + ": purged\n");
    EXPECT_FALSE(get(far, origin, "/page").hit());
    EXPECT_FALSE(get(near, origin, "/page").hit());
}

TEST(MeshHtcp, the_command_tells_what_became_of_it_everywhere) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    auto const port = free_port();
    Proxy far(answering(port)), near(telling(port));
    auto const url = origin.url("/page");
    get(far, origin, "/page").body();
    auto purged = purge(near, url);
    EXPECT_EQ(purged.code, 0) << purged.errors;
    EXPECT_EQ(purged.output, "nothing is cached for " + url + "\npeer " + at_us(port) + ": purged\n");
    EXPECT_FALSE(get(far, origin, "/page").hit());
    get(near, origin, "/page").body();
    purge(far, url);
    purged = purge(near, url);
    EXPECT_EQ(purged.code, 0) << purged.errors;
    EXPECT_EQ(purged.output, "purged " + url + "\npeer " + at_us(port) + ": had nothing\n");
    EXPECT_EQ(purge(near, url).code, 1);
    EXPECT_EQ(Client(near).send("PURGE", url).status(), 404);
}

TEST(MeshHtcp, a_cache_that_does_not_answer_is_told_three_times_and_named) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy near(telling(free_port()));
    get(near, origin, "/page").body();
    auto const purged = purge(near, origin.url("/page"));
    EXPECT_EQ(purged.code, 4);
    EXPECT_THAT(purged.output, EndsWith(": did not answer\n"));
    EXPECT_FALSE(get(near, origin, "/page").hit());
}

TEST(MeshHtcp, who_may_not_purge_is_refused) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    auto const port = free_port();
    Proxy far(answering(port, {{"htcp", {{"clear_allow", json::array()}}}})), near(telling(port));
    get(far, origin, "/page").body();
    auto const refused = purge(near, origin.url("/page"));
    EXPECT_THAT(refused.output, EndsWith(": refused: this proxy is not in its htcp.allow or htcp.clear_allow\n"));
    EXPECT_EQ(refused.code, 4);
    EXPECT_TRUE(get(far, origin, "/page").hit());
}

TEST(MeshHtcp, with_a_secret_a_purge_wants_the_same_one) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    auto const port = free_port();
    auto const with = [](char const* secret) { return json{{"htcp", {{"secret", secret}}}}; };
    Proxy far(answering(port, with("ours"))), wrong(telling(port, with("theirs"))), unsigned_one(telling(port));
    Proxy right(telling(port, with("ours")));
    auto const url = origin.url("/page");
    get(far, origin, "/page").body();
    auto const refused = purge(wrong, url);
    EXPECT_THAT(refused.output, HasSubstr(": refused: its htcp.secret differs"));
    EXPECT_EQ(refused.code, 4);
    EXPECT_TRUE(wrong.says("rejects the HTCP messages of this proxy: its htcp.secret differs"));
    EXPECT_TRUE(far.says("HTCP messages of 127.0.0.1 are rejected: their signature is wrong"));
    EXPECT_THAT(purge(unsigned_one, url).output, HasSubstr(": refused: it accepts signed messages only"));
    EXPECT_TRUE(get(far, origin, "/page").hit());
    EXPECT_THAT(purge(right, url).output, EndsWith(": purged\n"));
    EXPECT_FALSE(get(far, origin, "/page").hit());
}

TEST(MeshHtcp, a_reload_may_bring_the_first_that_hears_of_purges) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    auto const port = free_port();
    Proxy far(answering(port)), near;
    get(far, origin, "/page").body();
    near.reconfigure(telling(port));
    near.signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return purge(near, origin.url("/page")).code == 0; }));
    EXPECT_FALSE(get(far, origin, "/page").hit());
}

TEST(MeshHtcp, what_a_sibling_has_comes_from_it) {
    Origin origin;
    origin.answer("/page", fresh("hello"));
    auto const port = free_port();
    Proxy far(answering(port));
    json const sibling{{"name", "far"},           {"type", "sibling"}, {"host", "127.0.0.1"},
                       {"http_port", far.port()}, {"icp_port", 0},     {"htcp_port", port}};
    Proxy near(json{{"peers", {sibling}}}.dump());
    get(far, origin, "/page").body();
    auto reply = get(near, origin, "/page");
    EXPECT_EQ(reply.body(), "hello");
    EXPECT_EQ(near.logged("/page").all.value("hierarchy", ""), "SIBLING_HIT");
    EXPECT_EQ(origin.requests("/page"), 1u);
    origin.answer("/other", fresh("other"));
    EXPECT_EQ(get(near, origin, "/other").body(), "other");
    EXPECT_EQ(near.logged("/other").all.value("hierarchy", ""), "HIER_DIRECT");
}

TEST(MeshHtcp, strangers_get_answers_of_the_form_that_Squid_reads) {
    Origin origin;
    origin.answer("/page", fresh("hello"));
    auto const port = free_port();
    Proxy proxy(answering(port));
    Datagrams stranger;
    auto const url = origin.url("/page");
    auto const answer = [&](std::string const& datagram) {
        stranger.send(port, datagram);
        return stranger.receive();
    };
    EXPECT_EQ(answer(htcp(1, 2, specifier(url))), std::string("\0\x14\0\1\0\x0e\x11\1\0\0\0\7\0\0\0\0\0\0\0\2", 20));
    get(proxy, origin, "/page").body();
    auto const hit = answer(htcp(1, 2, specifier(url)));
    EXPECT_EQ(codes(hit), "\x10\x01");
    EXPECT_THAT(hit, HasSubstr("Age: 0\r\n"));
    EXPECT_THAT(hit, HasSubstr("Content-Length: 5\r\n"));
    EXPECT_EQ(codes(answer(htcp(0, 2, ""))), std::string("\0\1", 2));
    EXPECT_EQ(codes(answer(htcp(4, 2, be16(0) + specifier(url)))), "\x40\x01");
    EXPECT_EQ(codes(answer(htcp(4, 2, be16(0) + specifier(url)))), "\x42\x01");
    EXPECT_FALSE(get(proxy, origin, "/page").hit());
}

TEST(MeshHtcp, nonsense_gets_no_answer_and_harms_nothing) {
    auto const port = free_port();
    Proxy proxy(answering(port));
    Datagrams stranger;
    for (unsigned i = 0; i < 1'000; ++i) stranger.send(port, pattern(i % 97));
    for (auto const& datagram : {htcp(2, 2, ""), htcp(3, 2, ""), htcp(1, 2, "\xff"), htcp(1, 3, ""), htcp(0, 1, "")})
        stranger.send(port, datagram);
    EXPECT_EQ(stranger.receive(Millis{300}), "");
    stranger.send(port, htcp(0, 2, ""));
    EXPECT_EQ(stranger.receive().size(), 14u);
}

namespace {

/// `near` asks its sibling `far`, which has the old page; then a client posts through `near`.
void change_behind(Origin& origin, Proxy& near, Proxy& far) {
    origin.answer("/page", fresh("old"));
    EXPECT_EQ(get(far, origin, "/page").body(), "old");
    origin.by_hand("/page", [](Hand& hand) {
        hand.read_body();
        hand.answer(hand.request().head.start.starts_with("POST") ? no_store("done") : fresh("new"));
    });
    EXPECT_EQ(Client(near, origin).post("/page", "x").body(), "done");
}

}   // namespace

TEST(MeshChanges, a_sibling_that_hears_of_no_purge_is_not_asked_for_what_a_POST_has_changed) {
    Origin origin;
    auto const icp = free_port();
    Proxy far(json{{"icp", {{"address", at_us(icp)}, {"allow", {"127.0.0.0/8"}}}}}.dump());
    Proxy near(json{
        {"peers", {{{"name", "far"}, {"type", "sibling"}, {"host", "127.0.0.1"}, {"http_port", far.port()}, {"icp_port", icp}}}}}
                   .dump());
    change_behind(origin, near, far);
    EXPECT_EQ(get(near, origin, "/page").body(), "new");
    EXPECT_TRUE(get(near, origin, "/page").hit());
    EXPECT_EQ(origin.requests("/page"), 3u) << "a GET of far, the POST, and a GET of near";
    origin.answer("/other", fresh("other"));
    EXPECT_EQ(get(far, origin, "/other").body(), "other");
    EXPECT_EQ(get(near, origin, "/other").body(), "other");
    EXPECT_EQ(near.logged("/other").all.value("hierarchy", ""), "SIBLING_HIT");
}

TEST(MeshChanges, a_sibling_that_hears_of_no_purge_does_not_bring_back_what_was_purged) {
    Origin origin;
    auto const icp = free_port();
    Proxy far(json{{"icp", {{"address", at_us(icp)}, {"allow", {"127.0.0.0/8"}}}}}.dump());
    Proxy near(json{
        {"workers", 1},
        {"peers", {{{"name", "far"}, {"type", "sibling"}, {"host", "127.0.0.1"}, {"http_port", far.port()}, {"icp_port", icp}}}}}
                   .dump());
    origin.answer("/page", fresh("old"));
    for (auto* proxy : {&far, &near}) EXPECT_EQ(get(*proxy, origin, "/page").body(), "old");
    origin.answer("/page", fresh("new"));
    EXPECT_EQ(Client(near, origin).send("PURGE", "/page").status(), 200);
    auto const file = near.dir().path("garner.json").string();
    EXPECT_THAT(run({garner_binary(), "explain", origin.url("/page"), "--config", file}).output,
                HasSubstr("no peer is queried: a purge or another method than GET has changed this URL"));
    EXPECT_EQ(get(near, origin, "/page").body(), "new");
    EXPECT_EQ(near.logged("/page", 3).all.value("hierarchy", ""), "HIER_DIRECT");
}

TEST(MeshChanges, a_sibling_with_HTCP_is_told_of_a_POST_and_is_asked_again_once_it_has_acknowledged) {
    Origin origin;
    auto const port = free_port();
    Proxy far(answering(port));
    json const sibling{{"name", "far"},           {"type", "sibling"}, {"host", "127.0.0.1"},
                       {"http_port", far.port()}, {"icp_port", 0},     {"htcp_port", port}};
    Proxy near(json{{"peers", {sibling}}}.dump());
    change_behind(origin, near, far);
    EXPECT_EQ(get(near, origin, "/page").body(), "new");
    // The sibling has removed the old page and gives its own clients the new one.
    EXPECT_TRUE(eventually([&] { return get(far, origin, "/page").body() == "new"; }));
    EXPECT_EQ(
        run({garner_binary(), "purge", origin.url("/page"), "--set", "admin.address=127.0.0.1:" + std::to_string(near.admin())})
            .code,
        0);
}

TEST(MeshHtcp, figures_do_not_wait_for_a_purge_that_waits_for_peers) {
    int const silent = ::socket(AF_INET, SOCK_DGRAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(silent, reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(::getsockname(silent, reinterpret_cast<sockaddr*>(&address), &size), 0);

    Proxy proxy(telling(ntohs(address.sin_port)));
    std::atomic<bool> purged{false};
    auto const own = "127.0.0.1:" + std::to_string(proxy.admin());
    std::thread purging([&] {
        // A site's root has the path of the page of figures.
        Client("127.0.0.1", proxy.admin()).send("PURGE", "http://127.0.0.1:9/", {{"Host", own}, {"Garner-Admin", "1"}}).status();
        purged = true;
    });
    pollfd ready{silent, POLLIN, 0};
    EXPECT_EQ(::poll(&ready, 1, 10'000), 1) << "the CLR arrives at the peer, which does not reply";
    EXPECT_EQ(proxy.stats()["requests"]["total"], 0);
    EXPECT_THAT(Client("127.0.0.1", proxy.admin()).get("/?url=127.0.0.1:9").body(), HasSubstr("The next request for"));
    EXPECT_FALSE(purged);
    purging.join();
    ::close(silent);
}

}   // namespace garner::test
