#include "group/voter_side.hpp"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <utility>

#include "group/proxy_place.hpp"
#include "group/shown.hpp"
#include "io/log.hpp"
#include "net/address.hpp"
#include "net/listen_error.hpp"
#include "util/boot_clock.hpp"
#include "util/random_bits.hpp"

namespace garner::group {

namespace asio = net::asio;

namespace {

constexpr milliseconds no_descriptors_pause{100};

std::uint64_t new_instance() { return random_bits() | 1; }

/// A name from another process, for the log.
std::string in_log(std::string_view name) { return name.empty() ? "(no name)" : shown(name); }

}   // namespace

VoterSide::VoterSide(asio::io_context& io, Settings const& settings, std::string secret, GroupState::Totals& totals,
                     std::function<void()> settle)
    : io_(io), settings_(settings), secret_(std::move(secret)), totals_(totals), settle_(std::move(settle)), acceptor_(io),
      pause_(io) {}

Result<void> VoterSide::open(IpEndpoint const& address, int handed) {
    net::TcpEndpoint const endpoint(net::to_asio(address.address), address.port);
    net::Error error;
    if (handed >= 0)
        acceptor_.assign(endpoint.protocol(), handed, error);
    else
        acceptor_.open(endpoint.protocol(), error);
    if (!error && handed < 0) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error && handed < 0) acceptor_.bind(endpoint, error);
    if (!error && handed < 0) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error && handed >= 0) ::close(handed);
    if (error) return Fault{.what = error.message(), .mend = net::mend_of_listening(error), .where = address.text()};
    is_v4_ = address.address.is_v4();
    descriptor_ = acceptor_.native_handle();
    return {};
}

void VoterSide::start() { begin(); }

void VoterSide::begin() {
    voter_ = std::make_unique<Voter>(settings_, new_instance(), boot_now());
    auto accepting = accept();
    asio::co_spawn(io_.get_executor(), std::move(accepting), asio::detached);
}

/// Not close(): Asio would leave the socket, which another process has open, in its epoll set.
void VoterSide::pause() {
    net::Error error;
    if (acceptor_.is_open()) kept_ = acceptor_.release(error);
    pause_.cancel();
    for (auto& [number, one] : incoming_) one.link->drop();
    incoming_.clear();
    voter_ = nullptr;
}

void VoterSide::resume() {
    if (kept_ < 0) return;
    net::Error error;
    int const descriptor = std::exchange(kept_, -1);
    acceptor_.assign(is_v4_ ? asio::ip::tcp::v4() : asio::ip::tcp::v6(), descriptor, error);
    if (!error) return begin();
    spdlog::error("group: this member is no voter any more, because its socket cannot be used: {}", error.message());
    ::close(descriptor);
    descriptor_ = -1;
}

void VoterSide::stop() {
    pause();
    if (kept_ >= 0) ::close(std::exchange(kept_, -1));
    descriptor_ = -1;
}

// ---- connections ----

net::awaitable<void> VoterSide::accept() {
    while (acceptor_.is_open()) {
        auto [error, socket] = co_await acceptor_.async_accept(net::as_values);
        if (!acceptor_.is_open()) break;
        if (!error) {
            admit(std::move(socket));
            continue;
        }
        pause_.expires_after(no_descriptors_pause);
        auto [woken] = co_await pause_.async_wait(net::as_values);
        (void)woken;
    }
}

void VoterSide::admit(net::TcpSocket socket) {
    net::Error gone;
    auto const peer = socket.remote_endpoint(gone);
    if (gone || !make_room()) return;
    auto const number = ++last_;
    IpEndpoint const other{net::to_ip(peer.address()), peer.port()};
    auto link = std::make_shared<Link>(std::move(socket), Channel::Side::voter, secret_, other);
    incoming_[number] = {.link = link, .is_member = false, .heard = boot_now()};
    Link::Events events;
    events.received = [this, number](Message const& message) { return received(number, message); };
    events.next = [this, number]() -> std::optional<Message> {
        auto message = voter_ ? voter_->next(number) : std::nullopt;
        if (message)
            if (auto* const welcome = std::get_if<Welcome>(&*message)) welcome->nonce = random_nonce();
        return message;
    };
    events.ended = [this, number](Link::End how, std::string const& why) { ended(number, how, why); };
    link->start(std::move(events));
}

