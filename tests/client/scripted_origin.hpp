// One connection to an origin that follows a script on a thread of its own.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "client/exchange.hpp"
#include "net/loop.hpp"

namespace garner::client {

/// The origin's end of a connection: blocking, with a timeout of 5 s.
class OriginSide {
public:
    explicit OriginSide(int fd) : fd_(fd) {}
    ~OriginSide();
    OriginSide(OriginSide const&) = delete;

    void send(std::string_view bytes);
    /// Sends one byte at a time, so that each can arrive alone.
    void trickle(std::string_view bytes);
    /// Receives `count` bytes, or fewer if the peer closes.
    std::string receive(std::size_t count);
    void end();     // sends FIN
    void reset();   // sends RST
    /// Waits until the peer has closed.
    void wait_for_end() { receive(SIZE_MAX); }

private:
    int fd_;
};

/// An exchange with an origin that runs `script`.
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
    /// Reads until the end or an error.
    Body read_body(milliseconds limit = seconds{5});

    net::Loop loop;
    net::BufferPool buffers;
    std::unique_ptr<Exchange> exchange;

private:
    std::jthread origin_;
};

}   // namespace garner::client
