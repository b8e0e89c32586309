#include "app/restoring.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "io/log.hpp"
#include "takeover/wants.hpp"
#include "util/units.hpp"

namespace garner::app {
namespace {

constexpr Bytes read_at_once = 256 * KiB;
constexpr milliseconds look_at_objects{100};
constexpr int lower_priority = 10;

}   // namespace

Restoring::Restoring(cache::Cache& cache, int descriptor, std::string from, Pace pace, std::uint64_t former, Asks asks)
    : descriptor_(descriptor), from_(std::move(from)), wanted_(cache.wanted), restoration_(std::in_place, cache, former) {
    if (asks == Asks::yes) wanted_.begin([this](std::string_view key) { return ask(key); });
    thread_ = std::thread([this, pace] { run(pace); });
}

Restoring::~Restoring() {
    stopped_ = true;
    thread_.join();
    ::close(descriptor_);
}

void Restoring::wait(milliseconds patience) const {
    constexpr milliseconds pause{5};
    for (auto const until = steady_now() + patience; !over_ && steady_now() < until;) std::this_thread::sleep_for(pause);
}

void Restoring::run(Pace pace) {
    ::pthread_setname_np(::pthread_self(), "restoring");
    if (pace == Pace::behind_requests) ::setpriority(PRIO_PROCESS, 0, lower_priority);   // of this thread
    auto const begun = steady_now();
    while (!stopped_ && !restoration_->is_full() && read()) {
    }
    wanted_.end();
    tell(begun);
    restoration_.reset();
    over_ = true;
}

/// False at the end.
bool Restoring::read() {
    pollfd waits{.fd = descriptor_, .events = POLLIN, .revents = 0};
    if (::poll(&waits, 1, static_cast<int>(look_at_objects.count())) == 0) return true;
    std::vector<char> bytes(read_at_once);
    auto const count = ::read(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) return true;
    if (count > 0)
        stream_.add({bytes.data(), static_cast<std::size_t>(count)});
    else
        stream_.end();
    take_records();
    return count > 0;
}

/// From any thread. A socket takes all bytes of a short message, or none.
bool Restoring::ask(std::string_view key) const {
    auto const bytes = takeover::want(key);
    return !bytes.empty() && ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
}

void Restoring::take_records() {
    while (auto const record = stream_.next()) restoration_->take(*record);
}

void Restoring::tell(SteadyTime begun) const {
    auto const time = std::chrono::duration_cast<milliseconds>(steady_now() - begun);
    auto const& [added, bytes, useless, overtaken] = restoration_->figures();
    if (!stream_.is_known()) return spdlog::warn("{}: no objects of this version; memory starts empty", from_);
    spdlog::info("{}: {} objects, {} bytes, in memory after {}; {} stale, {} changed since", from_, added, bytes, time_text(time),
                 useless, overtaken);
    if (restoration_->is_full()) spdlog::info("{}: memory.size has no room for the others", from_);
    if (stream_.damaged() > 0) spdlog::warn("{}: {} bytes are damaged; their objects are left out", from_, stream_.damaged());
}

}   // namespace garner::app
