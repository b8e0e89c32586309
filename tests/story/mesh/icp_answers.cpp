// ICP queries of other caches (RFC 2186) get the result that an HTTP request would get.
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "story/scene.hpp"

namespace garner::test {

namespace {

/// A neighbour's UDP socket with the needed ICP messages.
class Neighbour {
public:
    enum : int { nothing = -1, query = 1, hit = 2, miss = 3, error = 4, nofetch = 21, denied = 22 };

    explicit Neighbour(std::uint16_t port, std::string const& from = "127.0.0.1") : socket_(::socket(AF_INET, SOCK_DGRAM, 0)) {
        auto own = place(from, 0), theirs = place("127.0.0.1", port);
        EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&own), sizeof own), 0);
        EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&theirs), sizeof theirs), 0);
    }
    Neighbour(Neighbour const&) = delete;
    ~Neighbour() { ::close(socket_); }

    static std::string datagram(std::string const& url, std::uint32_t number = 4711, char version = 2) {
        auto const length = static_cast<std::uint16_t>(24 + url.size() + 1);
        std::string out{char{query}, version, static_cast<char>(length >> 8), static_cast<char>(length)};
        for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift);
        return out + std::string(16, '\0') + url + '\0';
    }
    void send(std::string const& bytes) { EXPECT_EQ(::send(socket_, bytes.data(), bytes.size(), 0), ssize_t(bytes.size())); }
    /// The opcode of the reply, after its header and URL were checked.
    int heard(std::string const& url, Millis limit = Millis{10'000}) {
        pollfd waits{socket_, POLLIN, 0};
        if (::poll(&waits, 1, static_cast<int>(limit.count())) != 1) return nothing;
        char bytes[16'384];
        auto const n = ::recv(socket_, bytes, sizeof bytes, 0);
        if (n < 0) return nothing;
        std::string const answer(bytes, static_cast<std::size_t>(n));
        std::string const head{char{2}, static_cast<char>(n >> 8), static_cast<char>(n)};   // version, length
        EXPECT_EQ(answer.substr(1, 7), head + datagram(url).substr(4, 4));
        EXPECT_EQ(answer.substr(20), url + '\0');
        return answer[0];
    }
    int ask(std::string const& url) {
        send(datagram(url));
        return heard(url);
    }

private:
    static sockaddr_in place(std::string const& address, std::uint16_t port) {
        sockaddr_in out{};
        out.sin_family = AF_INET;
        out.sin_port = htons(port);
        ::inet_pton(AF_INET, address.c_str(), &out.sin_addr);
        return out;
    }
    int socket_;
};

std::string icp(std::uint16_t port, std::string const& more = "") {
    return R"("icp": {"address": "127.0.0.1:)" + std::to_string(port) + R"(", "allow": ["127.0.0.0/24"])" + more + "}";
}

}   // namespace

TEST(IcpAnswers, a_proxy_that_drains_is_no_parent_but_serves_during_the_delay) {
    auto const port = free_port();
    Origin origin;
    origin.answer("/page", fresh("here"));
    Proxy proxy("{" + icp(port) + R"(, "deadlines": {"drain_delay": "3s"}})");
    Neighbour neighbour(port);
    EXPECT_EQ(get(proxy, origin, "/page").status(), 200);
    EXPECT_EQ(neighbour.ask(origin.url("/page")), Neighbour::hit);
    proxy.signal(SIGTERM);
    EXPECT_TRUE(eventually([&] { return neighbour.ask(origin.url("/page")) == Neighbour::nofetch; }, 2s));
    Client monitor("127.0.0.1", proxy.admin());
    EXPECT_EQ(monitor.get("/health.json").body(), R"({"live":true,"ready":false,"state":"draining"})"
                                                  "\n");
    EXPECT_EQ(monitor.get("/health.json?ready=1").status(), 503);
    auto const served = get(proxy, origin, "/page");
    EXPECT_EQ(served.status(), 200);
    EXPECT_FALSE(served.has("Connection")) << "the listening sockets are open yet";
    EXPECT_EQ(proxy.ended(), 0);
}

