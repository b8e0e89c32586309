// The viewers of the operator's page: GET /events (text/event-stream).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "admin/page_changes.hpp"
#include "net/asio.hpp"
#include "util/clock.hpp"
#include "web/http_message.hpp"

namespace garner::web {
class HttpConnection;
}

namespace garner::admin {

/// Takes the page's figures once a second for all viewers, and only while there are some. A viewer gets all parts first, then those
/// that changed; after a delay all parts again, so that nothing is kept for it. For one thread.
class Events {
public:
    static constexpr std::size_t viewers_max = 64;
    static constexpr seconds interval{1};
    static constexpr std::string_view type = "text/event-stream";

    Events(net::asio::io_context& io, std::function<PageModel()> take);

    /// Until the viewer leaves, reads nothing for the time that a connection has for a reply, may not stay, or the service stops.
    net::awaitable<void> serve(web::HttpConnection& connection, std::function<bool()> const& may_stay);
    void stop();

private:
    /// The text that is sent without and with gzip.
    struct Message {
        explicit Message(std::string const& json);
        std::string plain, packed;
    };
    static net::awaitable<bool> begin(web::HttpConnection& connection, bool packed);
    net::awaitable<void> take_figures();
    void take();

    std::function<PageModel()> const take_;
    net::Timer tick_, news_;
    std::size_t viewers_ = 0;
    bool running_ = false, stopped_ = false;
    PageParts parts_;
    std::uint64_t number_ = 0;              // number of the last message
    std::shared_ptr<Message const> last_;   // with what it changed
};

}   // namespace garner::admin
