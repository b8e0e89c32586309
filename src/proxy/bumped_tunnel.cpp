#include "proxy/bumped_tunnel.hpp"

#include <openssl/x509_vfy.h>

#include <boost/asio/error.hpp>

#include "bump/mimic.hpp"
#include "net/tls_fault.hpp"
#include "net/tls_session.hpp"
#include "proxy/http1_connection.hpp"
#include "proxy/http2_connection.hpp"
#include "proxy/login_check.hpp"

namespace garner::proxy {

namespace {

/// "https://host:port" as the only origin of the requests inside.
std::shared_ptr<FixedOrigin> origin_of(Target const& target) {
    auto origin = std::make_shared<FixedOrigin>();
    origin->kind = FixedOrigin::Kind::bumped;
    origin->text.assign("https://").append(target.url);
    http::UriError error;
    origin->uri = http::parse_absolute(origin->text, error).value();
    return origin;
}

/// The reason of OpenSSL for a page.
std::string reason_of(OriginCertificate const& found) {
    return std::string("The certificate of the origin is not valid: ") + std::string(net::verify_result_text(found.verify_result)) +
           ".";
}

}   // namespace

bool OriginCertificate::is_valid() const { return certificate && verify_result == X509_V_OK; }

bool BumpedTunnel::is_concerned() const {
    return request_.services.interception && !request_.intercepted_origin && request_.options->bump.rules.any_applies();
}

bump::Decision BumpedTunnel::decide() {
    interception_ = request_.services.interception;
    auto const& options = request_.options->bump;
    auto const facts = request_.facts();
    auto const state = interception_->state_of(request_.client.peer().address, host(), options, request_.now);
    return bump::decide(options.rules, facts, state);
}

net::awaitable<bump::Decision> BumpedTunnel::peek(bump::Decision before) {
    auto& transport = request_.client.transport();
    bytes_ = request_.client.leftover();
    auto buffer = request_.services.worker.buffers.take();
    auto const give_up = steady_now() + bump::hello_wait;
    auto cause = bump::Decision::Cause::unfinished;
    for (;;) {
        auto const reading = net::read_client_hello(bytes_);
        if (reading.state != net::ClientHelloReading::State::needs_more)
            co_return bump::decide_by_hello(request_.options->bump.rules, request_.facts(), before, reading);
        // A client that sends byte for byte must not extend the time.
        auto const left = std::chrono::ceil<milliseconds>(give_up - steady_now());
        if (left <= milliseconds{0}) break;
        std::span<char> const into(buffer.get(), net::BufferPool::size);
        auto const read = co_await transport.read_some(into, left);
        if (read.error && read.error != net::asio::error::timed_out) cause = bump::Decision::Cause::left;
        if (read.error) break;
        bytes_.append(buffer.get(), read.bytes);
    }
    co_return bump::decide_without_hello(std::move(before), cause);
}

net::awaitable<void> BumpedTunnel::run(std::optional<FixedOrigin::Refusal> refusal) {
    auto const origin = origin_of(request_.target);
    Shown shown;
    if (refusal) {
        origin->refusal = std::move(refusal);
        shown.certificate = mint_for_page();
    } else {
        shown = co_await show_origin(*origin);
    }
    auto& transport = request_.client.transport();
    if (!shown.certificate || aborted_) co_return transport.close_with_reset();
    auto const error = co_await accept(shown);
    request_.record.count_traffic(request_);
    if (!error && !aborted_) co_await serve(origin);
    if (shown.is_valid) note_end(error);
    request_.client.take_traffic();   // counted by the requests inside
}

// ---- the certificate ----

net::awaitable<BumpedTunnel::Shown> BumpedTunnel::show_origin(FixedOrigin& origin) {
    Shown shown{interception_->minted->find(request_.target.url, request_.now), true};
    if (shown.certificate) co_return shown;
    auto const verified = interception_->minted->take_verified(request_.target.url, request_.now);
    if (verified.certificate) shown.certificate = certificate_for(verified);
    if (shown.certificate) co_return shown;
    auto const found = co_await verify_origin();
    upstream_.drop_exchange();   // the requests inside have connections of their own
    shown.is_valid = found.is_valid();
    if (shown.is_valid)
        shown.certificate = certificate_for({found.certificate, request_.now});
    else if (found.certificate)
        shown = show_invalid(found, origin);
    else
        shown.certificate = mint_for_page();   // the requests inside get the reason
    co_return shown;
}

net::awaitable<OriginCertificate> BumpedTunnel::verify_origin() {
    OriginCertificate found;
    std::string early;
    auto transport = co_await upstream_.open_tunnel(early);
    if (!transport || !early.empty()) co_return found;
    net::ConnectTarget where;
    where.host = std::string(host());
    where.tls = request_.services.worker.origin_tls;
    where.verification = net::Verification::reported;
    auto connected = co_await upstream_.secure(std::move(transport), where);
    if (!connected.transport) co_return found;
    auto const& session = *connected.transport->tls();
    found.certificate = session.peer_certificate();
    found.verify_result = session.verify_result();
    bool const is_current = where.tls == request_.services.worker.origin_tls;   // a reload replaces it
    if (found.is_valid() && is_current && !upstream_.sources().peer()) pool(std::move(connected.transport));
    co_return found;
}

/// Puts the connection into the pool for the first request inside the tunnel.
void BumpedTunnel::pool(std::unique_ptr<net::Transport> transport) {
    auto& key = request_.scratch.pool_key;
    write_pool_key(request_, upstream_.sources(), key);
    transport->set_remote(upstream_.address());
    request_.services.worker.pool.give(key, std::move(transport));
}

std::shared_ptr<net::Certificate const> BumpedTunnel::mint_for_page() const {
    return interception_->authority->mint(bump::likeness_of_host(host(), request_.now), bump::Signer::ca, request_.now);
}

std::shared_ptr<net::Certificate const> BumpedTunnel::certificate_for(bump::VerifiedOrigin const& verified) const {
    auto& authority = *interception_->authority;
    auto& minted = *interception_->minted;
    auto const& key = request_.target.url;
    auto const now = request_.now;
    auto const likeness =
        bump::for_valid_origin(bump::likeness_of(verified.certificate.get()), host(), authority.constraints(), now);
    if (auto same = minted.renew(key, likeness, verified.at, now)) return same;
    auto certificate = authority.mint(likeness, bump::Signer::ca, now);
    minted.add(key, likeness, certificate, verified.at, now);
    return certificate;
}

BumpedTunnel::Shown BumpedTunnel::show_invalid(OriginCertificate const& found, FixedOrigin& origin) const {
    auto& authority = *interception_->authority;
    auto const likeness = bump::likeness_of(found.certificate.get());
    auto const answer = bump::answer_invalid(request_.options->bump.invalid, bump::origin_error(found.verify_result), likeness,
                                             host(), authority.constraints(), request_.now);
    using Kind = bump::InvalidAnswer::Kind;
    if (answer.kind == Kind::terminate) return {};
    if (answer.kind == Kind::certificate) origin.accepted_fault = found.verify_result;
    if (answer.kind == Kind::page) origin.refusal = {502, reason_of(found), "bump.invalid"};
    return {authority.mint(answer.likeness, answer.signer, request_.now), false};
}

// ---- inside ----

net::awaitable<net::Error> BumpedTunnel::accept(Shown const& shown) {
    net::SessionIdentity const identity{shown.certificate, shown.is_valid ? std::string(request_.target.url) : std::string()};
    accepted_at_ = steady_now();
    auto const context = interception_->tls;
    auto const limit = request_.options->deadlines.head;
    co_return co_await request_.client.transport().accept_tls(context, bytes_, limit, &identity);
}

net::awaitable<void> BumpedTunnel::serve(std::shared_ptr<FixedOrigin> const& origin) {
    co_await find_user();
    auto& client = request_.client;
    auto& transport = client.transport();
    auto const point = std::make_shared<ListenPoint const>(ListenPoint{client.client()->listener, origin});
    Accepted accepted{std::shared_ptr<net::Transport>(std::shared_ptr<void>(), &transport), client.peer(),
                      Seat::inside(*client.origin_seats()), point, request_.kept_client()};
    std::unique_ptr<Connection> connection;
    if (transport.tls()->http2())
        connection = std::make_unique<Http2Connection>(request_.services, std::move(accepted));
    else
        connection = std::make_unique<Http1Connection>(request_.services, std::move(accepted));
    inside_ = connection.get();
    co_await Connection::run_to_end(std::move(connection));
    inside_ = nullptr;
}

/// Requests inside the tunnel have the user of the CONNECT, and are not asked to log in.
net::awaitable<void> BumpedTunnel::find_user() {
    if (request_.identity || !request_.options->logins) co_return;
    LoginCheck login(request_);
    if (login.look() == LoginCheck::State::unknown) co_await login.verify();
    request_.record.texts.reason.clear();
}

/// A client that trusts only certain certificates is spliced the next time.
void BumpedTunnel::note_end(net::Error const& handshake) {
    using Kind = bump::HandshakeEnd::Kind;
    auto const* tls = request_.client.transport().tls();
    bump::HandshakeEnd end;
    end.after = std::chrono::duration_cast<milliseconds>(steady_now() - accepted_at_);
    if (tls->has_read())
        end.kind = Kind::succeeded;
    else if (tls->alert() >= 0)
        end.kind = Kind::alert, end.alert = static_cast<std::uint8_t>(tls->alert());
    else if (tls->has_sent_finished() && handshake != net::asio::error::timed_out && !aborted_ && !request_.services.drain.begun)
        end.kind = Kind::silent;
    if (end.refuses_certificate()) request_.services.counters.bump_refused.add();
    interception_->pins->note(request_.client.peer().address, host(), end, request_.options->bump.learn, wall_now());
}

void BumpedTunnel::abort() {
    aborted_ = true;
    if (inside_) inside_->abort();
}

}   // namespace garner::proxy
