// A session with a handler that records what it is told and answers.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "h2/session.hpp"
#include "h2/wire.hpp"
#include "util/gather.hpp"

namespace garner::h2 {

/// `answer` is called for each request; streams stay lent until release_all() or a call of Session::release().
class Server : public Handler {
public:
    explicit Server(SessionLimits const& limits = {}, Bytes memory = 64 * MiB)
        : heads(memory), windows(memory), client(heads, windows), session(*this, limits, client, counters) {}

    void on_request(Stream& stream) override {
        requests.push_back(&stream);
        if (answer) answer(stream);
    }
    void on_body(Stream& stream) override {
        ++bodies;
        while (reads && !stream.body().empty()) {
            received[&stream] += stream.body();
            session.consume(stream, stream.body().size());
        }
        if (stream.body_done() && at_end) at_end(stream);
    }
    void on_sent(Stream& stream) override {
        ++sent;
        if (at_sent) at_sent(stream);
    }
    void on_reset(Stream& stream) override { resets.push_back(&stream); }

    /// Gives bytes to the session, and returns what it sends.
    std::string exchange(std::string_view bytes) {
        session.receive(bytes, now);
        return output();
    }
    std::string output(std::size_t room = 16 * KiB) {
        std::string all, buffer(room, '\0');
        while (auto const size = session.pull(buffer)) all.append(buffer, 0, size);
        return all;
    }

    /// `text` must live until it is framed.
    void send(Stream& stream, std::string_view text) {
        auto& pieces = parts[&stream];
        pieces.take();
        pieces.add(text);
        session.send(stream, pieces.take());
    }
    std::string body_of(Stream& stream) { return received[&stream]; }

    /// Connections that ended with this error.
    std::uint64_t ended(ConnectionFault fault) const { return counters.faults.value(static_cast<std::size_t>(fault)); }

    Budget heads;
    Budget windows;
    ClientMemory client;
    Counters counters;
    Session session;
    SteadyTime now{seconds{1'000'000}};
    std::function<void(Stream&)> answer;
    std::function<void(Stream&)> at_end;
    std::function<void(Stream&)> at_sent;
    bool reads = true;
    std::vector<Stream*> requests;
    std::vector<Stream*> resets;
    std::map<Stream*, std::string> received;
    int bodies = 0;
    int sent = 0;
    std::map<Stream*, Gather<1>> parts;
};

}   // namespace garner::h2