/// A flood from one address closes its own connections. False: all links are those of members.
bool VoterSide::make_room() {
    std::map<IpAddress, std::size_t> held;
    std::size_t strangers = 0;
    for (auto const& [number, one] : incoming_)
        if (!one.is_member) ++strangers, ++held[one.link->other().address];
    if (strangers < strangers_max) return incoming_.size() < links_max;
    auto const most = std::ranges::max_element(held, {}, [](auto const& one) { return one.second; })->first;
    auto const oldest = std::ranges::find_if(
        incoming_, [&](auto const& one) { return !one.second.is_member && one.second.link->other().address == most; });
    ++totals_.flooded;
    oldest->second.link->drop();
    if (voter_) voter_->closed(oldest->first);
    incoming_.erase(oldest);
    return true;
}

bool VoterSide::received(Voter::Link number, Message const& given) {
    auto const found = incoming_.find(number);
    if (found == incoming_.end() || !voter_) return false;
    auto& one = found->second;
    auto const now = boot_now();
    one.heard = now;
    auto message = given;
    if (auto* const greeting = std::get_if<Hello>(&message))
        greeting->address = reachable_address(greeting->address, one.link->other().address);
    bool const good = voter_->receive(number, message, now);
    auto const* const hello = std::get_if<Hello>(&message);
    if (hello && good) {
        one.name = in_log(hello->member);
    } else if (hello) {
        refuse(one, in_log(hello->member), voter_->why_not(*hello));
    } else if (!good) {
        ++totals_.bad_frames;
    } else if (!std::exchange(one.is_member, true)) {
        spdlog::info("group: member {} at {} is connected", one.name, one.link->other().text());
    }
    settle_();
    return good;
}

void VoterSide::refuse(Incoming const& one, std::string const& name, std::string const& why) {
    ++totals_.links_refused;
    auto const end = one.link->other().address.text();
    if (reports_.is_due(end, why, boot_now())) spdlog::warn("group: refused member {} at {}: {}", name, end, why);
}

void VoterSide::ended(Voter::Link number, Link::End how, std::string const& why) {
    auto const found = incoming_.find(number);
    if (found == incoming_.end()) return;
    auto const one = std::move(found->second);
    incoming_.erase(found);
    if (voter_) voter_->closed(number);
    if (how == Link::End::slow_reader) ++totals_.slow_readers;
    if (how == Link::End::bad_frame) ++totals_.bad_frames;
    if (one.is_member)
        spdlog::info("group: member {} at {} is gone: {}", one.name, one.link->other().text(), why);
    else if (how == Link::End::bad_frame)
        refuse(one, "(unknown)", why);
    settle_();
}

void VoterSide::flush() {
    if (!voter_) return;
    for (auto const number : voter_->take_ready()) {
        auto const found = incoming_.find(number);
        if (found == incoming_.end()) continue;
        if (voter_->is_too_late(number))
            found->second.link->close(Link::End::slow_reader, "it does not read, and lags behind the list of invalidations");
        else
            found->second.link->wake();
    }
}

void VoterSide::tick(Time now) {
    for (auto const& [number, one] : incoming_) {
        auto const patience = one.is_member ? 2 * settings_.times.lease : settings_.times.lease;
        if (now > one.heard + patience) one.link->close(Link::End::closed, "it was silent");
    }
}

std::vector<GroupState::MemberRow> VoterSide::members(Time now) const {
    std::vector<GroupState::MemberRow> rows;
    if (!voter_) return rows;
    for (auto const& member : voter_->members())
        rows.push_back({.name = shown(member.name),
                        .address = shown(member.address),
                        .acknowledged = member.acknowledged,
                        .lag = voter_->latest() - member.acknowledged,
                        .heard_before = member.heard == never ? Time(0) : now - member.heard});
    return rows;
}

}   // namespace garner::group
