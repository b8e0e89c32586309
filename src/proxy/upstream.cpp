#include "proxy/upstream.hpp"

#include <openssl/x509_vfy.h>

#include <algorithm>

#include "net/address.hpp"
#include "net/tls_session.hpp"
#include "proxy/admission.hpp"
#include "proxy/interception.hpp"
#include "proxy/line_account.hpp"
#include "proxy/passed_login.hpp"
#include "proxy/upstream_head.hpp"
#include "util/boot_clock.hpp"
#include "util/one_of.hpp"

namespace garner::proxy {

using cache::FailureKind;
using client::Trouble;
using http::Method;

namespace {

constexpr char const* cancelled = "The request was cancelled.";
/// Responses may have so many times limits.fields_max: some have hundreds of Warning or Set-Cookie.
constexpr std::size_t fields_factor = 4;

/// True for an error made by the next proxy, not by the origin: Squid marks it. A response that Garner only passes on has a
/// fwd-status or is a hit (RFC 9211 2.1, 2.3).
bool is_own_error(http::ResponseHead const& response) {
    if (response.fields.find("X-Squid-Error")) return true;
    auto const* status = response.fields.find("Cache-Status");
    if (!status) return false;
    auto const member = status->value.substr(status->value.rfind(',') + 1);
    return member.find("fwd-status=") == std::string_view::npos && member.find("; hit") == std::string_view::npos;
}

bool is_cut(Trouble trouble) { return trouble == Trouble::closed || trouble == Trouble::reset; }

/// A client may have accepted an error of the origin's certificate.
net::ConnectTarget origin_target(Request const& request) {
    auto const& authority = request.target.uri.authority;
    net::ConnectTarget where{.host = std::string(authority.host), .port = authority.port};
    if (auto const& destination = request.target.destination) where.address = net::to_asio(*destination);
    if (request.is_https()) where.tls = request.services.worker.origin_tls;
    where.accepted_fault = request.accepted_fault();
    if (where.accepted_fault != 0) where.verification = net::Verification::reported;
    return where;
}

/// A tunnel to this origin can be decrypted without a connection that only verifies its certificate.
void note_verified(Request const& request, net::Transport const& origin) {
    auto const& interception = request.services.interception;
    auto const* const session = origin.tls();
    if (!interception || !interception->minted || !session || session->verify_result() != X509_V_OK) return;
    auto const& authority = request.target.uri.authority;
    std::string place;
    http::append_host(authority, place);
    place.append(":").append(std::to_string(authority.port));
    interception->minted->note_verified(place, {session->peer_certificate(), wall_now()});
}

/// The failure if the parent that gets the client's own login asks for another one.
std::optional<Failure> demand_for_login(Request const& request, Sources const& sources, http::ResponseHead const& response) {
    auto const& peer = sources.current().peer;
    bool const is_passed = peer && peer->options.passes_login() && !request.only_origin();
    if (!is_passed || response.status != 407 || peer->options.type != icp::PeerOptions::Type::parent) return std::nullopt;
    auto challenges = passed_challenges(response.fields);
    if (challenges.empty()) return std::nullopt;
    return Failure{{407, sources.name() + " requires a login.", FailureKind::other}, FailureCause::none, std::move(challenges)};
}

/// The failure if the quota of the client is used up, or the response is no longer wanted.
net::awaitable<std::optional<Failure>> failure_on_line(Request& request) {
    auto& account = *request.account;
    std::optional<Failure> failure;
    bool is_allowed = account.may_ask();
    if (is_allowed) {
        bool const is_wanted = co_await wait_for_line(request);
        if (!is_wanted) {
            failure.emplace().told = {503, cancelled, FailureKind::other};
            co_return failure;
        }
        is_allowed = account.may_ask();   // other transfers of the client have gone on
    }
    if (!is_allowed) failure = over_quota(account.standing());
    co_return failure;
}

/// Any other failure may be the origin's: slow, or with a malformed head.
bool source_is_gone(Trouble trouble, client::Exchange const& exchange, Request const& request) {
    return is_cut(trouble) && !exchange.answered() && !exchange.reused() && !request.client_gone && !request.aborted;
}

}   // namespace

/// No coroutine for the usual case: the origin is the only source, and its answer is final.
net::awaitable<bool> Upstream::ask(RequestChanges const& changes) {
    bool const is_only_origin = !sources_.needs_choice() && !sources_.peer() && !sources_.has_next();
    return is_only_origin ? ask_current(changes) : ask_in_turn(changes);
}

net::awaitable<bool> Upstream::ask_in_turn(RequestChanges const& changes) {
    co_await sources_.choose();
    bool const answered = co_await ask_until_answered(changes);
    if (answered && silent_) silent_->lose_to_source_of(entered_at_);
    silent_.reset();
    co_return answered;
}

/// A peer that does not respond in time stays beside the next source: the first response is used.
net::awaitable<bool> Upstream::ask_until_answered(RequestChanges const& changes) {
    for (bool answered = co_await ask_current(changes);;) {
        if (silent_ && silent_->has_response()) {
            use_silent_response(true);
            answered = true;
        }
        auto demand = answered && !sources_.is_tunnelled() ? demand_for_login(request_, sources_, head()) : std::nullopt;
        if (demand) {
            failure_ = *std::move(demand);
            co_return false;
        }
        bool const try_next = answered && should_try_next_source();
        if (answered && !try_next) co_return true;
        if (try_next && sources_.current().promised()) sources_.peer()->false_hit();
        if (try_next && !may_try_next() && head().status == 407) {
            // The client does not know the requested login, and its own one would not be passed on.
            fail(502, sources_.name() + " rejected the login of this proxy (407).", FailureKind::peer);
            co_return false;
        }
        if (may_try_next()) {
            keep_if_silent(changes);
            sources_.go_to_next();
            answered = co_await ask_current(changes);
        } else {
            bool const has_response = co_await wait_for_silent_peers();
            if (!has_response) co_return answered;
            use_silent_response(false);
            answered = true;
        }
    }
}

/// True when a peer that has not responded in time has done so.
net::awaitable<bool> Upstream::wait_for_silent_peers() {
    while (silent_ && silent_->is_waiting() && !silent_->has_response() && is_wanted()) {
        request_.watch_client([this] { abort(); });
        auto const executor = request_.executor();
        co_await silent_->wait(executor);
        request_.client.unwatch();
    }
    co_return silent_ && silent_->has_response() && is_wanted();
}

SilentPeers& Upstream::silent_peers() {
    if (!silent_) silent_ = std::make_unique<SilentPeers>([this] { interrupt(); });
    return *silent_;
}

void Upstream::keep_if_silent(RequestChanges const& changes) {
    if (!is_silent_ || !has_connection()) return;
    auto const took = std::chrono::duration_cast<milliseconds>(steady_now() - sent_at_);
    auto const left = std::min(request_.options->deadlines.first_byte, changes.first_byte_max) - took;
    auto* const seats = request_.client.origin_seats();
    bool const is_in_time = left > milliseconds{0};
    auto seat = seats && is_in_time ? seats->try_take(request_.client.peer().address) : OriginSeat();
    bool const is_seated = !seats || seat;   // else the next source needs the only seat
    if (!is_in_time || !is_seated) return note_given_up();
    count_traffic();
    SilentExchange silent{.seat = std::move(seat),
                          .exchange = std::move(exchange_),
                          .use = std::move(use_),
                          .source = sources_.current(),
                          .pool_key = pool_key_,
                          .asked_at = asked_at_,
                          .sent_at = sent_at_,
                          .passed = passed_,
                          .address = address_};
    silent_peers().keep(std::move(silent), request_.executor(), request_.head().method, left);
}

/// The next source gets the request instead. For a CONNECT always: nothing was sent through the tunnel.
void Upstream::note_given_up() {
    SilentExchange silent;
    silent.source = sources_.current();
    silent.sent_at = sent_at_;
    silent_peers().keep(std::move(silent), request_.executor(), request_.head().method, {});
}

/// `interrupts`: the current source was still being asked.
void Upstream::use_silent_response(bool interrupts) {
    drop_exchange();
    failure_ = {};
    is_silent_ = false;
    auto silent = silent_->take_response();
    exchange_ = std::move(silent.exchange);
    seat_ = std::move(silent.seat);
    use_ = std::move(silent.use);
    pool_key_ = std::move(silent.pool_key);
    asked_at_ = silent.asked_at;
    sent_at_ = entered_at_ = silent.sent_at;
    passed_ = silent.passed;
    address_ = silent.address;
    sources_.come_back(std::move(silent.source), interrupts);
    sources_.note_current();
    request_.record.cache_status.fwd_status = head().status;
    note_answer();
}

/// The peer did not give the requested response, and another source may: a false hit (RFC 2187 5.2.1), or an error of the
/// peer itself. An origin's own response is passed on.
bool Upstream::should_try_next_source() const {
    auto const& peer = sources_.current().peer;
    if (!peer || sources_.is_tunnelled()) return false;
    auto const& response = head();
    auto const status = response.status;
    if (peer->options.type == icp::PeerOptions::Type::parent)
        return status == 407 || status == 429 || status == 502 || status == 504 || status == 508 ||
               ((status >= 500 || status == 403) && is_own_error(response));
    bool const of_origin = status < 400 || status == 404 || status == 410;   // these may be stored at the sibling
    if (!of_origin) return true;
    if (status != 200) return false;
    auto const terms = http::terms_of(response, asked_at_, wall_now(), request_.freshness_options({}));
    return terms.lifetime > 0 && http::current_age(terms, wall_now()) > std::int64_t{terms.lifetime};
}

bool Upstream::may_try_next() const {
    bool const is_refused =
        failure_.told.status == 407 || failure_.is_over_quota() || failure_.is_over_limit();   // for each source
    if (!sources_.has_next() || !is_wanted() || upload_.started() || is_refused) return false;
    bool const went_out = exchange_ != nullptr;
    return !went_out || http::is_idempotent(request_.head().method);
}

/// False when this source cannot be used: failure() has the reason.
bool Upstream::enter_source() {
    if (sources_.peer() || silent_) entered_at_ = steady_now();
    auto* mesh = request_.services.mesh;
    bool const measures = mesh && (mesh->wants_to_know() || sources_.current().peer);
    if (silent_ && silent_->has_response())
        fail(503, cancelled, FailureKind::other);
    else if (sources_.current().why == Hierarchy::no_direct_fail)
        fail(503, "No peer is available, and direct.never forbids a direct connection to the origin.", FailureKind::other);
    else if (!use_.begin(measures ? mesh : nullptr, sources_.current(), request_.target.uri.authority.host))
        fail(503, sources_.name() + " has no connection left (connections_max).", FailureKind::resources);
    else
        return true;
    return false;
}

// ---- one source ----

net::awaitable<bool> Upstream::ask_current(RequestChanges const& changes) {
    sources_.note_current();
    if (sources_.is_on_line() && request_.line_account()) {
        auto failure = co_await failure_on_line(request_);
        if (failure) {
            failure_ = *std::move(failure);
            co_return false;
        }
    }
    write_upstream_head(request_, sources_, changes, text_);
    write_pool_key(request_, sources_, pool_key_);
    for (bool again = false;; again = true) {
        close_exchange();
        failure_ = {};
        is_silent_ = false;
        if (request_.client.fetch_turns()) co_await wait_for_turn();
        bool is_seated = has_seat();
        if (!is_seated)
            is_seated = co_await wait_for_seat(std::min(request_.options->deadlines.first_byte, changes.first_byte_max));
        if (!is_seated || !enter_source()) co_return false;
        auto transport = again ? nullptr : take_pooled();
        bool const reused = transport != nullptr;
        if (!reused) transport = co_await connect();
        if (!reused && transport && sources_.is_tunnelled()) transport = co_await secure_through_peer(std::move(transport));
        if (!transport) co_return false;
        auto& counters = request_.services.counters;
        (reused ? counters.origin_reused : counters.origin_connections).add();
        bool const is_origin = !sources_.peer() || sources_.is_tunnelled();
        if (!reused && is_origin && request_.is_https()) note_verified(request_, *transport);
        begin_exchange(std::move(transport), reused);
        iovec part{text_.data(), text_.size()};
        std::span<iovec> parts(&part, 1);
        auto sent = try_send_request(parts);   // usually all of it: send() would cost a coroutine frame
        if (!sent) sent = co_await exchange_->send(parts, request_.options->deadlines.body);
        auto trouble = *sent;
        if (trouble == Trouble::none) trouble = co_await read_answer(changes);
        if (trouble == Trouble::none) {
            note_answer();
            co_return true;
        }
        if (upload_.running()) co_await upload_.join();
        is_silent_ = trouble == Trouble::timed_out && !exchange_->answered() && sources_.peer() && !sources_.is_tunnelled();
        note_failure(trouble);
        if (again || !may_repeat(trouble)) co_return false;
        request_.services.counters.origin_retries.add();
    }
}

net::awaitable<void> Upstream::wait_for_turn() {
    auto const origin = request_.origin();
    auto const executor = request_.executor();
    auto turn = co_await request_.client.fetch_turns()->take(origin, executor);
    turn_ = std::move(turn);
}

/// False: wait_for_seat() is next.
bool Upstream::has_seat() {
    auto* const seats = request_.client.origin_seats();
    if (!seats || seat_) return true;
    seat_ = seats->try_take(request_.client.peer().address);
    return static_cast<bool>(seat_);
}

/// A page with many parts over one HTTP/2 connection loads within the limits of its client: what is beyond them waits.
net::awaitable<bool> Upstream::wait_for_seat(milliseconds limit) {
    auto& seats = *request_.client.origin_seats();
    auto const client = request_.client.peer().address;
    request_.watch_client([this] { abort(); });
    auto seat = co_await seats.wait(client, limit, seat_awaited_);
    request_.client.unwatch();
    seat_ = std::move(seat);
    if (seat_) co_return true;
    if (request_.client_gone || request_.aborted)
        fail(503, cancelled, FailureKind::other);
    else
        failure_ = no_seat(seats.refused_by(), seats.refused_by() == limit_of_client, limit);
    co_return false;
}

void Upstream::begin_exchange(std::unique_ptr<net::Transport> transport, bool reused) {
    auto limits = request_.options->limits.head;
    limits.fields *= fields_factor;
    exchange_ = std::make_unique<client::Exchange>(std::move(transport), request_.services.worker.buffers.take(), reused, limits);
    if (request_.account) exchange_->read_at_most(request_.account->piece(share::Direction::down));
}

/// Nothing: `parts` is left to be sent.
std::optional<Trouble> Upstream::try_send_request(std::span<iovec>& parts) {
    asked_at_ = wall_now();
    sent_at_ = steady_now();
    passed_ = request_.passes_caches ? cache::Lease::step_of(boot_now()) : 0;
    went_out_ = true;
    bool const patient = sources_.peer() && request_.sends_body();
    if (patient) exchange_->transport().limit_unacknowledged(milliseconds{0});
    return exchange_->try_send(parts);
}

/// Returns when the final head has arrived; the request's body is sent meanwhile.
net::awaitable<Trouble> Upstream::read_answer(RequestChanges const& changes) {
    auto const faulty = [this](Upload::Fault fault) {
        if (fault.status == 429)
            failure_ = over_quota(request_.account->standing());
        else if (fault.status != 0)
            fail(fault.status, std::move(fault.reason), FailureKind::other);
    };
    auto const moved = [this] {
        request_.record.count_traffic(request_);
        if (has_connection()) count_traffic();
    };
    // The end of a chunked body is sent, too, if all of the body has arrived: over HTTP/2 it may be empty.
    bool const owes_end = request_.client.body_framing().kind == http::Framing::Kind::chunked && !upload_.started();
    if (owes_end || !request_.client.body_done()) upload_.start(*exchange_, faulty, moved);
    // Its response came while the connection was opened.
    if (silent_ && silent_->has_response()) exchange_->cancel();
    FinalHead::Terms const terms{request_.head().method, changes.of_rest, changes.first_byte_max, may_try_next()};
    return final_head_.read(*exchange_, terms);
}

void Upstream::note_failure(Trouble trouble) {
    bool const of_peer = sources_.peer() && !sources_.is_tunnelled();
    if (failure_.told.reason.empty()) {
        failure_ = failure_of(trouble, sources_.name(), exchange_->fault());
        if (of_peer) failure_ = at_peer(std::move(failure_));
    }
    if (of_peer && source_is_gone(trouble, *exchange_, request_))
        sources_.peer()->connect_failed(failure_.told.reason, steady_now());
}

/// RFC 9110 9.2.2, RFC 9112 9.3.1: one retry, if an idle connection had died under a repeatable request.
bool Upstream::may_repeat(Trouble trouble) {
    bool const died = is_cut(trouble) && exchange_->reused() && !exchange_->answered() && !request_.aborted;
    if (!died) return false;
    auto const idle = std::chrono::duration_cast<milliseconds>(sent_at_ - idle_since_);
    request_.services.worker.pool.note_closed(pool_key_, idle);
    // A peer whose connection took this long to fail is unreachable: a new connection would only cost a second wait.
    constexpr milliseconds cut_off{1'000};
    if (sources_.peer() && steady_now() - sent_at_ > cut_off) {
        sources_.peer()->connect_failed(failure_.told.reason, steady_now());
        return false;
    }
    bool const wanted = !request_.client_gone || request_.others_wait();
    return wanted && http::is_idempotent(request_.head().method) && !upload_.started();
}

/// A pooled connection may have been opened for a client with other rights. The origin may close an idle one while a request is on
/// its way. A request that cannot be repeated gets one that was used a moment ago, and that the origin has not closed since.
std::unique_ptr<net::Transport> Upstream::take_pooled() {
    if (request_.accepted_fault() != 0) return nullptr;
    constexpr milliseconds moment{1'000};
    bool const is_repeatable = http::is_idempotent(request_.head().method) && !request_.sends_body();
    auto const idle_max = is_repeatable ? milliseconds::max() : moment;
    while (auto transport = request_.services.worker.pool.take(pool_key_, idle_max, &idle_since_)) {
        if (!is_repeatable && transport->stale()) continue;
        address_ = transport->remote();
        if (sources_.peer()) return transport;   // the operator's own choice
        if (request_.may_reach(address_)) return transport;
    }
    return nullptr;
}

net::awaitable<std::unique_ptr<net::Transport>> Upstream::connect() {
    auto const peer = sources_.current().peer;
    auto where = peer ? peer->target() : origin_target(request_);
    where.preface = proxy_header(request_, sources_);
    net::AddressFilter filter = [this, &peer](net::Address const& address) -> char const* {
        if (peer) return peer->refusal(net::to_ip(address));
        auto decision = request_.permits(request_.facts(), net::to_ip(address));
        if (decision.allowed()) return nullptr;
        request_.record.set_rule(decision, net::to_ip(address));
        return request_.record.texts.rule.c_str();
    };
    auto connected = co_await connect_to(where, filter);
    address_ = connected.failure == net::ConnectFailure::forbidden ? IpAddress() : net::to_ip(connected.address);
    if (connected.failure == net::ConnectFailure::none) {
        connected.transport->set_remote(address_);
        note_connected(*connected.transport);
        co_return std::move(connected.transport);
    }
    failure_ = failure_of(connected, sources_.name(), peer != nullptr);
    if (peer) failure_ = at_peer(std::move(failure_));
    using enum net::ConnectFailure;
    bool const theirs = is_one_of<refused, unreachable, timed_out, tls>(connected.failure);
    if (peer && theirs) peer->connect_failed(connected.reason, steady_now());
    co_return nullptr;
}

net::awaitable<net::Connected> Upstream::connect_to(net::ConnectTarget& where, net::AddressFilter const& filter) {
    auto& worker = request_.services.worker;
    CountedAttempts attempts(request_.services, request_.client.peer().address);
    where.more_attempts = &attempts;
    if (request_.reloads()) worker.resolver.forget_failure(where.host);
    net::ConnectStop stop;
    connecting_ = &stop;
    request_.watch_client([this] { abort(); });
    auto connected = co_await worker.connector.connect(where, filter, &stop);
    constexpr std::size_t idle_ones = 8;   // idle connections to close when descriptors are needed
    if (connected.failure == net::ConnectFailure::no_descriptors && worker.pool.close_oldest(idle_ones) > 0)
        connected = co_await worker.connector.connect(where, filter, &stop);
    request_.client.unwatch();
    connecting_ = nullptr;
    co_return connected;
}

/// The mesh learns the round-trip time. A peer with a broken link must be noticed before the origin's deadlines expire.
void Upstream::note_connected(net::Transport& transport) {
    if (!request_.services.mesh) return;
    if (auto const rtt = transport.round_trip()) use_.connected(*rtt);
    if (sources_.peer()) transport.expect_life(sources_.peer()->options.connect_timeout);
}

void Upstream::note_answer() {
    use_.head_came();
    auto const took = steady_now() - sent_at_;
    if (sources_.peer() && !sources_.is_tunnelled())
        sources_.peer()->responded(std::chrono::duration_cast<microseconds>(took), steady_now());
    if (sources_.peer() || upload_.started()) return;
    request_.services.first_bytes.add(request_.origin(), std::chrono::duration_cast<milliseconds>(took));
}

void Upstream::finish_exchange() {
    if (!exchange_) return;
    count_traffic();
    use_.fetched(fetched_);
    use_.end();
    // After half a request's body the origin would read the next request as the rest of it. After a refused upgrade an
    // origin may have stopped parsing HTTP: Node drops bytes that it cannot read from then on.
    bool const plain = !request_.wants_upgrade();
    bool const verified = request_.accepted_fault() == 0;
    // The next stream of HTTP/2, or the next request of a gateway, may be another user's.
    auto const& client = *request_.client.client();
    bool const is_of_request = client.own_connections != 0 && (client.http2 || client.gateway);
    bool const again = verified && !is_of_request && upload_.sent_whole() && plain && !upload_.running() && exchange_->reusable();
    if (!again) return;
    if (sources_.peer() && request_.sends_body()) exchange_->transport().expect_life(sources_.peer()->options.connect_timeout);
    auto const idle_max = exchange_->idle_max();
    request_.services.worker.pool.give(pool_key_, exchange_->release(), idle_max);
    seat_.end();   // a slow client holds none
}

void Upstream::drop_exchange() {
    close_exchange();
    seat_.end();
}

void Upstream::close_exchange() {
    garner::check(!upload_.running());
    if (has_connection()) count_traffic();
    fetched_ = 0;
    exchange_.reset();
    use_.end();
    turn_.end();
}

void Upstream::count_traffic() {
    auto const traffic = exchange_->take_traffic();
    fetched_ += traffic.received;
    use_.received(traffic.received);
    if (request_.in_group.of_offer || request_.in_group.replicates)
        request_.services.counters.replicated.add(use_.replication_source(), traffic.received);
    if (!sources_.peer()) request_.services.counters.add_origin_traffic(traffic.received, traffic.sent);
    if (request_.account && sources_.is_on_line()) request_.account->charge_both(traffic.received, traffic.sent);
}

std::string Upstream::peer_text() const {
    bool const of_peer = sources_.at() < sources_.all().size() && sources_.peer();
    if (of_peer) return sources_.peer()->options.name;
    return address_.is_unspecified() ? std::string() : address_.text();
}

void Upstream::abort() {
    interrupt();
    if (silent_) silent_->wake();
}

void Upstream::interrupt() {
    seat_awaited_.wake(net::Wake::shutdown);
    if (connecting_) connecting_->request();
    if (exchange_) exchange_->cancel();
}

// ---- tunnels through peers (RFC 9110 9.3.6) ----

net::awaitable<std::unique_ptr<net::Transport>> Upstream::open_tunnel(std::string& early) {
    co_await sources_.choose();
    for (;;) {
        sources_.note_current();
        std::unique_ptr<net::Transport> transport;
        if (request_.line_account()) {
            auto failure = co_await failure_on_line(request_);
            if (failure) {
                failure_ = *std::move(failure);
                co_return nullptr;
            }
        }
        bool is_seated = has_seat();
        if (!is_seated) is_seated = co_await wait_for_seat(request_.options->deadlines.first_byte);
        if (is_seated && enter_source()) transport = co_await connect();
        if (transport) request_.services.counters.origin_connections.add();
        if (transport && sources_.peer()) transport = co_await connect_through_peer(std::move(transport), early);
        if (transport && silent_) silent_->lose_to_source_of(entered_at_);
        if (transport || !may_try_next()) co_return transport;
        sources_.go_to_next();
    }
}

/// Sends CONNECT to the next proxy; the tunnel is open after its 2xx.
net::awaitable<std::unique_ptr<net::Transport>> Upstream::connect_through_peer(std::unique_ptr<net::Transport> transport,
                                                                               std::string& early) {
    // Both ends of a tunnel may be silent for any time.
    transport->limit_unacknowledged(milliseconds{0});
    begin_exchange(std::move(transport), false);
    auto text = connect_head(request_, sources_);
    iovec part{text.data(), text.size()};
    std::span<iovec> parts(&part, 1);
    sent_at_ = steady_now();
    auto trouble = co_await exchange_->send(parts, request_.options->deadlines.body);
    FinalHead::Terms const terms{.method = Method::connect, .may_give_way = sources_.has_next() && !upload_.started()};
    if (trouble == Trouble::none) trouble = co_await final_head_.read(*exchange_, terms);
    auto const status = trouble == Trouble::none ? head().status : 0;
    auto const took = std::chrono::duration_cast<microseconds>(steady_now() - sent_at_);
    if (status != 0) sources_.peer()->responded(took, steady_now());
    if (trouble == Trouble::timed_out && !exchange_->answered()) note_given_up();
    if (status >= 200 && status < 300) {
        early = exchange_->leftover();
        auto tunnel = exchange_->release();
        exchange_.reset();
        co_return tunnel;
    }
    auto demand = status != 0 ? demand_for_login(request_, sources_, head()) : std::nullopt;
    if (demand) {
        request_.record.cache_status.fwd_status = status;
        failure_ = *std::move(demand);
    } else if (status != 0) {
        fail(502, sources_.name() + " does not open the tunnel: it responded with " + std::to_string(status) + ".",
             FailureKind::peer);
    } else {
        failure_ = at_peer(failure_of(trouble, sources_.name(), exchange_->fault()));
    }
    if (source_is_gone(trouble, *exchange_, request_)) sources_.peer()->connect_failed(failure_.told.reason, steady_now());
    exchange_.reset();   // no tunnel was opened: another source may be tried
    co_return nullptr;
}

net::awaitable<std::unique_ptr<net::Transport>> Upstream::secure_through_peer(std::unique_ptr<net::Transport> transport) {
    std::string early;
    transport = co_await connect_through_peer(std::move(transport), early);
    if (!transport) co_return nullptr;
    if (!early.empty()) {
        fail(502, sources_.name() + " sent bytes into the tunnel before the TLS handshake.", FailureKind::peer,
             FailureCause::connection);
        co_return nullptr;
    }
    auto const where = origin_target(request_);
    auto connected = co_await secure(std::move(transport), where);
    if (connected.transport) {
        connected.transport->expect_life(sources_.peer()->options.connect_timeout);
        co_return std::move(connected.transport);
    }
    bool const timed_out = connected.failure == net::ConnectFailure::timed_out;
    if (connected.failure == net::ConnectFailure::cancelled)
        fail(503, cancelled, FailureKind::other);
    else
        fail(502, "The origin could not be reached through the " + sources_.peer_name() + ": " + connected.reason,
             timed_out ? FailureKind::connect_timeout : FailureKind::tls, FailureCause::connection);
    co_return nullptr;
}

net::awaitable<net::Connected> Upstream::secure(std::unique_ptr<net::Transport> transport, net::ConnectTarget const& where) {
    net::ConnectStop stop;
    connecting_ = &stop;
    request_.watch_client([this] { abort(); });
    auto connected = co_await request_.services.worker.connector.secure(std::move(transport), where, &stop);
    request_.client.unwatch();
    connecting_ = nullptr;
    co_return connected;
}

}   // namespace garner::proxy
