#include "app/object_sender.hpp"

#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "io/log.hpp"
#include "util/random_bits.hpp"
#include "util/units.hpp"

namespace garner::app {
namespace {

constexpr Bytes first_part = 10;             // denominator
constexpr int bytes_on_the_way = 64 * KiB;   // an answer waits for the bytes before it
constexpr Bytes trim_after = 16 * MiB;       // freed: glibc keeps what lies between used blocks
constexpr milliseconds reader_patience{10'000}, look_at_phase{5}, look_at_socket{100};

}   // namespace

ObjectSender::ObjectSender(cache::MemoryTier& memory, int socket)
    : memory_(memory), socket_(socket), walk_(memory),
      writer_(random_bits(), [this](std::string_view bytes) { return send(bytes); }), all_(memory.stats().cached),
      thread_([this] { run(); }) {
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDBUF, &bytes_on_the_way, sizeof bytes_on_the_way);
}

ObjectSender::~ObjectSender() {
    stopped_ = true;
    thread_.join();
    ::close(socket_);
}

void ObjectSender::wait_for_first(milliseconds patience) const {
    for (auto const until = steady_now() + patience; phase_ == Phase::first && steady_now() < until;)
        std::this_thread::sleep_for(look_at_phase);
}

void ObjectSender::go(milliseconds keep) {
    keep_until_ = steady_now() + keep;
    gone_ = true;
}

void ObjectSender::run() {
    ::pthread_setname_np(::pthread_self(), "objects");
    send_first();
    phase_ = Phase::waits;
    if (!wait_for_go()) return;
    phase_ = Phase::goes;
    send_rest();
    ::shutdown(socket_, SHUT_WR);
    phase_ = Phase::over;
    while (!stopped_ && steady_now() < keep_until_.load()) std::this_thread::sleep_for(look_at_phase);
    if (!stopped_) free_all();
}

bool ObjectSender::wait_for_go() const {
    while (!gone_ && !stopped_) std::this_thread::sleep_for(look_at_phase);
    return !stopped_;
}

void ObjectSender::send_first() {
    bool goes_on = true;
    for (std::vector<cache::ValueWalk::Walked> some; goes_on && !stopped_ && writer_.bytes() < all_ / first_part; some.clear()) {
        goes_on = walk_.next(some);
        for (auto const& one : some) goes_on = writer_.write(*one.object, one.rank) && goes_on;
    }
    writer_.flush();
}

void ObjectSender::send_rest() {
    auto const begun = steady_now();
    trimmed_ = writer_.bytes();
    answer_wants();
    walk_.go_by_address();
    bool goes_on = true;
    for (std::vector<cache::ValueWalk::Walked> some; goes_on && !stopped_; some.clear()) {
        answer_wants();
        goes_on = walk_.next(some);
        send_some(some);
        goes_on = writer_.flush() && goes_on;   // records that wait here would delay the next answer
    }
    answer_wants();
    if (writer_.flush())
        spdlog::info("takeover: {} objects of memory sent, {} bytes; the last part in {}", writer_.objects(), writer_.bytes(),
                     time_text(std::chrono::duration_cast<milliseconds>(steady_now() - begun)));
    else
        spdlog::warn("takeover: the new process has received only a part of the objects in memory");
}

/// Variants are found by their markers, which stay.
void ObjectSender::send_some(std::vector<cache::ValueWalk::Walked> const& some) {
    for (auto const& one : some)
        if (writer_.write(*one.object, one.rank) && !store::is_marker(one.object.get())) walk_.drop(*one.object);
    trim();
}

/// A request waits for each of them.
void ObjectSender::answer_wants() {
    char bytes[16 * KiB];
    for (ssize_t count; (count = ::recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT)) > 0;)
        wants_.add({bytes, static_cast<std::size_t>(count)});
    while (auto const key = wants_.next()) {
        std::vector<cache::ValueWalk::Walked> some;
        walk_.find(*key, some);
        send_some(some);
        if (!writer_.answer(*key)) return;
    }
}

void ObjectSender::trim() {
    if (writer_.bytes() - trimmed_ < trim_after) return;
    trimmed_ = writer_.bytes();
    ::malloc_trim(0);
}

/// False if the other process has ended, or reads nothing for some seconds.
bool ObjectSender::send(std::string_view bytes) const {
    auto until = steady_now() + reader_patience;
    while (!bytes.empty() && !stopped_ && steady_now() < until) {
        auto const sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            bytes.remove_prefix(static_cast<std::size_t>(sent));
            until = steady_now() + reader_patience;
            continue;
        }
        if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
        pollfd waits{.fd = socket_, .events = POLLOUT, .revents = 0};
        ::poll(&waits, 1, static_cast<int>(look_at_socket.count()));
    }
    return bytes.empty();
}

/// The last requests of this process miss from now on.
void ObjectSender::free_all() {
    memory_.forget_all();
    ::malloc_trim(0);
}

}   // namespace garner::app
