#include "support/client.hpp"

#include <charconv>

#include "support/origin.hpp"
#include "support/proxy.hpp"

namespace garner::test {

using Clock = std::chrono::steady_clock;

struct Reply::Inside {
    std::string method;
    std::vector<Head> interim;
    std::optional<Head> head;
    Body body;
    std::string trouble;

    bool done() const { return (head && body.done()) || !trouble.empty(); }
};

/// One connection and the responses expected on it, in order.
class Conversation : public std::enable_shared_from_this<Conversation> {
public:
    explicit Conversation(Wire wire) : wire_(std::move(wire)) {}
    Wire& wire() { return wire_; }

    Reply expect(std::string method) {
        auto inside = std::make_shared<Reply::Inside>();
        inside->method = std::move(method);
        if (ended_) inside->trouble = "the connection had ended before";
        due_.push_back(inside);
        return {shared_from_this(), inside};
    }

    /// Reads until `enough` or `limit`; true if enough. It reads once if `limit` is 0.
    template <class Enough>
    bool read_until(Enough enough, Millis limit) {
        auto const until = Clock::now() + limit;
        for (bool has_read = false;; has_read = true) {
            digest();
            if (enough()) return true;
            auto const left = std::max(std::chrono::duration_cast<Millis>(until - Clock::now()), Millis{0});
            if (ended_ || (has_read && left.count() == 0)) return false;
            auto const read = wire_.receive(left);
            if (read == Wire::Read::end || read == Wire::Read::reset) end(read == Wire::Read::reset);
        }
    }

    bool over() const { return ended_ || !wire_.is_open(); }

private:
    void digest() {
        while (!due_.empty() && step(*due_.front())) due_.pop_front();
    }

    // True if this response is complete, so that the next one's bytes follow.
    bool step(Reply::Inside& reply) {
        while (!reply.head) {
            auto head = take_head(wire_.buffer());
            if (!head) return !reply.trouble.empty();
            if (head->status() / 100 == 1 && head->status() != 101) {
                reply.interim.push_back(std::move(*head));
                continue;
            }
            reply.head = std::move(head);
            reply.body = Body::of_response(*reply.head, reply.method);
        }
        reply.body.take(wire_.buffer());
        return reply.body.done();
    }

    void end(bool reset) {
        ended_ = true;
        for (auto& reply : due_) {
            if (reply->head)
                reply->body.ended();
            else
                reply->trouble = reset ? "the connection was reset before an answer" : "the connection ended before an answer";
        }
        due_.clear();
    }

    Wire wire_;
    bool ended_ = false;
    std::deque<std::shared_ptr<Reply::Inside>> due_;
};

// ---- replies ----

Head const& Reply::head() const {
    if (!begins_within(patience) && inside_->trouble.empty()) inside_->trouble = "no answer in time";
    static Head const none;
    return inside_->head ? *inside_->head : none;
}

std::vector<Head> const& Reply::interim() const {
    head();
    return inside_->interim;
}

std::string const& Reply::body() const {
    if (!ends_within(patience) && inside_->trouble.empty()) inside_->trouble = "no end of the body in time";
    return inside_->body.bytes();
}

Fields const& Reply::trailers() const {
    body();
    return inside_->body.trailers();
}

bool Reply::complete() const {
    body();
    return inside_->head && inside_->trouble.empty() && inside_->body.done() && !inside_->body.cut_short();
}

bool Reply::chunked() const {
    head();
    return inside_->body.chunked();
}

std::string Reply::early(std::size_t count) const {
    conversation_->read_until([&] { return inside_->done() || inside_->body.bytes().size() >= count; }, patience);
    return inside_->body.bytes();
}

bool Reply::begins_within(Millis limit) const {
    conversation_->read_until([&] { return inside_->head.has_value() || inside_->done(); }, limit);
    return inside_->head.has_value();
}

bool Reply::ends_within(Millis limit) const {
    conversation_->read_until([&] { return inside_->done(); }, limit);
    return inside_->head && inside_->done();
}

std::string Reply::trouble() const {
    body();
    return inside_->trouble;
}

std::optional<std::string> Reply::cache_parameter(std::string_view name) const {
    // The last member is that of the cache nearest to the client.
    auto value = field("Cache-Status");
    bool quoted = false;
    std::string part;
    std::optional<std::string> found;
    auto take_part = [&] {
        while (part.starts_with(' ')) part.erase(0, 1);
        auto const equals = part.find('=');
        if (part.substr(0, equals) != name) return;
        found = equals == part.npos ? "" : part.substr(equals + 1);
        if (found->starts_with('"')) found = found->substr(1, found->size() - 2);
    };
    for (char c : value) {
        if (c == '"') quoted = !quoted;
        if (!quoted && (c == ';' || c == ',')) {
            take_part();
            part.clear();
            if (c == ',') found.reset();
        } else {
            part += c;
        }
    }
    take_part();
    return found;
}

std::string Reply::outcome() const {
    if (cache_parameter("hit")) return "hit";
    if (cache_parameter("collapsed")) return "collapsed";
    return cache_parameter("fwd").value_or("");
}

std::optional<int> Reply::fwd_status() const {
    auto const text = cache_parameter("fwd-status");
    return text ? std::optional(std::stoi(*text)) : std::nullopt;
}

std::optional<int> Reply::age() const {
    auto const text = field("Age");
    int seconds = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), seconds).ec != std::errc()) return std::nullopt;
    return seconds;
}

