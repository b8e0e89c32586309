// One client's HTTP/1.1 connection as a transaction sees it: the request's head, its body, a way to answer, a watch.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/framing.hpp"
#include "http/message.hpp"
#include "net/transport.hpp"
#include "proxy/head_budget.hpp"
#include "util/ip.hpp"

namespace garner::proxy {

/// Belongs to one worker. One coroutine may read the body while another writes the answer.
class ClientStream {
public:
    /// `listener`: the port that `peer` connected to.
    ClientStream(std::unique_ptr<net::Transport> transport, IpEndpoint peer, std::uint16_t listener, net::DeadlineWheel& wheel)
        : transport_(std::move(transport)), peer_(peer), listener_(listener),
          watch_after_(wheel, [](void* self) { static_cast<ClientStream*>(self)->begin_watching(); }, this) {}

    /// Nobody: `request` (a whole head) was asked in the name of `peer`, and what is sent goes nowhere.
    ClientStream(std::string_view request, IpEndpoint peer, std::uint16_t listener, net::DeadlineWheel& wheel);
    bool nobody() const { return transport_ == nullptr; }

    /// How waiting for a request's head ended.
    enum class Arrival : std::uint8_t {
        request,   // head() is there
        refused,   // answer with refusal() and close
        closed,    // between requests: nothing to answer
        timed_out  // nothing came, or nothing more; begun() tells whether to answer 408
    };
    struct HeadWaits {
        milliseconds idle;    // for the first byte
        milliseconds head;    // from there to the last
    };
    /// A head larger than 4 KiB counts in `budget` until it is whole; one that has no room there is refused with 431.
    net::awaitable<Arrival> read_head(http::HeadLimits const& limits, HeadWaits waits, HeadBudget& budget);
    http::RequestHead const& head() const { return head_; }
    http::HeadParse const& refusal() const { return parse_; }
    /// There is no head to speak of: head() is empty.
    void forget_head() { head_ = {}; }
    bool begun() const { return begin_ != end_; }
    /// A request, or a part of it, is here already.
    bool pipelined() const { return begin_ != end_; }

    /// Decides how the body is delimited; refusal in the result.
    http::Framing const& begin_body();
    http::Framing const& body_framing() const { return framing_; }
    bool body_done() const { return decoder_.done(); }
    struct Piece {
        net::Error error;
        char const* refusal = nullptr;
        std::string_view data;             // empty without an error: the end
    };
    /// Its view lives until the next call; the head's views stay valid as long as the transaction runs.
    net::awaitable<Piece> read_body(milliseconds limit);
    std::string const& trailers() const { return decoder_.trailers(); }
    /// Bytes behind the head that belong to a tunnel or another protocol.
    std::string_view leftover() const { return {input() + begin_, end_ - begin_}; }

    /// Sends all; an error means the client is gone or stalled. Allocates nothing when the socket takes it at once.
    net::IoResult try_send(std::span<iovec>& parts) { return nobody() ? net::IoResult{} : transport_->try_write(parts); }
    net::awaitable<net::IoResult> send(std::span<iovec> parts, milliseconds limit) {
        return transport_->write(parts, limit);
    }
    /// Ends whatever waits for the client.
    void cancel() {
        if (transport_) transport_->cancel();
    }

    /// Calls `gone` once when the client hangs up, until unwatch(). Not while a body is read. Looks only after 100 ms:
    /// most waits are shorter, and looking costs system calls.
    void watch(std::function<void()> gone);
    void unwatch();

    net::Transport& transport() { return *transport_; }
    /// The bytes on the wire since the last call.
    struct Traffic {
        Bytes received = 0;
        Bytes sent = 0;
    };
    Traffic take_traffic();
    IpEndpoint const& peer() const { return peer_; }
    /// Its address, written once for all requests of the connection.
    std::string const& peer_text() const { return peer_text_; }
    std::uint16_t listener() const { return listener_; }
    /// The request is done with: what follows is the next.
    void finish_request();

private:
    char const* input() const { return buffer_.data(); }
    void make_room();
    Arrival refuse_large_head();
    void begin_watching();
    net::awaitable<net::Error> fill(milliseconds limit);

    std::unique_ptr<net::Transport> transport_;
    Traffic taken_;
    IpEndpoint peer_;
    std::string peer_text_ = peer_.address.text();
    std::uint16_t listener_;
    std::vector<char> buffer_ = std::vector<char>(4096);
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t scanned_ = 0;
    http::RequestHead head_;
    http::HeadParse parse_;
    http::Framing framing_;
    http::BodyDecoder decoder_;
    std::vector<char> body_buffer_;       // apart from buffer_, whose head must stay where it is
    std::size_t body_begin_ = 0;
    std::size_t body_end_ = 0;
    struct Watch {
        std::function<void()> gone;
    };
    net::Deadline watch_after_;
    bool watching_ = false;
    std::shared_ptr<Watch> watch_ = std::make_shared<Watch>();   // outlives this while a queued handler refers to it
};

}  // namespace garner::proxy
