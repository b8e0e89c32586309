#include "admin/events.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "admin/compressed.hpp"
#include "web/http_connection.hpp"

namespace garner::admin {

namespace asio = net::asio;

Events::Message::Message(std::string const& json) : plain("data: " + json + "\n\n"), packed(gzip_part(plain)) {}

Events::Events(asio::io_context& io, std::function<PageModel()> take) : take_(std::move(take)), tick_(io), news_(io) {
    news_.expires_at(SteadyTime::max());
}

net::awaitable<void> Events::serve(web::HttpConnection& connection, std::function<bool()> const& may_stay) {
    if (viewers_ >= viewers_max) {
        web::Reply const full{503, "There are 64 viewers already: close a page.\n", "text/plain; charset=utf-8",
                              "Retry-After: 5\r\n"};
        co_await connection.send(full);
        co_return;
    }
    ++viewers_;
    if (!running_) {
        running_ = true;
        auto taking = take_figures();
        asio::co_spawn(tick_.get_executor(), std::move(taking), asio::detached);
    }
    bool const packed = accepts_gzip(connection.request());
    bool reads = co_await begin(connection, packed);
    std::uint64_t seen = 0;
    while (reads && !stopped_ && may_stay()) {
        if (seen == number_) {
            auto [woken] = co_await news_.async_wait(net::as_values);
            (void)woken;
            continue;
        }
        bool const follows = seen != 0 && seen + 1 == number_;
        auto const message = follows ? last_ : std::make_shared<Message const>(changes({}, parts_));
        seen = number_;
        std::string_view const text = packed ? message->packed : message->plain;
        reads = co_await connection.send_piece(text);
    }
    --viewers_;
}

net::awaitable<bool> Events::begin(web::HttpConnection& connection, bool packed) {
    web::Reply head{200, "", std::string(type), "Vary: Accept-Encoding\r\n"};
    if (packed) head.fields += "Content-Encoding: gzip\r\n";
    bool reads = co_await connection.begin_stream(head);
    if (!reads || !packed) co_return reads;
    auto const first = gzip_begin();
    std::string_view const text = first;
    reads = co_await connection.send_piece(text);
    co_return reads;
}

net::awaitable<void> Events::take_figures() {
    while (!stopped_ && viewers_ > 0) {
        take();
        tick_.expires_after(interval);
        auto [woken] = co_await tick_.async_wait(net::as_values);
        (void)woken;
    }
    running_ = false;
}

void Events::take() {
    auto parts = parts_of(take_());
    last_ = std::make_shared<Message const>(changes(parts_, parts));
    parts_ = std::move(parts);
    ++number_;
    news_.cancel();
}

void Events::stop() {
    stopped_ = true;
    tick_.cancel();
    news_.cancel();
}

}   // namespace garner::admin
