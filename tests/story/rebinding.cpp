// Names that change their minds: what counts is the address that is connected to, each time anew.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mutex>
#include <thread>

#include "story/scene.hpp"

namespace garner::test {

namespace {

/// A DNS server on loopback that gives every name the same IPv4 addresses, for a second.
class FickleDns {
public:
    explicit FickleDns(std::vector<std::string> addresses)
        : addresses_(std::move(addresses)), fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof address;
        if (::bind(fd_, reinterpret_cast<sockaddr*>(&address), length) != 0) throw Trouble("bind");
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    ~FickleDns() {
        ::shutdown(fd_, SHUT_RDWR);
        thread_.join();
        ::close(fd_);
    }
    std::string server() const { return "127.0.0.1:" + std::to_string(port_); }
    void now(std::vector<std::string> addresses) {
        std::lock_guard lock(mutex_);
        addresses_ = std::move(addresses);
    }

private:
    void serve() {
        char query[512];
        sockaddr_in from{};
        socklen_t length = sizeof from;
        for (;;) {
            auto const size = ::recvfrom(fd_, query, sizeof query, 0, reinterpret_cast<sockaddr*>(&from), &length);
            if (size < 17) return;
            auto const answer = answer_to(std::string(query, static_cast<std::size_t>(size)));
            ::sendto(fd_, answer.data(), answer.size(), 0, reinterpret_cast<sockaddr*>(&from), length);
        }
    }

    /// RFC 1035 4: the header, the question as it came, and one record for each address.
    std::string answer_to(std::string query) {
        std::lock_guard lock(mutex_);
        auto const name_end = query.find('\0', 12);
        auto question = query.substr(12, name_end + 5 - 12);
        bool const asks_for_v4 = question[question.size() - 3] == 1;
        auto const count = asks_for_v4 ? addresses_.size() : 0;
        std::string answer = query.substr(0, 2) + std::string("\x81\x80\0\1\0", 5) + static_cast<char>(count) +
                             std::string(4, '\0') + question;
        for (std::size_t i = 0; i < count; ++i) {
            in_addr address{};
            ::inet_pton(AF_INET, addresses_[i].c_str(), &address);
            answer += std::string("\xc0\x0c\0\1\0\1\0\0\0\1\0\4", 12);
            answer.append(reinterpret_cast<char const*>(&address), sizeof address);
        }
        return answer;
    }

    std::mutex mutex_;
    std::vector<std::string> addresses_;
    int fd_;
    std::uint16_t port_ = 0;
    std::thread thread_;
};

/// Serves what lies on 127.0.0.2 and nothing else of this machine.
std::string only_the_second(FickleDns const& dns) {
    return R"({"workers": 1, "dns": {"servers": [")" + dns.server() +
           R"("]}, "access": [{"allow": {"destination": ["127.0.0.2"]}}, {"allow": {"source": ["127.0.0.0/8"]}}]})";
}

}  // namespace

TEST(Rebinding, a_name_that_turns_to_loopback_is_refused_from_then_on) {
    Origin open(Origin::Setup{.address = "127.0.0.2"});
    Origin closed(Origin::Setup{.address = "127.0.0.1", .port = open.port()});
    open.answer("/page", {.fields = {{"Cache-Control", "no-store"}}, .body = "open", .close = true});
    FickleDns dns({"127.0.0.2"});
    Proxy proxy(only_the_second(dns));
    auto const name = "evil.example:" + std::to_string(open.port());
    EXPECT_EQ(Client(proxy).get("http://" + name + "/page").body(), "open");
    EXPECT_EQ(Client(proxy).connect_to(name).status(), 200);
    dns.now({"127.0.0.1"});
    EXPECT_TRUE(eventually([&] { return Client(proxy).get("http://" + name + "/page").status() == 403; }));
    EXPECT_EQ(Client(proxy).connect_to(name).status(), 403);
    EXPECT_EQ(closed.connections(), 0u);
}

TEST(Rebinding, of_several_addresses_only_those_that_are_open_are_tried) {
    Origin open(Origin::Setup{.address = "127.0.0.2"});
    Origin closed(Origin::Setup{.address = "127.0.0.1", .port = open.port()});
    open.answer("/page", no_store("open"));
    FickleDns dns({"127.0.0.1", "0.0.0.0", "127.0.0.2", "169.254.169.254"});
    Proxy proxy(only_the_second(dns));
    auto const name = "evil.example:" + std::to_string(open.port());
    EXPECT_EQ(Client(proxy).get("http://" + name + "/page").body(), "open");
    EXPECT_EQ(closed.connections(), 0u);
}

}  // namespace garner::test
