// The client actor: raw HTTP/1.1 through the proxy; it reads a response only when the scene looks at it.
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

/// One response: a cheap handle. Each getter waits for the data it needs, up to `patience`.
class Reply {
public:
    /// 0 if the connection ended or stayed silent before a head; trouble() has the reason.
    int status() const { return head().status(); }
    Head const& head() const;
    std::string field(std::string_view name) const { return head().field(name); }
    bool has(std::string_view name) const { return head().has(name); }
    std::vector<Head> const& interim() const;   // 1xx heads received before
    std::string const& body() const;            // the whole body, or the part received before the connection ended
    Fields const& trailers() const;
    bool complete() const;   // the body has the end announced by its head
    bool chunked() const;

    /// The body received so far, at least `count` bytes unless it ends earlier.
    std::string early(std::size_t count) const;
    /// True if the head arrives within `limit`.
    bool begins_within(Millis limit) const;
    /// True if the whole response arrives within `limit`.
    bool ends_within(Millis limit) const;
    /// The reason why the response is missing or incomplete; empty if there is none.
    std::string trouble() const;

    /// From the proxy's member of Cache-Status: "hit", "collapsed", or the value of fwd ("uri-miss", "stale", "method" …).
    std::string outcome() const;
    bool hit() const { return outcome() == "hit"; }
    bool stored() const { return cache_parameter("stored").has_value(); }
    std::string detail() const { return cache_parameter("detail").value_or(""); }
    std::optional<int> fwd_status() const;
    /// A parameter of the proxy's member of Cache-Status: "" if it has no value.
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
    /// Requests through `proxy`: targets that begin with '/' become absolute URIs of `origin`.
    Client(Proxy const& proxy, Origin const& origin);
    /// Requests through `proxy`, with absolute URIs only.
    explicit Client(Proxy const& proxy);
    /// Sends origin-form to any server: an accelerator, the admin address, or an origin.
    Client(std::string address, std::uint16_t port);

    Reply get(std::string const& target, Fields fields = {}) { return send("GET", target, std::move(fields)); }
    Reply head(std::string const& target, Fields fields = {}) { return send("HEAD", target, std::move(fields)); }
    Reply post(std::string const& target, std::string const& body, Fields fields = {}) {
        if (body.empty()) fields.emplace_back("Content-Length", "0");
        return send("POST", target, std::move(fields), body);
    }
    /// A request with its body, if any, under Content-Length. Connects, or reconnects after a close, as needed.
    Reply send(std::string const& method, std::string const& target, Fields fields = {}, std::string const& body = {});
    /// Sends only the head, adding only Host: the scene sends the body with raw().
    Reply begin(std::string const& method, std::string const& target, Fields fields);
    /// Sends any bytes.
    bool raw(std::string_view bytes);
    /// Expects a response to a request that was sent with raw().
    Reply expect(std::string const& method = "GET");

    /// Sends CONNECT. After a 200 the connection is a tunnel, and requests use origin-form in it.
    Reply connect_to(std::string const& authority);
    void start_tls(std::string const& server_name);

    Wire& wire();   // connects if there is no connection
    void close();
    void reset();   // closes the connection with RST
    void half_close() { wire().half_close(); }
    /// The number of connections it has made.
    int connections() const { return connections_; }
    /// True if the proxy closes the connection within `limit`.
    bool closed_by_proxy(Millis limit = patience);
    /// Later connections use this source address, so that they belong to another client.
    Client& from(std::string address) {
        own_address_ = std::move(address);
        return *this;
    }
    /// Later connections use this port of the proxy, and begin with a TLS handshake.
    Client& over_tls(std::uint16_t port) {
        port_ = port;
        tls_ = true;
        return *this;
    }
    void receive_buffer(int bytes) { receive_buffer_ = bytes; }   // for later connections

private:
    Conversation& conversation();
    std::string request_head(std::string const& method, std::string const& target, Fields fields) const;

    std::string address_;
    std::uint16_t port_;
    std::string base_;   // prefix of targets that begin with '/'
    std::string host_;
    std::string own_address_;
    int receive_buffer_ = 0;
    bool tls_ = false;
    int connections_ = 0;
    std::shared_ptr<Conversation> conversation_;
};

/// A GET by a new client.
Reply get(Proxy const&, Origin const&, std::string const& path, Fields fields = {});

}   // namespace garner::test
