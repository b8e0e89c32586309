// Interception of a tunnel (CONNECT): decides whether Garner decrypts it, and serves the requests inside.
#pragma once
#include <memory>
#include <string>

#include "bump/decide.hpp"
#include "proxy/interception.hpp"
#include "proxy/request.hpp"
#include "proxy/upstream.hpp"

namespace garner::proxy {

class Connection;

/// The certificate of an origin and the result of its verification.
struct OriginCertificate {
    std::shared_ptr<X509> certificate;   // null: there is no TLS connection with the origin
    long verify_result = 0;              // X509_V_OK, X509_V_ERR_...
    bool is_valid() const;
};

/// Belongs to one request.
class BumpedTunnel {
public:
    BumpedTunnel(Request& request, Upstream& upstream) : request_(request), upstream_(upstream) {}

    /// False if no rule applies to any tunnel: then nothing is inspected.
    bool is_concerned() const;
    /// Decides by the CONNECT request alone.
    bump::Decision decide();
    /// After the response to CONNECT: completes a decision that needs_hello(). Neither sends the origin anything nor connects to it.
    net::awaitable<bump::Decision> peek(bump::Decision before);
    /// The bytes of the client that peek() has read.
    std::string const& bytes() const { return bytes_; }

    /// After peek() has decided to bump: handshakes, and serves the client until it leaves. With `refusal` the origin is not
    /// connected to, and each request gets that answer.
    net::awaitable<void> run(std::optional<FixedOrigin::Refusal> refusal);
    void abort();

private:
    /// The server that the client is shown.
    struct Shown {
        std::shared_ptr<net::Certificate const> certificate;   // null: the connection ends
        bool is_valid = false;                                 // the origin is verified
    };
    net::awaitable<Shown> show_origin(FixedOrigin& origin);
    net::awaitable<OriginCertificate> verify_origin();
    void pool(std::unique_ptr<net::Transport> transport);
    Shown show_invalid(OriginCertificate const& found, FixedOrigin& origin) const;
    std::shared_ptr<net::Certificate const> mint_for_page() const;
    std::shared_ptr<net::Certificate const> certificate_for(bump::VerifiedOrigin const& verified) const;
    net::awaitable<net::Error> accept(Shown const& shown);
    net::awaitable<void> serve(std::shared_ptr<FixedOrigin> const& origin);
    net::awaitable<void> find_user();
    void note_end(net::Error const& handshake);
    std::string_view host() const { return request_.target.uri.authority.host; }

    Request& request_;
    Upstream& upstream_;
    std::shared_ptr<Interception const> interception_;
    std::string bytes_;
    SteadyTime accepted_at_{};
    Connection* inside_ = nullptr;
    bool aborted_ = false;
};

}   // namespace garner::proxy
