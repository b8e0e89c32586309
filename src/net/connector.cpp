#include "net/connector.hpp"

#include <openssl/x509_vfy.h>

#include <algorithm>
#include <cerrno>
#include <deque>

#include "net/receive.hpp"
#include "net/tls_session.hpp"
#include "net/waiter.hpp"
#include "util/check.hpp"

namespace garner::net {

namespace {

ConnectFailure failure_of(Error const& error) {
    if (error == asio::error::timed_out) return ConnectFailure::timed_out;
    switch (error.value()) {
    case ECONNREFUSED: return ConnectFailure::refused;
    case EMFILE:
    case ENFILE: return ConnectFailure::no_descriptors;
    case EADDRNOTAVAIL:
    case ENOBUFS:
    case ENOMEM: return ConnectFailure::no_resources;
    default: return ConnectFailure::unreachable;
    }
}

/// If several addresses failed, the failure that tells most about the origin is reported.
int weight(ConnectFailure failure) {
    switch (failure) {
    case ConnectFailure::no_descriptors: return 5;
    case ConnectFailure::refused: return 4;
    case ConnectFailure::timed_out: return 3;
    case ConnectFailure::unreachable:
    case ConnectFailure::no_resources: return 2;
    case ConnectFailure::forbidden: return 1;
    default: return 0;
    }
}

/// IPv6 first, then alternating families; the order within a family is kept (RFC 8305 4).
std::vector<Address> interleaved(std::vector<Address> const& addresses) {
    std::vector<Address> v6, v4, order;
    for (auto const& address : addresses) (address.is_v6() ? v6 : v4).push_back(address);
    for (std::size_t i = 0; i < std::max(v6.size(), v4.size()); ++i) {
        if (i < v6.size()) order.push_back(v6[i]);
        if (i < v4.size()) order.push_back(v4[i]);
    }
    if (order.size() > Connector::attempts_max) order.resize(Connector::attempts_max);
    return order;
}

void cancel(Connected& result) {
    result.transport.reset();
    result.failure = ConnectFailure::cancelled;
    result.reason = "cancelled";
}

milliseconds until(SteadyTime then) { return std::max(std::chrono::ceil<milliseconds>(then - steady_now()), milliseconds{0}); }

/// A client may have accepted one error of a certificate; it has not accepted another.
bool is_accepted(TlsSession const& session, ConnectTarget const& target) {
    if (target.verification == Verification::required || target.accepted_fault == 0) return true;
    auto const result = session.verify_result();
    return result == X509_V_OK || result == target.accepted_fault;
}

}   // namespace

/// The attempts at one target's addresses. Each attempt's completion handler shares the ownership, because a closed loser
/// may complete after connect() has returned.
struct Connector::Race : std::enable_shared_from_this<Connector::Race> {
    Race(Executor on, NamesPtr const& names, ConnectTarget const& target, AddressFilter const& filter,
         ConnectorOptions const& options)
        : executor(on), addresses(interleaved(names->addresses)), port(target.port), allowed(filter),
          more_attempts(target.more_attempts), attempt_delay(options.attempt_delay), timeout(options.timeout),
          give_up(steady_now() + options.timeout) {}

    bool more() const { return next < addresses.size(); }
    bool decided() const { return winner || (!more() && running == 0); }
    std::size_t most() const { return more_attempts ? 1 + permitted : running_max; }
    bool may_start(SteadyTime now);
    void give_back();
    SteadyTime next_event(SteadyTime now) const;
    void start_next();
    void finished(std::size_t attempt, Error error);
    void failed(Address const& address, ConnectFailure with, std::string const& words);
    void note(Address const& address, ConnectFailure with, std::string const& words);
    void close_all_but_the_winner();

