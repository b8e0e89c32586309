// The client actor: raw HTTP/1.1 through the proxy; an answer is read only when the scene looks at it.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/message.hpp"
#include "support/wire.hpp"

namespace garner::test {

class Origin;
class Proxy;
class Conversation;

/// One answer. A cheap handle; whatever is asked of it is waited for, up to `patience`.
class Reply {
public:
    /// 0 when the connection ended or stayed silent before a head; trouble() says so.
    int status() const { return head().status(); }
    Head const& head() const;
    std::string field(std::string_view name) const { return head().field(name); }
    bool has(std::string_view name) const { return head().has(name); }
    std::vector<Head> const& interim() const;   // 1xx heads that came before
    std::string const& body() const;            // all of it, or what came before the connection ended
    Fields const& trailers() const;
    bool complete() const;   // the body came to the end that its head announced
    bool chunked() const;

    /// The body so far, once it has at least `count` bytes (or is at its end).
    std::string early(std::size_t count) const;
    /// True when the head comes within `limit`.
    bool begins_within(Millis limit) const;
    /// True when the whole answer comes within `limit`.
    bool ends_within(Millis limit) const;
    /// What kept the answer from coming; empty when nothing did.
    std::string trouble() const;

    /// From our member of Cache-Status: "hit", "collapsed", or the value of fwd ("uri-miss", "stale", "method" …).
    std::string outcome() const;
    bool hit() const { return outcome() == "hit"; }
    bool stored() const { return cache_parameter("stored").has_value(); }
    std::string detail() const { return cache_parameter("detail").value_or(""); }
    std::optional<int> fwd_status() const;
    /// A parameter of our member of Cache-Status: "" when it is there without a value.
    std::optional<std::string> cache_parameter(std::string_view name) const;
    std::optional<int> age() const;   // seconds

private:
    friend class Conversation;
    struct Inside;
    Reply(std::shared_ptr<Conversation> on, std::shared_ptr<Inside> inside)
        : conversation_(std::move(on)), inside_(std::move(inside)) {}
    std::shared_ptr<Conversation> conversation_;
    std::shared_ptr<Inside> inside_;
};

class Client {
public:
    /// Asks `proxy` for things of `origin`: targets that begin with '/' become absolute URIs of that origin.
    Client(Proxy const& proxy, Origin const& origin);
    /// Asks `proxy` with absolute URIs only.
    explicit Client(Proxy const& proxy);
    /// Speaks origin-form to any server: an accelerator, the admin address, an origin itself.
    Client(std::string address, std::uint16_t port);

    Reply get(std::string const& target, Fields fields = {}) { return send("GET", target, std::move(fields)); }
    Reply head(std::string const& target, Fields fields = {}) { return send("HEAD", target, std::move(fields)); }
    Reply post(std::string const& target, std::string const& body, Fields fields = {}) {
        if (body.empty()) fields.emplace_back("Content-Length", "0");
        return send("POST", target, std::move(fields), body);
    }
    /// A request with its body, if any, under Content-Length. Connects, or connects anew after a close, as needed.
    Reply send(std::string const& method, std::string const& target, Fields fields = {}, std::string const& body = {});
    /// The head alone, nothing added but Host: the scene sends the body itself with raw().
    Reply begin(std::string const& method, std::string const& target, Fields fields);
    /// Any bytes.
    bool raw(std::string_view bytes);
    /// Expects an answer to a request that was sent with raw().
    Reply expect(std::string const& method = "GET");

    /// CONNECT. After 200 the wire is a tunnel, and requests go through it in origin-form.
    Reply connect_to(std::string const& authority);
    void start_tls(std::string const& server_name);

    Wire& wire();   // connects when there is no connection
    void close();   // hangs up
    void reset();   // hangs up with RST
    void half_close() { wire().half_close(); }
    /// How often it has connected.
    int connections() const { return connections_; }
    /// The proxy has closed the connection; waits up to `limit`.
    bool closed_by_proxy(Millis limit = patience);
    /// Connections made from now on have this address of their own, another client's for the proxy.
    Client& from(std::string address) {
        own_address_ = std::move(address);
        return *this;
    }
    void receive_buffer(int bytes) { receive_buffer_ = bytes; }   // for connections made from now on

private:
    Conversation& conversation();
    std::string request_head(std::string const& method, std::string const& target, Fields fields) const;

    std::string address_;
    std::uint16_t port_;
    std::string base_;   // before targets that begin with '/'
    std::string host_;
    std::string own_address_;
    int receive_buffer_ = 0;
    int connections_ = 0;
    std::shared_ptr<Conversation> conversation_;
};

/// GET of a fresh client, for scenes in which the client is not the point.
Reply get(Proxy const&, Origin const&, std::string const& path, Fields fields = {});

}   // namespace garner::test
