#include "io/line_writer.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "io/file.hpp"

namespace garner::io {

namespace {

std::uint64_t lines_in(std::string_view text) { return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n')); }

/// A pipe accepts PIPE_BUF bytes when poll() reports it writable, even if it is in blocking mode.
std::size_t piece_of(int descriptor) {
    struct stat about {};
    return ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) ? SSIZE_MAX : PIPE_BUF;
}

}   // namespace

LineWriter::LineWriter(int descriptor, Bytes buffer) : descriptor_(descriptor), piece_(piece_of(descriptor)), buffer_(buffer) {
    // Signals go to the threads that expect them. A reader that closes the pipe must cause EPIPE here, not SIGPIPE.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), "messages");
        run();
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LineWriter::~LineWriter() {
    {
        MutexLock const lock(mutex_);
        stopping_ = true;
    }
    arrived_.notify_one();
    thread_.join();
}

void LineWriter::write(std::string_view lines) {
    MutexLock const lock(mutex_);
    if (waiting_.size() + lines.size() > buffer_)
        lost_ += lines_in(lines);
    else
        waiting_ += lines;
    arrived_.notify_one();
}

Bytes LineWriter::bytes() {
    MutexLock const lock(mutex_);
    return waiting_.capacity() + batch_bytes_;
}

void LineWriter::flush(milliseconds limit) {
    auto const until = steady_now() + limit;
    MutexLock const lock(mutex_);
    while ((busy_ || !waiting_.empty()) && written_.wait_until(mutex_, until)) {
    }
}

void LineWriter::run() {
    for (std::string batch; take(batch);) deliver(batch);
}

/// False at the end.
bool LineWriter::take(std::string& batch) {
    MutexLock const lock(mutex_);
    batch.clear();
    busy_ = false;
    written_.notify_all();
    while (waiting_.empty() && !stopping_) arrived_.wait(mutex_);
    batch.swap(waiting_);
    batch_bytes_ = batch.capacity();
    busy_ = true;
    return !batch.empty();
}

/// A torn line is ended before the next one, so that lines never join.
void LineWriter::deliver(std::string_view batch) {
    if (torn_ && send("\n") == 1) torn_ = false;
    auto const sent = torn_ ? 0 : send(batch);
    if (sent > 0) torn_ = batch[sent - 1] != '\n';
    lost_ += lines_in(batch.substr(sent));
    auto const lost = lost_.load();
    if (sent < batch.size() || lost == told_) return;
    auto const note = "garner: " + std::to_string(lost - told_) + " lines for this log were lost: " +
                      (error_ ? text_of_error(error_) : std::string("it accepted them too slowly")) + "\n";
    if (send(note) == note.size()) told_ = lost, error_ = 0;
}

/// Returns how many bytes were written before an error.
std::size_t LineWriter::send(std::string_view text) {
    std::size_t sent = 0;
    while (sent < text.size() && wait_until_writable()) {
        auto const got = ::write(descriptor_, text.data() + sent, std::min(text.size() - sent, piece_));
        if (got >= 0)
            sent += static_cast<std::size_t>(got);
        else if (errno != EINTR && errno != EAGAIN) {
            error_ = errno;
            break;
        }
    }
    return sent;
}

bool LineWriter::wait_until_writable() {
    constexpr int step = 100;   // ms
    pollfd watched{descriptor_, POLLOUT, 0};
    while (::poll(&watched, 1, stopping_ ? 0 : step) <= 0)
        if (stopping_) return false;
    return true;
}

}   // namespace garner::io
