#include "group/link.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "util/random_bits.hpp"

namespace garner::group {

namespace asio = net::asio;

namespace {

constexpr Bytes pulled_max = 64 * KiB;   // the list of a voter is the queue: no more is taken from it than this

}   // namespace

Nonce random_nonce() {
    Nonce nonce{};
    for (std::size_t i = 0; i < nonce.size(); i += sizeof(std::uint64_t)) {
        auto const bits = random_bits();
        std::copy_n(reinterpret_cast<char const*>(&bits), sizeof bits, nonce.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return nonce;
}

Link::Link(net::TcpSocket socket, Channel::Side side, std::string secret, IpEndpoint other)
    : socket_(std::move(socket)), side_(side), channel_(side, std::move(secret)), other_(other) {}

void Link::start(Events events) {
    events_ = std::move(events);
    net::Error ignored;
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    auto reading = read(shared_from_this());
    asio::co_spawn(socket_.get_executor(), std::move(reading), asio::detached);
}

// ---- the end ----

void Link::shut() {
    is_open_ = false;
    net::Error ignored;
    socket_.close(ignored);
}

void Link::close(End how, std::string why) {
    if (!is_open_) return;
    if (why_.empty()) {   // the first reason counts: after a wrong secret the other end may stay silent
        end_ = how;
        why_ = std::move(why);
    }
    shut();
}

void Link::drop() {
    is_dropped_ = true;   // this may be a call by one of the functions of events_, which are destroyed by read()
    shut();
}

// ---- in ----

net::awaitable<void> Link::read(std::shared_ptr<Link> self) {
    auto& link = *self;
    while (link.is_open_) {
        auto [error, size] = co_await link.socket_.async_read_some(asio::buffer(link.buffer_), net::as_values);
        if (error) link.close(End::closed, error == asio::error::eof ? "it closed the connection" : error.message());
        if (error) break;
        if (!link.take({link.buffer_.data(), size})) break;
    }
    // Without a call from within a function of the member or voter.
    while (link.finishing_ && link.is_open_) {
        auto [error, size] = co_await link.socket_.async_read_some(asio::buffer(link.buffer_), net::as_values);
        (void)size;
        if (error) link.shut();
    }
    auto const events = std::exchange(link.events_, {});
    if (!link.is_dropped_) events.ended(link.end_, link.why_);
}

/// False: no more is read.
bool Link::take(std::string_view bytes) {
    channel_.receive(bytes);
    while (auto const message = channel_.next()) {
        has_received_ = true;
        if (is_dropped_) return false;
        if (events_.received(*message)) continue;
        if (!is_open_) return false;
        finishing_ = true;
        wake();
        return false;
    }
    if (channel_.trouble() == Channel::Trouble::none) return is_open_;
    bool const is_secret = channel_.trouble() == Channel::Trouble::bad_signature && !has_received_;
    if (is_secret && side_ == Channel::Side::voter) {
        end_ = End::bad_frame;
        why_ = text(channel_.trouble());
        refuse_secret();
    } else {
        close(End::bad_frame, text(channel_.trouble()));
    }
    return false;
}

/// The member cannot check the signature either, and sees from it that the secrets differ.
void Link::refuse_secret() {
    finishing_ = true;
    send(Refused{.id = {}, .why = "the secret differs (group.secret)"});
}

// ---- out ----

void Link::send(Message const& message) {
    if (!is_open_) return;
    waiting_ += channel_.seal(message);
    if (waiting_.size() > waiting_max) return close(End::slow_reader, "it does not read: 1 MiB waits for it");
    begin_to_write();
}

void Link::wake() {
    if (!is_open_) return;
    pull();
    begin_to_write();
    if (finishing_ && !is_writing_) shut();
}

void Link::pull() {
    while (!is_dropped_ && events_.next && is_open_ && waiting_.size() < pulled_max) {
        auto const message = events_.next();
        if (!message) return;
        waiting_ += channel_.seal(*message);
    }
}

void Link::begin_to_write() {
    if (is_writing_ || waiting_.empty() || !is_open_) return;
    is_writing_ = true;
    auto writing = write(shared_from_this());
    asio::co_spawn(socket_.get_executor(), std::move(writing), asio::detached);
}

net::awaitable<void> Link::write(std::shared_ptr<Link> self) {
    auto& link = *self;
    while (link.is_open_ && !link.waiting_.empty()) {
        link.writing_.swap(link.waiting_);
        link.waiting_.clear();
        auto [error, size] = co_await asio::async_write(link.socket_, asio::buffer(link.writing_), net::as_values);
        (void)size;
        if (error) link.close(End::closed, error.message());
        link.pull();
    }
    link.is_writing_ = false;
    if (link.finishing_ && link.is_open_) {
        // The other end reads the reason, and closes: an early close could reset the connection before.
        net::Error ignored;
        link.socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    }
}

}   // namespace garner::group