// ---- the client ----

Client::Client(Proxy const& proxy, Origin const& origin)
    : address_(proxy.address()), port_(proxy.port()), base_(origin.url()), host_(origin.authority()) {}
Client::Client(Proxy const& proxy) : address_(proxy.address()), port_(proxy.port()) {}
Client::Client(std::string address, std::uint16_t port)
    : address_(std::move(address)), port_(port), host_(address_ + ":" + std::to_string(port)) {}

Conversation& Client::conversation() {
    if (!conversation_ || conversation_->over()) {
        auto wire = Wire::connect(address_, port_, receive_buffer_, own_address_);
        if (tls_) wire.start_tls_client("");
        conversation_ = std::make_shared<Conversation>(std::move(wire));
        ++connections_;
    }
    return *conversation_;
}

Wire& Client::wire() { return conversation().wire(); }

std::string Client::request_head(std::string const& method, std::string const& target, Fields fields) const {
    bool const relative = target.starts_with('/');
    Head head{method + " " + (relative ? base_ : "") + target + " HTTP/1.1", {}};
    auto host = host_;
    if (auto const scheme = target.find("://"); !relative && scheme != target.npos)
        host = target.substr(scheme + 3, target.find_first_of("/?", scheme + 3) - scheme - 3);
    head.fields = std::move(fields);
    if (!head.has("Host")) head.fields.insert(head.fields.begin(), {"Host", host});
    return head.text();
}

Reply Client::send(std::string const& method, std::string const& target, Fields fields, std::string const& body) {
    if (!body.empty()) fields.emplace_back("Content-Length", std::to_string(body.size()));
    auto& talk = conversation();
    talk.wire().send(request_head(method, target, std::move(fields)) + body);
    return talk.expect(method);
}

Reply Client::begin(std::string const& method, std::string const& target, Fields fields) {
    raw(request_head(method, target, std::move(fields)));
    return expect(method);
}

bool Client::raw(std::string_view bytes) { return wire().send(bytes); }
Reply Client::expect(std::string const& method) { return conversation().expect(method); }

Reply Client::connect_to(std::string const& authority) {
    raw("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
    auto reply = expect("CONNECT");
    if (reply.status() == 200) {
        base_.clear();
        host_ = authority;
    }
    return reply;
}

void Client::start_tls(std::string const& server_name) { wire().start_tls_client(server_name); }

void Client::close() {
    if (conversation_) conversation_->wire().close();
}

void Client::reset() {
    if (conversation_) conversation_->wire().reset();
}

bool Client::closed_by_proxy(Millis limit) {
    if (!conversation_) return true;
    return conversation_->read_until([&] { return conversation_->over(); }, limit);
}

Reply get(Proxy const& proxy, Origin const& origin, std::string const& path, Fields fields) {
    return Client(proxy, origin).get(path, std::move(fields));
}

}   // namespace garner::test
