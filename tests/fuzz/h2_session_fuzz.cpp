// Bytes to an HTTP/2 session: it answers every request, takes bodies late, and never holds more than it promised.
#include <map>
#include <string>
#include <vector>

#include "fuzzed.hpp"
#include "h2/session.hpp"

namespace {

using namespace garner;

constexpr std::string_view response =
    "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 12\r\nAge: 1\r\n\r\nhello, world";
constexpr std::string_view streamed = "HTTP/1.1 200 OK\r\nVary: x\r\n\r\nhello, world";
constexpr Bytes memory = 256 * KiB;

/// Treats a stream according to its number, so that an input always gives the same outcome.
class Answering : public h2::Handler {
public:
    explicit Answering(SteadyTime now) : now(now) {}

    void on_request(h2::Stream& stream) override {
        check(++lent_[&stream] == 1);
        auto const& head = stream.head();
        bool const complete = stream.parsed().kind == http::HeadParse::Kind::complete;
        check(complete || (stream.parsed().status >= 400 && stream.parsed().refusal));
        if (complete) check_head(head);
        if (complete && stream.id() % 5 == 0) return;   // answered when the body ends
        answer(stream);
    }
    void on_body(h2::Stream& stream) override {
        check(lent_[&stream] == 1);
        if (stream.id() % 3 == 0) take(stream);
        if (stream.body_done() && stream.is_sent() && stream.id() % 5 == 0) answer(stream);
    }
    void on_sent(h2::Stream& stream) override {
        check(lent_[&stream] == 1 && stream.is_sent());
        if (stream.id() % 7 != 0) release(stream);
    }
    void on_reset(h2::Stream& stream) override {
        check(stream.is_gone() && stream.body().empty());
        release(stream);
    }

    void take(h2::Stream& stream) {
        while (!stream.body().empty()) session.consume(stream, (stream.body().size() + 1) / 2);
    }

    SteadyTime const now;
    h2::Budget heads{memory}, windows{memory};
    h2::ClientMemory client{heads, windows};
    h2::Counters counters;
    h2::Session session{*this, {.streams = 8, .window = 128 * KiB, .glitches = 20, .head = {2'048, 32, 512}}, client, counters};

private:
    static void check_head(http::RequestHead const& head) {
        check(http::is_token(head.method_text) && !head.target.empty());
        check(head.target.find_first_of(" \r\n") == std::string_view::npos);
        check(head.fields.count(http::Name::host) == 1);
    }
    void answer(h2::Stream& stream) {
        bool const known = stream.id() % 4 == 1;
        auto const text = known ? response : streamed;
        auto& part = parts_[&stream] = {const_cast<char*>(text.data()), text.size()};
        session.send(stream, std::span<iovec>(&part, 1));
        if (!known) session.end(stream, stream.id() % 8 == 3 ? "X-Sum: 1\r\n" : "");
    }
    void release(h2::Stream& stream) {
        check(--lent_[&stream] == 0);
        session.release(stream);
    }

    std::map<h2::Stream*, int> lent_;
    std::map<h2::Stream*, iovec> parts_;
};

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz::Input const input(data, size);
    Answering answering(SteadyTime{seconds{1'000}});
    auto& session = answering.session;
    // Most inputs are to get past the preface.
    std::string bytes;
    if (input.seed % 8 != 0) bytes = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + std::string("\0\0\0\4\0\0\0\0\0", 9);
    bytes += input.bytes;
    std::vector<char> room(h2::Session::least_room + input.seed * 64);
    std::size_t begin = 0;
    for (auto end : fuzz::cuts(bytes.size(), input.seed)) {
        fuzz::Exact const piece(std::string_view(bytes).substr(begin, end - begin));
        begin = end;
        bool const fine = session.receive(piece.view(), answering.now);
        check(fine == session.fault().empty());
        if (input.seed % 3 != 0 || !fine)
            while (session.pull(room) > 0) {
            }
        check(session.streams() <= 8 && answering.heads.used() <= memory && answering.windows.used() <= memory);
        if (!fine) break;
    }
    session.drain();
    session.drain();
    while (session.pull(room) > 0) {
    }
    check(session.finished() || session.streams() > 0);
    return 0;
}
