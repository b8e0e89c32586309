// One connection to an origin that does what its script says, in a thread of its own.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "client/exchange.hpp"
#include "net/loop.hpp"

namespace garner::client {

/// The origin's side of a connection: blocking, with 5 s of patience.
class OriginSide {
public:
    explicit OriginSide(int fd) : fd_(fd) {}
    ~OriginSide();
    OriginSide(OriginSide const&) = delete;

    void send(std::string_view bytes);
    /// One byte at a time, so that each may arrive alone.
    void trickle(std::string_view bytes);
    /// Until `count` bytes or the other side's end.
    std::string receive(std::size_t count);
    void end();     // FIN: no more will come
    void reset();   // RST
    /// Until the other side has ended.
    void wait_for_end() { receive(SIZE_MAX); }

private:
    int fd_;
};

/// An exchange with an origin that plays `script`.
struct Scene {
    using Script = std::function<void(OriginSide&)>;
    explicit Scene(Script script, http::HeadLimits const& limits = {});
    ~Scene();

    Trouble send(std::string_view bytes);
    Trouble read_head(http::Method method = http::Method::get, milliseconds limit = seconds{5}) {
        return loop.run(exchange->read_head(method, limit));
    }
    Exchange::Piece read_piece(milliseconds limit = seconds{5}, std::span<char> into = {}) {
        return loop.run(exchange->read_body(limit, into));
    }
    struct Body {
        std::string bytes;
        Trouble trouble = Trouble::none;
    };
    /// To the end, whatever the end is.
    Body read_body(milliseconds limit = seconds{5});

    net::Loop loop;
    net::BufferPool buffers;
    std::unique_ptr<Exchange> exchange;

private:
    std::jthread origin_;
};

}   // namespace garner::client