    struct Attempt {
        TcpSocket socket;
        Address address;
        SteadyTime since;
        bool is_running;
    };
    void end(Attempt& attempt);
    std::size_t oldest() const;
    /// When the oldest attempt may be replaced.
    SteadyTime replaceable() const { return attempts[oldest()].since + patience(timeout, running, addresses.size()); }
    Executor executor;
    std::vector<Address> addresses;
    std::uint16_t port;
    AddressFilter const& allowed;   // the caller's: must not be used in finished()
    MoreAttempts* more_attempts;    // also the caller's
    std::size_t permitted = 0;      // attempts beside the first one
    milliseconds attempt_delay;
    milliseconds timeout;
    SteadyTime give_up;
    SteadyTime next_start = SteadyTime::min();
    std::size_t next = 0;
    std::size_t running = 0;
    std::deque<Attempt> attempts;
    Attempt* winner = nullptr;
    ConnectFailure failure = ConnectFailure::none;
    std::string reason;
    Address tried;
    WakeHandle waiting;
};

void ConnectStop::request() {
    requested_ = true;
    waiting_.wake(Wake::client_gone);
    if (handshaking_) handshaking_->cancel();
}

Connector::Connector(asio::io_context& io, DeadlineWheel& wheel, Resolver& resolver, ConnectorOptions const& options)
    : io_(io), wheel_(wheel), resolver_(resolver), options_(options) {}

awaitable<Connected> Connector::connect(ConnectTarget const& target, AddressFilter const& allowed, ConnectStop* stop) {
    auto begun = steady_now();
    Connected result;
    WakeHandle* waiting = stop ? &stop->waiting_ : nullptr;
    NamesPtr names;
    if (target.address)
        names = std::make_shared<Names const>(Names{{*target.address}, {}, {}});
    else
        names = co_await resolver_.resolve(target.host, waiting);
    if (!names->failure.empty()) {
        result.failure = ConnectFailure::dns;
        result.reason = names->failure;
    } else {
        bool const again = co_await attempt(target, names, allowed, stop, result);
        if (again && !(stop && stop->requested())) {
            result = {};
            co_await attempt(target, names, allowed, stop, result);
        }
    }
    if (stop && stop->requested()) cancel(result);
    result.took = std::chrono::ceil<milliseconds>(steady_now() - begun);
    co_return result;
}

/// True if the server refused the ticket of an earlier session, so that a second attempt may succeed.
awaitable<bool> Connector::attempt(ConnectTarget const& target, NamesPtr const& names, AddressFilter const& allowed,
                                   ConnectStop* stop, Connected& result) {
    auto options = options_;
    options.timeout = target.timeout.value_or(options.timeout);
    auto race = std::make_shared<Race>(io_.get_executor(), names, target, allowed, options);
    co_await run(race, stop);
    race->close_all_but_the_winner();
    race->give_back();
    take_result(*race, result);
    if (result.transport && !target.preface.empty()) send_preface(target.preface, result);
    if (!result.transport || !target.tls) co_return false;
    co_return co_await begin_tls(target, race->give_up, stop, result);
}

awaitable<Connected> Connector::secure(std::unique_ptr<Transport> tunnel, ConnectTarget const& target, ConnectStop* stop) {
    auto const begun = steady_now();
    Connected result;
    result.transport = std::move(tunnel);
    co_await begin_tls(target, begun + target.timeout.value_or(options_.timeout), stop, result);
    if (stop && stop->requested()) cancel(result);
    result.took = std::chrono::ceil<milliseconds>(steady_now() - begun);
    co_return result;
}

awaitable<void> Connector::run(std::shared_ptr<Race> race, ConnectStop* stop) {
    while (!race->decided() && !(stop && stop->requested())) {
        auto now = steady_now();
        if (now >= race->give_up) {
            race->failure = ConnectFailure::timed_out;
            race->reason = "no response within " + std::to_string(race->timeout.count()) + " ms";
            co_return;
        }
        race->give_back();
        if (race->more() && now >= race->next_start && race->may_start(now)) {
            race->start_next();
            continue;
        }
        Waiter waiter(race->executor);
        race->waiting = waiter.handle();
        if (stop) stop->waiting_ = waiter.handle();
        auto limit = until(std::min(race->next_event(now), race->give_up));
        co_await waiter.wait(limit);
    }
}

void Connector::take_result(Race& race, Connected& result) {
    result.address = race.tried;
    if (!race.winner) {
        result.failure = race.failure;
        result.reason = race.reason;
        return;
    }
    result.address = race.winner->address;
    Error ignored;
    race.winner->socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    report_drained(race.winner->socket.native_handle());
    result.transport = std::make_unique<Transport>(std::move(race.winner->socket), wheel_);
}

/// The buffer of a new socket has room for it.
void Connector::send_preface(std::string preface, Connected& result) {
    iovec part{preface.data(), preface.size()};
    std::span<iovec> parts(&part, 1);
    auto const sent = result.transport->try_write(parts);
    if (!sent.error) return;
    result.failure = ConnectFailure::refused;
    result.reason = "the connection was closed before the PROXY header: " + sent.error.message();
    result.transport.reset();
}

awaitable<bool> Connector::begin_tls(ConnectTarget const& target, SteadyTime give_up, ConnectStop* stop, Connected& result) {
    check(target.tls != nullptr);
    auto& transport = *result.transport;
    if (stop) stop->handshaking_ = &transport;
    auto const& name = target.server_name.empty() ? target.host : target.server_name;
    auto left = std::max(until(give_up), milliseconds{1});
    Error error = co_await transport.start_tls(*target.tls, name, left, target.verification);
    if (stop) stop->handshaking_ = nullptr;
    if (!error && is_accepted(*transport.tls(), target)) co_return false;
    bool const refused = error && transport.tls() && transport.tls()->ticket_refused();
    result.failure = error == asio::error::timed_out ? ConnectFailure::timed_out : ConnectFailure::tls;
    result.reason = transport.tls_fault().empty() ? "TLS handshake: " + error.message() : transport.tls_fault();
    if (!error) result.reason = "the certificate has another error than the one that the client was shown";
    result.transport.reset();
    co_return refused;
}

milliseconds Connector::patience(milliseconds timeout, std::size_t running, std::size_t addresses) {
    auto const share = [timeout](std::size_t part, std::size_t whole) {
        return timeout * static_cast<int>(part) / static_cast<int>(std::max(whole, part));
    };
    return std::min(share(running_max, attempts_max), share(running, addresses));
}

bool Connector::Race::may_start(SteadyTime now) {
    if (running == 0 || running < most()) return true;
    if (running < running_max && more_attempts->enter()) {
        ++permitted;
        return true;
    }
    return now >= replaceable();
}

void Connector::Race::give_back() {
    for (; permitted > 0 && permitted >= running; --permitted) more_attempts->leave();
}

/// After may_start() has refused.
SteadyTime Connector::Race::next_event(SteadyTime now) const {
    if (!more()) return give_up;
    return now < next_start ? next_start : replaceable();
}

/// The index of the one that has run longest, while any runs.
std::size_t Connector::Race::oldest() const {
    auto const found = std::ranges::find_if(attempts, [](Attempt const& attempt) { return attempt.is_running; });
    return static_cast<std::size_t>(found - attempts.begin());
}

void Connector::Race::start_next() {
    auto address = addresses[next++];
    tried = address;
    if (allowed)
        if (char const* why = allowed(address)) return failed(address, ConnectFailure::forbidden, why);
    if (running > 0 && running >= most()) {
        auto& given_up = attempts[oldest()];
        note(given_up.address, ConnectFailure::timed_out, "no response");
        end(given_up);
    }
    TcpEndpoint endpoint(address, port);
    auto& attempt = attempts.emplace_back(TcpSocket(executor), address, steady_now(), true);
    Error error;
    attempt.socket.open(endpoint.protocol(), error);
    if (error) {
        attempts.pop_back();
        if (failure_of(error) == ConnectFailure::no_descriptors) next = addresses.size();
        return failed(address, failure_of(error), error.message());
    }
    ++running;
    next_start = steady_now() + attempt_delay;
    attempt.socket.async_connect(
        endpoint, [race = shared_from_this(), index = attempts.size() - 1](Error outcome) { race->finished(index, outcome); });
}

/// The descriptor is closed at once.
void Connector::Race::end(Attempt& attempt) {
    Error ignored;
    --running;
    attempt.is_running = false;
    attempt.socket.close(ignored);
}

void Connector::Race::finished(std::size_t index, Error error) {
    auto& attempt = attempts[index];
    if (!attempt.is_running) return;   // it was ended
    if (!error && !winner) {
        --running;
        attempt.is_running = false;
        winner = &attempt;
    } else {
        end(attempt);
        if (error && error != asio::error::operation_aborted) failed(attempt.address, failure_of(error), error.message());
    }
    waiting.wake(Wake::ready);
}

void Connector::Race::failed(Address const& address, ConnectFailure with, std::string const& words) {
    next_start = SteadyTime::min();
    note(address, with, words);
}

void Connector::Race::note(Address const& address, ConnectFailure with, std::string const& words) {
    if (weight(with) <= weight(failure)) return;
    failure = with;
    reason = address.to_string() + ": " + words;
}

void Connector::Race::close_all_but_the_winner() {
    for (auto& attempt : attempts)
        if (attempt.is_running) end(attempt);
    waiting = {};
}

}   // namespace garner::net
