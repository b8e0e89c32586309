// The same responses with errors through Garner, Squid, nginx, HAProxy and Apache: what Garner repairs, and each
// difference by name.
#include "story/scene.hpp"
#include "support/gateways.hpp"
#include "support/programs.hpp"
#include "support/strict.hpp"

namespace garner::test {

namespace {

using namespace std::string_literals;

std::string const quirk_head = "HTTP/1.1 200 OK\r\n";
std::string const quirk_body = "Content-Length: 5\r\n\r\nhello";
std::string const quirk_coding = "Transfer-Encoding: chunked\r\n\r\n";
std::string const quirk_chunks = quirk_coding + "5\r\nhello\r\n0\r\n\r\n";

std::string quirk_lines(int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += "X-" + std::to_string(i) + ": y\r\n";
    return all;
}

struct Quirk {
    std::string name;
    std::string answer;
    std::string delivered_by;   // with the whole body; of the versions in Debian 12
};

std::vector<Quirk> const quirks{
    {"no error", quirk_head + quirk_body, "Garner Squid nginx HAProxy Apache"},
    {"space before a colon", quirk_head + "X : y\r\n" + quirk_body, "Garner Squid"},
    {"space before the colon of Content-Length", quirk_head + "Content-Length : 5\r\n\r\nhello", "Garner Squid"},
    {"space after a chunk size", quirk_head + quirk_coding + "5  \r\nhello\r\n0  \r\n\r\n", "Garner nginx HAProxy Apache"},
    {"two equal Content-Length", quirk_head + "Content-Length: 5\r\n" + quirk_body, "Garner Squid nginx HAProxy Apache"},
    {"Content-Length with two equal members", quirk_head + "Content-Length: 5, 5\r\n\r\nhello", "Garner Squid nginx HAProxy"},
    {"Content-Length beside chunked", quirk_head + "Content-Length: 9\r\n" + quirk_chunks, "Garner Squid nginx HAProxy Apache"},
    {"chunked in HTTP/1.0", "HTTP/1.0 200 OK\r\n" + quirk_chunks, "Garner Squid nginx HAProxy Apache"},
    {"LF at each line end of the head", "HTTP/1.1 200 OK\nX: y\nContent-Length: 5\n\nhello", "Garner Squid nginx HAProxy Apache"},
    {"LF at one line end of the head", quirk_head + "X: y\n" + quirk_body, "Garner Squid nginx HAProxy Apache"},
    {"LF at each line end of chunks", quirk_head + quirk_coding + "5\nhello\n0\n\n", "Garner nginx HAProxy"},
    {"a folded line", quirk_head + "X: a\r\n b\r\n" + quirk_body, "Garner Squid HAProxy Apache"},
    {"ESC in a value", quirk_head + "X: \x1b[2J\r\n" + quirk_body, "Garner Squid nginx HAProxy"},
    {"DEL in a value", quirk_head + "X: \x7f-\r\n" + quirk_body, "Garner Squid nginx HAProxy"},
    {"NUL in a value", quirk_head + "X: a\0b\r\n"s + quirk_body, "Garner HAProxy"},
    {"CR in a value", quirk_head + "X: a\rb\r\n" + quirk_body, "Garner Squid"},
    {"260 fields", quirk_head + quirk_lines(260) + quirk_body, "Garner Squid nginx Apache"},
    // Garner refuses these, because their meaning is not clear.
    {"1,100 fields", quirk_head + quirk_lines(1'100) + quirk_body, "Squid nginx Apache"},
    {"white space before the first field", quirk_head + " X: a\r\n" + quirk_body, "Squid"},
    {"a folded Transfer-Encoding", quirk_head + "Transfer-Encoding:\r\n chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
     "Squid HAProxy Apache"},
    {"VT in Transfer-Encoding", quirk_head + "Transfer-Encoding: \v" + quirk_chunks.substr(19), "Squid nginx Apache"},
    {"chunked twice", quirk_head + "Transfer-Encoding: chunked\r\n" + quirk_chunks, "nginx Apache"},
    {"a field line without a colon", quirk_head + "X\r\n" + quirk_body, "nginx"},
    {"a sign before Content-Length", quirk_head + "Content-Length: +5\r\n\r\nhello", "nginx"},
    {"a space in a name", quirk_head + "X Y: z\r\n" + quirk_body, ""},
    {"two different Content-Length", quirk_head + "Content-Length: 9\r\n" + quirk_body, "nginx"},
    {"0x before a chunk size", quirk_head + quirk_coding + "0x5\r\nhello\r\n0\r\n\r\n", ""},
};

/// What a client gets that asks once and closes.
std::string received(std::uint16_t port, std::string const& target) {
    auto wire = Wire::connect("127.0.0.1", port);
    wire.send("GET " + target + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    return wire.take_all();
}

bool is_whole(std::string const& bytes) {
    auto const answer = read_tolerantly(bytes, "GET");
    return answer.complete() && answer.status == 200 && answer.body == "hello";
}

}   // namespace

TEST(DifferentialRepairs, each_difference_from_four_other_proxies_has_a_name) {
    for (auto const* program : {"squid", "nginx", "haproxy", "apache2"}) NEEDS(program);
    Origin origin;
    origin.otherwise([](Hand& hand) {
        hand.send(quirks.at(std::stoul(hand.request().head.target().substr(1))).answer);
        // Some send the next request on the same connection. Others wait for more, or for its end.
        if (hand.wire().receive(1s) != Wire::Read::data) hand.leave();
    });
    Proxy garner(R"({"caching": {"negative_ttl": "0s"}})");
    std::vector<std::pair<std::string, std::unique_ptr<Gateway>>> others;
    others.emplace_back("Squid", Gateway::squid(origin.port()));
    others.emplace_back("nginx", Gateway::nginx(origin.port()));
    others.emplace_back("HAProxy", Gateway::haproxy(origin.port()));
    others.emplace_back("Apache", Gateway::apache(origin.port()));
    for (std::size_t number = 0; number < quirks.size(); ++number) {
        auto const path = "/" + std::to_string(number);
        auto const by_garner = received(garner.port(), origin.url(path));
        std::string delivered_by = is_whole(by_garner) ? "Garner" : "";
        for (auto const& [name, gateway] : others)
            if (is_whole(received(gateway->port(), path))) delivered_by += (delivered_by.empty() ? "" : " ") + name;
        EXPECT_EQ(delivered_by, quirks[number].delivered_by) << quirks[number].name;
        EXPECT_NE(read_strictly(by_garner, "GET").end, StrictAnswer::End::refused)
            << "the error was passed on: " << quirks[number].name;
    }
}

}   // namespace garner::test
