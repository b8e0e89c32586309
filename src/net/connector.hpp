// Connections to origins and peers: name resolution, connection racing, TLS handshake.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/asio.hpp"
#include "net/deadline.hpp"
#include "net/options.hpp"
#include "net/resolver.hpp"
#include "net/tls_context.hpp"
#include "net/transport.hpp"
#include "net/wake.hpp"

namespace garner::net {

/// Permits the attempts beside the first one: each has a descriptor.
class MoreAttempts {
public:
    virtual ~MoreAttempts() = default;
    /// False: the addresses are tried with fewer attempts at a time.
    virtual bool enter() = 0;
    virtual void leave() = 0;
};

enum class ConnectFailure : std::uint8_t {
    none,
    dns,         // the name does not resolve
    forbidden,   // the filter refused every address
    refused,
    unreachable,   // no route, no such address family, a firewall
    timed_out,
    tls,              // handshake or certificate
    no_descriptors,   // EMFILE, ENFILE: the process's or the system's limit
    no_resources,     // no local port, address or memory: says nothing about the origin
    cancelled,
};

struct ConnectTarget {
    std::string host;   // a name or an IP literal, IPv6 without brackets
    std::uint16_t port = 80;
    std::shared_ptr<TlsContext> tls = nullptr;   // null: plain TCP
    std::string server_name = {};                // for SNI and the certificate; empty: the host
    std::optional<milliseconds> timeout = {};    // replaces the timeout of the options
    std::string preface = {};                    // the first bytes of the connection, before TLS: a PROXY header
    Verification verification = Verification::required;
    /// With `reported`: the only result (X509_V_ERR_...) other than X509_V_OK that is accepted; 0: all.
    long accepted_fault = 0;
    std::optional<Address> address = {};     // is connected to, whatever the name resolves to
    MoreAttempts* more_attempts = nullptr;   // outlives connect(); null: they need no permission
};

struct Connected {
    std::unique_ptr<Transport> transport;   // null when failed
    Address address;                        // the address connected to, or the last one tried
    ConnectFailure failure = ConnectFailure::none;
    std::string reason;     // text for messages; empty when connected
    milliseconds took{0};   // DNS, connecting and TLS together
};

/// The reason why an address must not be connected to (a string that outlives the call); nullptr when it may.
using AddressFilter = std::function<char const*(Address const&)>;

/// Ends one connect() early, from the same worker. Must outlive it.
class ConnectStop {
public:
    void request();
    bool requested() const { return requested_; }

private:
    friend class Connector;
    bool requested_ = false;
    WakeHandle waiting_;
    Transport* handshaking_ = nullptr;
};

/// One per worker; not thread-safe. Must outlive its connect() calls.
class Connector {
public:
    Connector(asio::io_context&, DeadlineWheel&, Resolver&, ConnectorOptions const&);
    /// For later connections.
    void reconfigure(ConnectorOptions const& options) { options_ = options; }

    /// Tries the addresses according to RFC 8305: alternating families, IPv6 first; the next attempt starts after
    /// attempt_delay, or as soon as one fails. If no more attempts may run at a time, it replaces the oldest one, which has had its
    /// share of the timeout. The first connected socket wins and has TCP_NODELAY; with TLS, its handshake
    /// is done and its certificate verified. The filter is asked for every address before an attempt. `timeout` covers
    /// attempts and handshake, but not DNS. `target`, `allowed` and `stop` must live until it returns.
    awaitable<Connected> connect(ConnectTarget const& target, AddressFilter const& allowed, ConnectStop* stop = nullptr);

    /// Starts TLS with `target` over a connection that another proxy has opened to it; the certificate is verified. The
    /// connection may be secure itself (TLS in TLS). `target` and `stop` must live until it returns.
    awaitable<Connected> secure(std::unique_ptr<Transport> tunnel, ConnectTarget const& target, ConnectStop* stop = nullptr);

    static constexpr std::size_t attempts_max = 16;   // addresses tried for one connection
    static constexpr std::size_t running_max = 4;     // attempts at a time

    /// The time of an attempt without an answer before another address takes its place, if `running` attempts try `addresses`.
    static milliseconds patience(milliseconds timeout, std::size_t running, std::size_t addresses);

private:
    struct Race;
    awaitable<bool> attempt(ConnectTarget const& target, NamesPtr const& names, AddressFilter const& allowed, ConnectStop* stop,
                            Connected& result);
    awaitable<void> run(std::shared_ptr<Race> race, ConnectStop* stop);
    void take_result(Race& race, Connected& result);
    static void send_preface(std::string preface, Connected& result);
    awaitable<bool> begin_tls(ConnectTarget const& target, SteadyTime give_up, ConnectStop* stop, Connected& result);

    asio::io_context& io_;
    DeadlineWheel& wheel_;
    Resolver& resolver_;
    ConnectorOptions options_;
};

}   // namespace garner::net
