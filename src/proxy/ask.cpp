// Asking one source, the origin or a peer: the request, a connection, its head; and once more where that is safe.
#include <boost/asio/error.hpp>

#include "http/hop_by_hop.hpp"
#include "http/range.hpp"
#include "net/address.hpp"
#include "proxy/decision.hpp"
#include "proxy/transaction.hpp"

namespace garner::proxy {

using client::Trouble;
using http::Method;
using http::Name;

void Transaction::write_request(http::Validators validators, bool strip_conditions) {
    auto const& request = client_.head();
    RequestExtras extras;
    extras.target = target_.path;
    if (source().peer && !is_tunnelled()) {
        write_peer_target();
        extras.target = absolute_;
        extras.peer_lines = peer_lines_;
    }
    extras.host = target_.host_field;
    extras.via = services_.shared.via_name;
    extras.body = client_.body_framing();
    extras.validators = validators;
    extras.strip_conditions = strip_conditions;
    if (parts_ || resuming_) extras.range_lines = range_text_;
    extras.upgrade = wants_upgrade();
    extras.strip_range = http::is_excessive_range(request.fields);
    extras.strip_gateway = drops_gateway_fields(*options_, target_.accelerated, client_.peer().address);
    auto const forwarded = lines_of_forwarding(extras.strip_gateway);
    extras.forwarded_lines = forwarded;
    if ((request.method == Method::trace || request.method == Method::options) && request.fields.has(Name::max_forwards)) {
        auto hops = parse_decimal(request.fields.first(Name::max_forwards));
        if (hops && *hops > 0) extras.max_forwards = static_cast<std::uint32_t>(std::min<std::uint64_t>(*hops, 1'000'000) - 1);
    }
    request_text_.clear();
    append_request_head(request, extras, request_text_);
}

std::string Transaction::lines_of_forwarding(bool anew) const {
    auto const& client = client_.peer_text();
    if (options_->forwarded != ForwardedField::by_listener) return forwarded_line(options_->forwarded, client);
    if (!target_.accelerated) return {};
    return forwarded_lines(client, target_.host_field, anew ? nullptr : &client_.head().fields);
}

/// RFC 9112 3.2.2: absolute-form. A sibling is asked for what it has; it must not fetch (RFC 2187 5.2).
void Transaction::write_peer_target() {
    auto const& peer = source().peer->options;
    garner::check(target_.uri.scheme != http::Scheme::https);   // never in clear
    absolute_.assign("http://").append(target_.host_field).append(target_.path == "*" ? "" : target_.path);
    peer_lines_.clear();
    if (peer.type == icp::PeerOptions::Type::sibling) peer_lines_ += "Cache-Control: only-if-cached\r\n";
    // It may still have what an unsafe request has changed.
    if (services_.mesh->changed().has(target_.url, steady_now())) peer_lines_ += "Cache-Control: no-cache\r\n";
    append_peer_login(peer.login, peer_lines_);
}

net::awaitable<bool> Transaction::ask_source(http::Validators validators, bool strip_conditions) {
    write_request(validators, strip_conditions);
    auto const begun = steady_now();
    if (co_await try_source(false)) co_return true;
    // RFC 9110 9.2.2, RFC 9112 9.3.1: once more, when an idle connection had died under a request that can be repeated.
    bool closed = trouble_ == Trouble::closed || trouble_ == Trouble::reset;
    bool died = closed && exchange_ && exchange_->reused() && !exchange_->answered() && !aborted_;
    bool wanted = !client_gone_ || others_wait();
    // A peer whose connection took so long to die is cut off: a new one would only cost a second wait.
    constexpr milliseconds cut_off{1'000};
    if (died && source().peer && steady_now() - begun > cut_off) {
        source().peer->connect_failed(failure_.reason, steady_now());
        co_return false;
    }
    if (!died || !wanted || !http::is_idempotent(client_.head().method) || upload_.started) co_return false;
    services_.counters.origin_retries.add();
    co_return co_await try_source(true);
}

net::awaitable<bool> Transaction::try_source(bool fresh_connection) {
    drop_exchange();
    failure_ = {};
    fault_ = Fault::nobodys;
    trouble_ = Trouble::none;
    write_pool_key();
    if (!enter_way()) co_return false;
    std::unique_ptr<net::Transport> transport;
    if (!fresh_connection) transport = take_pooled();
    bool reused = transport != nullptr;
    if (!reused) {
        transport = co_await connect();
        if (transport && is_tunnelled()) transport = co_await secure_through_peer(std::move(transport));
        if (!transport) co_return false;
    }
    (reused ? services_.counters.origin_reused : services_.counters.origin_connections).add();
    exchange_ = std::make_unique<client::Exchange>(std::move(transport), services_.worker.buffers.take(), reused,
                                                   options_->limits.head);
    asked_at_ = wall_now();
    went_out_ = true;
    bool const patient = source().peer && sends_body();
    if (patient) exchange_->transport().limit_unacknowledged(milliseconds{0});
    iovec part{request_text_.data(), request_text_.size()};
    std::span<iovec> parts(&part, 1);
    auto trouble = co_await exchange_->send(parts, options_->deadlines.body);
    auto const asked = steady_now();
    if (trouble == Trouble::none) {
        if (!client_.body_done()) start_upload();
        trouble = co_await read_final_head(client_.head().method);
    }
    if (trouble == Trouble::none) {
        note_first_byte(asked);
        use_.head_came();
        co_return true;
    }
    trouble_ = trouble;
    co_await join_upload();
    if (failure_.reason.empty()) failed_by(trouble);
    // Nothing else is the peer's own fault: the origin behind it may be slow, or its head strange.
    bool const cut = (trouble == Trouble::closed || trouble == Trouble::reset) && !exchange_->answered();
    bool const of_peer = source().peer && !is_tunnelled() && cut && !reused && !client_gone_ && !aborted_;
    if (of_peer) source().peer->connect_failed(failure_.reason, steady_now());
    co_return false;
}

void Transaction::write_pool_key() {
    auto const& authority = target_.uri.authority;
    net::PoolKey key{.tls = target_.uri.scheme == http::Scheme::https, .host = authority.host, .port = authority.port,
                     .peer = {}, .server_name = authority.host};
    if (is_tunnelled())
        key.peer = source().peer->options.name;
    else if (auto const& peer = source().peer)
        key = {.tls = false, .host = peer->options.host, .port = peer->options.http, .peer = peer->options.name,
               .server_name = {}};
    net::pool_key(key, pool_key_);
}

/// A pooled connection may have been opened for somebody whom other rules let further.
std::unique_ptr<net::Transport> Transaction::take_pooled() {
    while (auto transport = services_.worker.pool.take(pool_key_)) {
        peer_ = transport->remote();
        if (source().peer) return transport;   // the operator's own choice
        if (permits(rule_request(), peer_).allowed()) return transport;
    }
    return nullptr;
}

net::awaitable<std::unique_ptr<net::Transport>> Transaction::connect() {
    auto const& authority = target_.uri.authority;
    net::ConnectTarget where;
    where.host = std::string(authority.host);
    where.port = authority.port;
    where.tls = target_.uri.scheme == http::Scheme::https && client_.head().method != Method::connect;
    auto const peer = source().peer;
    if (peer) {
        where.host = peer->options.host;
        where.port = peer->options.http;
        where.tls = false;
        where.timeout = peer->options.connect_timeout;
    }
    net::AddressFilter filter = [this, &peer](net::Address const& address) -> char const* {
        if (peer) return nullptr;
        auto decision = permits(rule_request(), net::to_ip(address));
        if (decision.allowed()) return nullptr;
        note_rule(decision);
        return rule_text_.c_str();
    };
    if (reloads()) services_.worker.resolver.forget_failure(where.host);
    net::ConnectStop stop;
    connecting_ = &stop;
    client_.watch([this] {
        client_gone_ = true;
        if (connecting_ && !others_wait()) connecting_->request();
    });
    auto connected = co_await services_.worker.connector.connect(where, filter, &stop);
    constexpr std::size_t idle_ones = 8;   // an idle connection gives its descriptor to one that is needed
    if (connected.failure == net::ConnectFailure::no_descriptors && services_.worker.pool.close_oldest(idle_ones) > 0)
        connected = co_await services_.worker.connector.connect(where, filter, &stop);
    client_.unwatch();
    connecting_ = nullptr;
    peer_ = net::to_ip(connected.address);
    if (connected.failure == net::ConnectFailure::none) {
        connected.transport->set_remote(peer_);
        note_connected(*connected.transport);
        co_return std::move(connected.transport);
    }
    failed_to_connect(connected);
    using enum net::ConnectFailure;
    bool const theirs = connected.failure == refused || connected.failure == unreachable || connected.failure == timed_out;
    if (peer && theirs) peer->connect_failed(connected.reason, steady_now());
    co_return nullptr;
}

/// The mesh learns how near it is; a peer whose link is cut is to be noticed before the origin's deadlines run out.
void Transaction::note_connected(net::Transport& transport) {
    if (!services_.mesh) return;
    if (auto const rtt = transport.round_trip()) use_.connected(*rtt);
    if (source().peer) transport.expect_life(source().peer->options.connect_timeout);
}

/// Others count on this fetch: it goes on when this client leaves, else each that leaves would make them start anew.
bool Transaction::others_wait() const { return led_ && led_->followers() > 0; }

net::awaitable<Trouble> Transaction::read_final_head(http::Method method) {
    // A peer may be frozen while its kernel still acknowledges: one that is silent for so long is asked for a sign of life.
    constexpr milliseconds doubtful{1'000};
    constexpr milliseconds soon{2'000};
    auto const first_byte = hurried_ ? std::min(soon, options_->deadlines.first_byte) : options_->deadlines.first_byte;
    bool const doubts = source().peer && !is_tunnelled() && at_source_ + 1 < sources_.size();
    bool const opens_tunnel = is_tunnelled() && method == Method::connect;   // the parent speaks, not the origin
    auto give_up = steady_now() + first_byte;
    for (std::uint32_t interim = 0;;) {
        bool uploading = upload_.running;
        bool watch = !uploading;
        if (watch)
            client_.watch([this] {
                client_gone_ = true;
                if (!others_wait()) exchange_->cancel();
            });
        auto const limit = doubts ? std::min(first_byte, doubtful) : first_byte;
        auto trouble = co_await exchange_->read_head(method, limit);
        if (watch) client_.unwatch();
        // The head may have come in the very moment: the exchange is cancelled all the same.
        if (client_gone_ && !others_wait()) co_return Trouble::cancelled;
        // While the body was still on its way the origin had nothing to answer; the body's own deadline watched that.
        if (uploading) give_up = steady_now() + first_byte;
        if (trouble == Trouble::timed_out && uploading) continue;
        if (trouble == Trouble::timed_out && doubts && steady_now() < give_up) {
            bool const lives = co_await services_.agent->is_there(source().peer, target_.url, &waiting_);
            if (lives) continue;
        }
        if (trouble != Trouble::none) co_return trouble;
        auto status = exchange_->head().status;
        if (status >= 200 || status == 101) {
            if (!opens_tunnel) status_.fwd_status = status;
            co_return Trouble::none;
        }
        if (interim++ >= options_->limits.interim_responses) {
            failed(502, "The origin sends interim responses without end.", Fault::answer);
            co_return Trouble::malformed;
        }
        give_up = steady_now() + first_byte;
        if (opens_tunnel) continue;
        if (!pass_interim() && !others_wait()) co_return Trouble::cancelled;
    }
}

void Transaction::note_first_byte(SteadyTime asked) {
    if (source().peer || upload_.started) return;
    services_.first_bytes.add(origin_fingerprint(), std::chrono::duration_cast<milliseconds>(steady_now() - asked));
}

/// RFC 9110 15.2: interim responses are passed on, but not to HTTP/1.0; and not into a body. Nothing waits for a client that
/// does not read: followers may wait for the final response. A response of which the socket takes nothing is dropped. False:
/// the client is gone.
bool Transaction::pass_interim() {
    if (resuming_ || client_.nobody()) return true;
    if (client_.head().version == http::Version::http_1_0) return true;
    if (client_gone_) return false;
    if (send_interim_rest() == net::asio::error::would_block) return true;
    head_text_.clear();
    auto const& interim = exchange_->head();
    append_status_line(interim.status, interim.reason, head_text_);
    http::HopByHop hop_by_hop(interim.fields);
    for (auto const& field : interim.fields)
        if (!hop_by_hop.dropped(field) && field.id != Name::content_length)
            head_text_.append(field.name).append(": ").append(field.value).append("\r\n");
    head_text_.append("\r\n");
    interim_rest_ = head_text_;
    auto const error = send_interim_rest();
    if (interim_rest_.size() == head_text_.size()) interim_rest_.clear();
    if (!error || error == net::asio::error::would_block) return true;
    client_gone_ = close_ = true;
    return false;
}

void Transaction::finish_exchange() {
    if (!exchange_) return;
    count_source_traffic();
    use_.fetched(fetched_);
    use_.end();
    // Behind half a request's body the next request would be taken for the rest of it. And an origin that did not switch
    // may have left HTTP half-way all the same: Node drops what it cannot read from then on.
    bool plain = !wants_upgrade();
    bool const again = sent_whole() && plain && !upload_.running && exchange_->reusable();
    if (!again) return;
    if (source().peer && sends_body()) exchange_->transport().expect_life(source().peer->options.connect_timeout);
    services_.worker.pool.give(pool_key_, exchange_->release());
}

/// Closes the connection, unless it went back to the pool.
void Transaction::drop_exchange() {
    garner::check(!upload_.running);
    if (exchange_ && exchange_->connected()) count_source_traffic();
    fetched_ = 0;
    exchange_.reset();
    use_.end();
}

void Transaction::count_source_traffic() {
    auto const traffic = exchange_->take_traffic();
    fetched_ += traffic.received;
    if (!source().peer) services_.counters.add_origin_traffic(traffic.received, traffic.sent);
}

void Transaction::failed(std::uint16_t status, std::string reason, Fault fault) {
    failure_ = {status, std::move(reason)};
    fault_ = fault;
}

/// A body, or what follows an upgrade: it may have to wait for who takes it.
bool Transaction::sends_body() const {
    return client_.body_framing().kind != http::Framing::Kind::none || wants_upgrade();
}

std::string Transaction::peer_name() const {
    auto const& peer = source().peer->options;
    return (peer.type == icp::PeerOptions::Type::parent ? "parent " : "sibling ") + peer.name;
}

std::string Transaction::source_name() const {
    return source().peer ? "The " + peer_name() : "The origin";
}

void Transaction::failed_by(Trouble trouble) {
    constexpr auto fault = Fault::answer;
    auto const who = source_name();
    switch (trouble) {
    case Trouble::timed_out: return failed(504, who + " did not answer in time.", fault);
    case Trouble::malformed: return failed(502, who + " answers what is malformed: " + exchange_->fault(), fault);
    case Trouble::cancelled: return failed(503, "The request was given up.");
    default: return failed(502, who + " closed the connection without an answer.", fault);
    }
}

void Transaction::failed_to_connect(net::Connected const& connected) {
    using F = net::ConnectFailure;
    constexpr auto theirs = Fault::connection;
    auto const who = source_name();
    switch (connected.failure) {
    case F::forbidden: return failed(403, "This proxy's rules do not allow this destination.");
    case F::timed_out: return failed(504, who + " could not be reached in time: " + connected.reason, theirs);
    case F::no_descriptors: return failed(503, "This proxy has no descriptors left: " + connected.reason);
    case F::no_resources: return failed(502, who + " could not be reached: " + connected.reason);
    case F::dns:
        return failed(502, (source().peer ? who + "'s" : "The") + " name could not be resolved: " + connected.reason, Fault::name);
    case F::cancelled: return failed(503, "The request was given up.");
    default: return failed(502, who + " could not be reached: " + connected.reason, theirs);
    }
}

}  // namespace garner::proxy
