// The origin actor: a threaded HTTP/1.1 server on a free loopback port, with scripted responses per path.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/message.hpp"
#include "support/wire.hpp"

namespace garner::test {

/// A received request. `connection` numbers the origin's connections from 1.
struct Request {
    Head head;
    std::string body = {};
    Fields trailers = {};
    std::size_t connection = 0;
};

/// The framing of a response body.
enum class Delimited { by_length, by_chunks, by_close };

struct Answer {
    int status = 200;
    Fields fields = {};
    std::string body = {};
    Delimited delimited = Delimited::by_length;
    Fields trailers = {};
    bool close = false;   // close after the response
    bool dated = true;    // sends the current Date, unless `fields` has one
    std::string version = "HTTP/1.1";

    /// The head as sent; `length` for a Content-Length that differs from the body.
    std::string head_text(std::optional<std::size_t> length = std::nullopt) const;
    std::string text() const;
};

/// A cacheable 200 with max-age.
Answer fresh(std::string body, int max_age = 600, Fields more = {});
/// 200 with no-store.
Answer no_store(std::string body);

/// The origin's side of one connection, driven by a script.
class Hand {
public:
    using Note = std::function<void(Request const&)>;   // called when the request was read completely
    Hand(Wire& wire, Request& request, Note note) : wire_(wire), request_(request), note_(std::move(note)) {}
    Wire& wire() { return wire_; }
    Request& request() { return request_; }

    void answer(Answer const&);
    bool send(std::string_view bytes) { return wire_.send(bytes); }
    /// Reads the rest of the request's body.
    void read_body();
    /// Does not reuse the connection for another request.
    void leave() { leaves_ = true; }
    bool leaves() const { return leaves_; }

private:
    Wire& wire_;
    Request& request_;
    Note note_;
    bool leaves_ = false;
};
using Script = std::function<void(Hand&)>;

/// A request that waits for the scene. The scene's thread calls everything except wait().
class HeldExchange {
public:
    explicit HeldExchange(Hand& hand) : hand_(hand) {}

    Request const& request() const { return hand_.request(); }
    /// Sends the head alone: with Content-Length `length`, chunked, or until close, as the response says.
    void head(Answer const&, std::size_t length = 0);
    /// Sends bytes of the body, as one chunk if chunked.
    void piece(std::string_view bytes);
    /// Sends any bytes.
    void raw(std::string_view bytes);
    /// Ends the body by the last chunk or by the close that the head announced. Otherwise the connection stays open.
    void finish();
    /// Sends the whole response.
    void release(Answer const&);
    /// Closes the connection at once, with FIN or RST.
    void close();
    void reset();
    /// True if the proxy closes this connection within `limit`.
    bool abandoned(Millis limit = patience);

    void wait();   // called by the origin: waits until the scene is done with it
    void let_go();

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    Hand& hand_;
    bool through_ = false;
    Delimited delimited_ = Delimited::by_length;
};

/// The requests for one path, which wait until the scene answers them. Functions without an index apply to the first one.
class Held {
public:
    /// Waits for request `index` (from 0) of this path; throws Trouble if it does not come.
    HeldExchange& nth(std::size_t index);
    /// The number of requests so far.
    std::size_t count() const;
    void arrived(std::size_t count = 1) { nth(count - 1); }

    void release(std::string body) { nth(0).release(fresh(std::move(body))); }
    void release(Answer const& answer) { nth(0).release(answer); }
    void head(Answer const& answer, std::size_t length = 0) { nth(0).head(answer, length); }
    void piece(std::string_view bytes) { nth(0).piece(bytes); }
    void finish() { nth(0).finish(); }
    void close() { nth(0).close(); }
    void reset() { nth(0).reset(); }

private:
    friend class Origin;
    struct Inside {
        std::mutex mutex;
        std::condition_variable changed;
        std::list<HeldExchange> exchanges;   // a list, because references stay valid
        bool over = false;
    };
    std::shared_ptr<Inside> inside_ = std::make_shared<Inside>();
};

class Origin {
public:
    struct Setup {
        std::string address = "127.0.0.1";          // or "::1"
        Certificate const* certificate = nullptr;   // if set, TLS
        std::uint16_t port = 0;                     // 0: a free one
    };
    Origin();
    explicit Origin(Setup);
    Origin(Origin const&) = delete;
    ~Origin();

    std::uint16_t port() const { return listening_.port; }
    std::string authority() const;   // "127.0.0.1:1234", "[::1]:1234"
    std::string url(std::string const& path = "") const;

    // Sets the response for a path (with query); later calls override earlier ones. Other paths get 404 with no-store.
    void answer(std::string const& path, Answer);
    void answer(std::string const& path, std::vector<Answer> in_turn);   // repeats the last one
    void raw(std::string const& path, std::string bytes);                // sends these bytes, then closes
    void by_hand(std::string const& path, Script);                       // the script reads the body itself
    Held hold(std::string const& path);
    void otherwise(Script);   // for every other path

    std::size_t requests(std::string const& path) const;
    std::vector<Request> seen(std::string const& path) const;
    Request last(std::string const& path) const;   // throws Trouble if there was none
    std::size_t connections() const { return connections_; }
    /// Forgets the recorded requests, to save memory in long scenes.
    void forget_requests();

private:
    void accept();
    void join_ended();
    void converse(Wire, std::size_t number);
    bool one_request(Wire&, std::size_t number);
    Script script_for(std::string const& path) const;

    Setup setup_;
    Listening listening_;
    std::atomic<bool> stopping_{false};
    std::atomic<std::size_t> connections_{0};
    mutable std::mutex mutex_;
    std::map<std::string, Script> scripts_;
    Script otherwise_;
    std::map<std::string, std::vector<std::shared_ptr<Request>>> seen_;
    std::vector<Held> held_;
    std::map<std::size_t, int> open_;              // descriptors by connection number
    std::map<std::size_t, std::thread> threads_;   // by connection number
    std::vector<std::size_t> ended_;
    std::thread acceptor_;
};

}   // namespace garner::test