TEST(IcpAnswers, a_neighbour_is_told_hit_of_what_it_would_get_fresh) {
    auto const port = free_port();
    Origin origin;
    origin.answer("/page", fresh("here"));
    Proxy proxy("{" + icp(port) + "}");
    Neighbour neighbour(port);
    EXPECT_EQ(neighbour.ask(origin.url("/page")), Neighbour::miss);
    EXPECT_EQ(get(proxy, origin, "/page").status(), 200);
    EXPECT_EQ(neighbour.ask(origin.url("/page")), Neighbour::hit);
    EXPECT_EQ(neighbour.ask(origin.url("/other")), Neighbour::miss);
    EXPECT_EQ(neighbour.ask("http://h/a b"), Neighbour::error);
    EXPECT_EQ(origin.requests("/page"), 1u);
    EXPECT_EQ(origin.requests("/other"), 0u);   // a query causes no fetch
}

TEST(IcpAnswers, who_is_not_allowed_is_denied) {
    auto const port = free_port();
    Proxy proxy("{" + icp(port) + "}");
    Neighbour stranger(port, "127.0.1.1");
    EXPECT_EQ(stranger.ask("http://h/"), Neighbour::denied);
}

TEST(IcpAnswers, every_worker_answers_from_one_index) {
    auto const port = free_port();
    Origin origin;
    origin.answer("/page", fresh("here"));
    Proxy proxy(R"({"workers": 4, )" + icp(port) + "}");
    EXPECT_EQ(get(proxy, origin, "/page").status(), 200);
    for (int i = 0; i < 50; ++i) {   // from many ports, so that each worker's socket gets some
        Neighbour neighbour(port);
        EXPECT_EQ(neighbour.ask(origin.url("/page")), Neighbour::hit);
    }
}

TEST(IcpAnswers, what_is_no_question_gets_no_answer_and_does_no_harm) {
    auto const port = free_port();
    Proxy proxy("{" + icp(port) + "}");
    Neighbour neighbour(port);
    neighbour.send(Neighbour::datagram("http://h/", 4711, 3));
    neighbour.send(Neighbour::datagram("http://h/", 0));
    neighbour.send("x");
    neighbour.send(std::string(20'000, 'x'));
    EXPECT_EQ(neighbour.heard("http://h/", Millis{300}), Neighbour::nothing);
    EXPECT_EQ(neighbour.ask("http://h/"), Neighbour::miss);
}

TEST(IcpAnswers, a_port_that_another_has_is_refused_by_name) {
    auto const port = free_port();
    Proxy first("{" + icp(port) + "}");
    try {
        Proxy second("{" + icp(port) + "}");
        ADD_FAILURE() << "two processes share the port";
    } catch (Trouble const& trouble) {
        EXPECT_THAT(trouble.what(), HasSubstr("127.0.0.1:" + std::to_string(port)));
    }
}

TEST(IcpAnswers, two_garners_find_what_the_other_has) {
    auto const port = free_port();
    Origin origin;
    origin.answer("/page", fresh("here"));
    Proxy sibling("{" + icp(port) + "}");
    Proxy proxy(R"({"peers": [{"name": "next", "type": "sibling", "host": "127.0.0.1", "http_port": )" +
                std::to_string(sibling.port()) + R"(, "icp_port": )" + std::to_string(port) + "}]}");
    EXPECT_EQ(get(sibling, origin, "/page").status(), 200);
    EXPECT_EQ(get(proxy, origin, "/page").body(), "here");
    EXPECT_EQ(origin.requests("/page"), 1u);
    origin.answer("/other", fresh("fetched"));
    EXPECT_EQ(get(proxy, origin, "/other").body(), "fetched");
    EXPECT_EQ(origin.requests("/other"), 1u);
}

}   // namespace garner::test
