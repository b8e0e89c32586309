#include "seen/peer_link.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <bit>

#include <boost/asio/write.hpp>

#include "crawl/kept_memory.hpp"
#include "crawl/url_layers.hpp"
#include "io/log.hpp"
#include "util/text.hpp"

namespace garner::seen {

namespace asio = net::asio;
namespace beast = boost::beast;

namespace {

constexpr milliseconds connect_patience{2'000};
constexpr std::array pauses{milliseconds{200}, milliseconds{800}};   // before a question is repeated
constexpr std::size_t unsure_max = 4'000'000;
constexpr milliseconds soon{2'000};           // a set on disk may take longer: then a sign of life decides
constexpr milliseconds sign_of_life{1'000};   // a busy process replies at once, since its set has a thread of its own
constexpr milliseconds probe_interval{1'000};
constexpr Bytes slowest_bytes_per_millisecond = 1'000;   // for the links that are sent
constexpr char const* does_not_reply = "accepts connections and does not reply";

std::string told(net::Error const& error) {
    if (error == beast::error::timeout) return "no reply in time";
    return lower_case(error.message());
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, std::min(text.find('\n'), std::size_t{200}))); }

}   // namespace

std::string forwarded_words(Options const& options, std::uint32_t partition) {
    auto words = std::to_string(partition) + "/" + std::to_string(options.peers.size());
    auto const layers = crawl::UrlLayers::read(options.layers)->names();
    return layers.empty() ? words : words + " " + layers;
}

PeerLink::PeerLink(asio::io_context& io, Options const& options, std::uint32_t partition, AnsweredCache& answered)
    : io_(io), place_(options.peers[partition]), partition_(partition), words_(forwarded_words(options, partition)),
      links_max_(options.batch_links), waiting_links_(options.waiting_links), soon_(std::min(soon, options.peer_answer / 4)),
      sign_of_life_(std::min(sign_of_life, options.peer_answer / 4)), answered_(answered), timer_(io), resolver_(io), silence_(io) {
}

bool PeerLink::has_room(std::uint64_t links) const {
    return stats_.waiting_links == 0 || stats_.waiting_links + links <= waiting_links_;
}

void PeerLink::add(Task& task) {
    task.answers.assign(task.links.size(), unreachable(partition_));
    if (stopped_) return task.done.wake(net::Wake::shutdown);
    if (is_silent_) {
        stats_.unreachable += task.links.size();
        return task.done.wake(net::Wake::ready);
    }
    stats_.waiting_links += task.links.size();
    waiting_.push_back(&task);
    timer_.cancel();
}

void PeerLink::give_up(Task& task) {
    if (auto const waiting = std::ranges::find(waiting_, &task); waiting != waiting_.end()) {
        waiting_.erase(waiting);
        return let_go(task);
    }
    auto const asked = std::ranges::find(asked_, &task, &Part::task);
    if (asked == asked_.end()) return;
    asked->task = nullptr;
    let_go(task);
}

void PeerLink::stop() {
    stopped_ = true;
    timer_.cancel();
    resolver_.cancel();
    silence_.cancel();
    if (stream_) stream_->close();
    if (probe_) probe_->close();
}

net::awaitable<void> PeerLink::run() {
    while (!stopped_) {
        if (waiting_.empty()) {
            timer_.expires_at(is_silent_ ? probe_at_ : SteadyTime::max());
            auto [woken] = co_await timer_.async_wait(net::as_values);
            (void)woken;
            if (is_silent_ && !stopped_ && steady_now() >= probe_at_) co_await probe();
            continue;
        }
        take_waiting();
        co_await ask();
        hand_out();
    }
    while (!waiting_.empty()) {
        take_waiting();
        hand_out();
    }
}

/// Takes waiting links, up to the maximum of one question.
void PeerLink::take_waiting() {
    until_ = {};
    while (!waiting_.empty()) {
        auto& task = *waiting_.front();
        if (!asked_.empty() && links_.size() + task.links.size() > links_max_) break;
        links_.insert(links_.end(), task.links.begin(), task.links.end());
        asked_.push_back({&task, task.links.size()});
        until_ = std::max(until_, task.until);
        waiting_.pop_front();
    }
    answers_.assign(links_.size(), unreachable(partition_));
}

bool PeerLink::is_wanted() const {
    return !stopped_ && !is_silent_ && steady_now() < until_ &&
           std::ranges::any_of(asked_, [](Part const& part) { return part.task; });
}

/// Repeats a question that got no answer, unless the question before got none either.
net::awaitable<void> PeerLink::ask() {
    bool const was_up = stats_.up;
    for (std::size_t tries = 0; is_wanted(); ++tries) {
        auto const status = co_await exchange();
        if (status == QueryStatus::answered) break;
        ++stats_.failed_batches;
        if (status == QueryStatus::unsure)
            for (auto const link : links_) remember_unsure(link);
        stream_.reset();
        if (stats_.up) spdlog::warn("partition {} at {}: {}", partition_, place_.text(), stats_.trouble);
        stats_.up = false;
        if (is_silent_ || !was_up || tries == pauses.size()) break;
        co_await pause(pauses[tries]);
    }
}

net::awaitable<PeerLink::QueryStatus> PeerLink::exchange() {
    if (!connection_lives()) {
        bool const connected = co_await connect();
        if (!connected) co_return QueryStatus::not_taken;
    }
    bool const durable = std::ranges::any_of(asked_, [](Part const& part) { return part.task && part.task->durable; });
    auto const bytes = links_.size() * sizeof(Fingerprint);
    head_ = std::string("POST /seen") + (durable ? "?durable=1" : "") + " HTTP/1.1\r\nHost: " + place_.text() +
            "\r\nContent-Type: application/octet-stream\r\nContent-Length: " + std::to_string(bytes) + "\r\n" +
            std::string(forwarded_field) + ": " + words_ + "\r\n\r\n";
    // Fingerprints are sent as they are in memory: the lowest byte first.
    static_assert(std::endian::native == std::endian::little);
    std::array<asio::const_buffer, 2> const parts{asio::buffer(head_), asio::buffer(links_)};
    stats_.links += links_.size();
    ++stats_.batches;
    stats_.bytes_sent += bytes;
    auto const sending = soon_ + milliseconds{bytes / slowest_bytes_per_millisecond};
    stream_->expires_at(std::min(until_, steady_now() + sending));
    auto [unsent, sent] = co_await asio::async_write(*stream_, parts, net::as_values);
    // The peer takes nothing of a truncated batch.
    if (unsent && sent < head_.size() + bytes) {
        bool is_alive = true;
        if (unsent == beast::error::timeout) is_alive = co_await lives();
        if (!is_alive) note_silent();
        co_return failed(QueryStatus::not_taken, is_alive ? told(unsent) : does_not_reply);
    }
    stream_->expires_never();
    co_await await_reply();
    if (is_silent_) co_return failed(QueryStatus::unsure, does_not_reply);
    stream_->expires_at(until_);
    parser_.emplace();
    parser_->body_limit(links_.size() + 64 * KiB);
    buffer_.clear();
    auto [unread, got] = co_await beast::http::async_read(*stream_, buffer_, *parser_, net::as_values);
    (void)got;
    if (unread) co_return failed(QueryStatus::unsure, told(unread));
    co_return judge();
}

PeerLink::QueryStatus PeerLink::judge() {
    auto const& answer = parser_->get();
    auto const status = answer.result_int();
    auto const said = std::to_string(status) + " " + first_line(answer.body());
    if (!answer.keep_alive()) stream_.reset();
    if (status >= 500 && status != 503) return failed(QueryStatus::unsure, said);
    if (status != 200) return failed(QueryStatus::not_taken, said);
    if (answer.body().size() != links_.size())
        return failed(QueryStatus::unsure,
                      std::to_string(answer.body().size()) + " answers for " + std::to_string(links_.size()) + " links");
    take_answers(answer.body());
    note_up();
    return QueryStatus::answered;
}

void PeerLink::note_up() {
    if (!stats_.up) spdlog::info("partition {} at {} replies again", partition_, place_.text());
    stats_.up = true;
    is_silent_ = false;
}

void PeerLink::note_silent() {
    is_silent_ = true;
    probe_at_ = steady_now() + probe_interval;
}

// ---- silent processes ----

/// Returns when the reply begins, no task can wait any more, or the process is silent.
net::awaitable<void> PeerLink::await_reply() {
    while (is_wanted()) {
        auto const left = std::chrono::ceil<milliseconds>(until_ - steady_now());
        bool const is_there = co_await is_readable(std::min(soon_, left));
        if (is_there || stopped_) co_return;
        bool const is_alive = co_await lives();
        if (!is_alive && !stopped_) note_silent();
    }
}

/// Also true if the connection has failed: a read has the error.
net::awaitable<bool> PeerLink::is_readable(milliseconds limit) {
    is_late_ = false;
    silence_.expires_after(limit);
    // The handler of a timer that has just expired may still come after the wait.
    silence_.async_wait([this, wait = ++waits_](net::Error cancelled) {
        if (cancelled || wait != waits_ || !stream_) return;
        is_late_ = true;
        net::Error ignored;
        stream_->socket().cancel(ignored);
    });
    auto [error] = co_await stream_->socket().async_wait(asio::ip::tcp::socket::wait_read, net::as_values);
    (void)error;
    ++waits_;
    silence_.cancel();
    co_return !is_late_;
}

/// Any reply to a request that needs no set.
net::awaitable<bool> PeerLink::lives() {
    auto const head = "HEAD / HTTP/1.1\r\nHost: " + place_.text() + "\r\nConnection: close\r\n\r\n";
    std::array<char, 1> byte{};
    std::size_t got = 0;
    auto const addresses = addresses_;
    auto const until = steady_now() + sign_of_life_;
    for (auto const& address : addresses) {
        if (stopped_) break;
        probe_.emplace(io_);
        probe_->expires_at(until);
        auto [error] = co_await probe_->async_connect(address, net::as_values);
        if (error) continue;
        auto [unsent, sent] = co_await asio::async_write(*probe_, asio::buffer(head), net::as_values);
        if (unsent) continue;
        auto [unread, bytes] = co_await probe_->async_read_some(asio::buffer(byte), net::as_values);
        if (!unread) got = bytes;
        if (got > 0) break;
    }
    probe_.reset();
    co_return got > 0;
}

net::awaitable<void> PeerLink::probe() {
    bool const is_known = co_await resolve();
    if (is_known && !stopped_) {
        bool const is_alive = co_await lives();
        if (is_alive) co_return note_up();
    }
    note_silent();
}

PeerLink::QueryStatus PeerLink::failed(QueryStatus status, std::string why) {
    stats_.trouble = std::move(why);
    return status;
}

/// If the peer has closed the connection, a question on it would get no answer, and it would be unknown whether the peer
/// read it.
bool PeerLink::connection_lives() {
    if (!stream_) return false;
    char byte = 0;
    auto const got = ::recv(stream_->socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    bool const lives = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (!lives) stream_.reset();
    return lives;
}

net::awaitable<bool> PeerLink::connect() {
    bool const known = co_await resolve();
    if (!known || stopped_) co_return false;
    for (auto const& address : addresses_) {
        stream_.emplace(io_);
        stream_->expires_at(std::min(steady_now() + connect_patience, until_));
        auto [refused] = co_await stream_->async_connect(address, net::as_values);
        if (stopped_) co_return false;
        if (!refused) {
            net::Error ignored;
            is_silent_ = false;
            stream_->socket().set_option(asio::ip::tcp::no_delay(true), ignored);
            co_return true;
        }
        stats_.trouble = told(refused);
        if (refused == beast::error::timeout) note_silent();
        stream_.reset();
    }
    co_return false;
}

net::awaitable<bool> PeerLink::resolve() {
    net::Error no_address;
    auto const address = asio::ip::make_address(place_.host, no_address);
    if (!no_address) {
        addresses_.assign(1, net::TcpEndpoint(address, place_.port));
        co_return true;
    }
    auto const port = std::to_string(place_.port);
    auto [error, found] = co_await resolver_.async_resolve(place_.host, port, net::as_values);
    addresses_.clear();
    if (error)
        stats_.trouble = told(error);
    else
        for (auto const& one : found) addresses_.push_back(one.endpoint());
    co_return !addresses_.empty();
}

net::awaitable<void> PeerLink::pause(milliseconds time) {
    // New tasks cancel the timer, too.
    auto const until = std::min(steady_now() + time, until_);
    while (!stopped_ && steady_now() < until) {
        timer_.expires_at(until);
        auto [woken] = co_await timer_.async_wait(net::as_values);
        (void)woken;
    }
}

void PeerLink::remember_unsure(Fingerprint link) {
    if (unsure_.size() < unsure_max)
        unsure_.insert(link);
    else
        ++stats_.unsure_forgotten;
    stats_.unsure = unsure_.size();
}

void PeerLink::take_answers(std::string const& octets) {
    stats_.bytes_received += octets.size();
    std::size_t at = 0;
    for (auto const& part : asked_)
        for (auto const end = at + part.links; at < end; ++at) {
            if (octets[at] == octet_not_durable)
                answers_[at] = not_durable;
            else if (octets[at] == is_new || octets[at] == already_seen)
                answers_[at] = static_cast<LinkStatus>(octets[at]);
            if (!is_unreachable(answers_[at])) take_answer(links_[at], answers_[at], part.task != nullptr);
        }
    stats_.unsure = unsure_.size();
}

/// Call in the order of the links: a new link whose task was abandoned is new for the next task with this link, even in the
/// same question.
void PeerLink::take_answer(Fingerprint link, LinkStatus& answer, bool wanted) {
    ++stats_.answered;
    if (!wanted) {
        if (answer != already_seen) remember_unsure(link);
        return;
    }
    if (answer == already_seen && !unsure_.empty() && unsure_.contains(link)) answer = is_new;
    unsure_.erase(link);
    answered_.put(link);
    stats_.fresh += answer != already_seen;
}

void PeerLink::hand_out() {
    auto next = answers_.begin();
    for (auto const& [task, links] : asked_) {
        auto const end = next + static_cast<std::ptrdiff_t>(links);
        if (task) {
            // Another task of the same question may have asked for durability.
            if (!task->durable) std::replace(next, end, not_durable, is_new);
            std::copy(next, end, task->answers.begin());
            let_go(*task);
            task->done.wake(net::Wake::ready);
        }
        next = end;
    }
    asked_.clear();
    crawl::give_back(links_), crawl::give_back(answers_);
    parser_.reset();
}

void PeerLink::let_go(Task const& task) {
    stats_.unreachable += static_cast<std::uint64_t>(std::ranges::count_if(task.answers, is_unreachable));
    stats_.waiting_links -= task.links.size();
}

}   // namespace garner::seen
