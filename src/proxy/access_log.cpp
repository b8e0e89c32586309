#include "proxy/access_log.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <climits>
#include <cstring>
#include <system_error>

#include "util/check.hpp"

namespace garner::proxy {
namespace {

constexpr Bytes least_buffer = 2 * sizeof(LineBuffer);
constexpr Bytes greatest_buffer = 1 * GiB;
constexpr milliseconds wait_step{100};
constexpr unsigned most_vain_waits = 10;

std::string text_of(int error) { return std::generic_category().message(error); }

std::uint64_t count_lines(std::string_view text) { return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n')); }

bool wait_for(int descriptor, short events, milliseconds time) {
    pollfd watched{descriptor, events, 0};
    return ::poll(&watched, 1, static_cast<int>(time.count())) > 0;
}

}   // namespace

/// An open output. Standard output is borrowed.
class AccessLog::File {
public:
    /// Non-blocking: a pipe without a reader must block neither open() nor the log thread.
    explicit File(std::string const& path)
        : descriptor_(path == "-" ? STDOUT_FILENO : open(path)), error_(descriptor_ < 0 ? errno : 0) {
        struct stat about {};
        regular_ = descriptor_ >= 0 && ::fstat(descriptor_, &about) == 0 && S_ISREG(about.st_mode);
    }
    ~File() {
        if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) ::close(descriptor_);
    }
    File(File const&) = delete;
    File& operator=(File const&) = delete;

    int descriptor() const { return descriptor_; }
    int error() const { return error_; }
    /// The most bytes that write() accepts at once after poll() reports writable, even on a blocking pipe.
    std::size_t piece() const { return regular_ ? SSIZE_MAX : PIPE_BUF; }

private:
    static int open(std::string const& path) {
        constexpr int flags = O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK;
        int const descriptor = ::open(path.c_str(), O_WRONLY | flags, 0640);
        // A FIFO without a reader: opened for both directions it keeps lines until one comes.
        return descriptor < 0 && errno == ENXIO ? ::open(path.c_str(), O_RDWR | flags, 0640) : descriptor;
    }
    int descriptor_;
    int error_;
    bool regular_ = false;
};

/// One worker's ring of whole lines. The worker writes it, the log thread reads it.
class AccessLog::Worker {
public:
    explicit Worker(Bytes size) : size_(size), ring_(std::make_unique_for_overwrite<char[]>(size)) {}

    /// False when the ring has no space for the line: the line is dropped and counted.
    bool log(LogFormat format, LogEntry const& entry) {
        auto line = format_line(format, entry, scratch_);
        auto in = in_.load(std::memory_order_relaxed);
        if (size_ - (in - known_out_) < line.size()) known_out_ = out_.load(std::memory_order_acquire);
        if (size_ - (in - known_out_) < line.size()) return dropped_.add(), false;
        auto before_end = std::min<std::size_t>(line.size(), size_ - at(in));
        std::memcpy(&ring_[at(in)], line.data(), before_end);
        std::memcpy(&ring_[0], line.data() + before_end, line.size() - before_end);
        in_.store(in + line.size(), std::memory_order_release);
        return true;
    }

    /// Reads out_ again only when the cached value reports the ring over half full.
    bool over_half_full() {
        auto in = in_.load(std::memory_order_relaxed);
        if (in - known_out_ <= size_ / 2) return false;
        known_out_ = out_.load(std::memory_order_acquire);
        return in - known_out_ > size_ / 2;
    }

    std::uint64_t dropped() const { return dropped_.value(); }
    /// The memory that lines have used, and all of it.
    Bytes bytes() const { return sizeof *this + std::min<Bytes>(in_.load(std::memory_order_relaxed), size_); }
    Bytes bytes_max() const { return sizeof *this + size_; }

    /// Log thread only: delivers all buffered lines, in two parts when the ring wraps.
    template <class Deliver>
    void drain(Deliver deliver) {
        auto const in = in_.load(std::memory_order_acquire);
        auto const out = out_.load(std::memory_order_relaxed);
        if (in == out) return;
        auto before_end = std::min(in - out, size_ - at(out));
        deliver(std::string_view(&ring_[at(out)], before_end), std::string_view(&ring_[0], in - out - before_end));
        out_.store(in, std::memory_order_release);
    }

private:
    std::size_t at(std::uint64_t position) const { return position & (size_ - 1); }

    Bytes const size_;   // a power of two
    std::unique_ptr<char[]> const ring_;
    alignas(64) std::atomic<std::uint64_t> in_{0};   // bytes ever written
    std::uint64_t known_out_ = 0;                    // the worker's cached value of out_
    Counter dropped_;
    alignas(64) std::atomic<std::uint64_t> out_{0};   // bytes ever read
    alignas(64) LineBuffer scratch_;
};

Result<std::unique_ptr<AccessLog>> AccessLog::open(Options options) {
    if (options.path.empty()) return std::unique_ptr<AccessLog>(new AccessLog(std::move(options), nullptr, -1));
    auto file = std::make_unique<File>(options.path);
    if (file->error()) return Fault{.what = text_of(file->error()), .where = "cannot open the access log " + options.path};
    int wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake < 0) return Fault{.what = text_of(errno), .where = "cannot start the access log"};
    return std::unique_ptr<AccessLog>(new AccessLog(std::move(options), std::move(file), wake));
}

AccessLog::AccessLog(Options options, std::unique_ptr<File> file, int wake)
    : options_(std::move(options)), wake_(wake), file_(std::move(file)) {
    if (!file_) return;
    auto buffer = std::bit_ceil(std::clamp(options_.buffer, least_buffer, greatest_buffer));
    for (unsigned i = 0; i < options_.workers; ++i) workers_.push_back(std::make_unique<Worker>(buffer));
    // Signals go to the threads that expect them. A reader that closes the pipe must cause EPIPE here, not SIGPIPE.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

AccessLog::~AccessLog() {
    if (!thread_.joinable()) return;
    stop_.store(true, std::memory_order_release);
    wake();
    thread_.join();
    delete new_file_.load();
    ::close(wake_);
}

void AccessLog::write(unsigned worker, LogEntry const& entry) {
    if (!thread_.joinable()) return;
    check(worker < workers_.size());
    if (!workers_[worker]->log(options_.format, entry)) dropped_lines_.add(entry.client, entry.status);
    if (workers_[worker]->over_half_full() && !hurry_.load(std::memory_order_relaxed) && !hurry_.exchange(true)) wake();
}

std::string AccessLog::reopen() {
    if (!thread_.joinable()) return {};
    auto file = std::make_unique<File>(options_.path);
    if (file->error()) return "cannot reopen the access log " + options_.path + ": " + text_of(file->error());
    delete new_file_.exchange(file.release());
    wake();
    return {};
}

std::uint64_t AccessLog::dropped() const {
    std::uint64_t sum = 0;
    for (auto const& worker : workers_) sum += worker->dropped();
    return sum;
}

AccessLog::Stats AccessLog::stats() const {
    int error = last_error_.load(std::memory_order_relaxed);
    Bytes buffers = 0, buffers_max = 0;
    for (auto const& worker : workers_) buffers += worker->bytes(), buffers_max += worker->bytes_max();
    return {.written = written_.value(),
            .dropped = dropped(),
            .lost = lost_.value(),
            .write_errors = write_errors_.value(),
            .bytes = bytes_.value(),
            .last_error = error ? text_of(error) : std::string(),
            .dropped_most = dropped_lines_.largest(10),
            .buffers = buffers,
            .buffers_max = buffers_max};
}

void AccessLog::run() {
    for (bool last = false; !last;) {
        wait_for(wake_, POLLIN, options_.interval);
        last = stop_.load(std::memory_order_acquire);
        std::uint64_t wake_ups;
        [[maybe_unused]] auto got = ::read(wake_, &wake_ups, sizeof wake_ups);   // no data: the interval has passed
        hurry_.store(false);
        take_new_file();
        for (auto& worker : workers_) worker->drain([this](auto... parts) { deliver(parts...); });
    }
}

void AccessLog::take_new_file() {
    File* file = new_file_.exchange(nullptr);
    if (!file) return;
    file_.reset(file);
    torn_ = false;
}

/// Output that cannot be written is lost and counted. A torn line is ended before the next one, so that lines never join.
void AccessLog::deliver(std::string_view first, std::string_view second) {
    if (torn_ && write_what_goes("\n") == 1) torn_ = false;
    auto sent = torn_ ? 0 : write_what_goes(first);
    auto sent_of_second = sent == first.size() ? write_what_goes(second) : 0;
    if (sent_of_second > 0)
        torn_ = second[sent_of_second - 1] != '\n';
    else if (sent > 0)
        torn_ = first[sent - 1] != '\n';
    account(first, sent);
    account(second, sent_of_second);
}

void AccessLog::account(std::string_view lines, std::size_t sent) {
    bytes_.add(sent);
    written_.add(count_lines(lines.substr(0, sent)));
    lost_.add(count_lines(lines.substr(sent)));
}

/// Returns how many bytes were written before an error, or before waiting was given up.
std::size_t AccessLog::write_what_goes(std::string_view text) {
    std::size_t sent = 0;
    while (sent < text.size() && wait_until_writable()) {
        auto piece = std::min(text.size() - sent, file_->piece());
        auto got = ::write(file_->descriptor(), text.data() + sent, piece);
        if (got >= 0)
            sent += static_cast<std::size_t>(got);
        else if (errno != EINTR && errno != EAGAIN) {
            note_error(errno);
            break;
        }
    }
    return sent;
}

/// Waits without limit, except that a new file ends the wait for the old one, and shutdown allows only a few waits in
/// total.
bool AccessLog::wait_until_writable() {
    for (;;) {
        bool impatient = vain_waits_ == most_vain_waits;
        if (wait_for(file_->descriptor(), POLLOUT, impatient ? milliseconds(0) : wait_step)) return true;
        if (impatient || new_file_.load()) return false;
        if (stop_.load()) ++vain_waits_;
    }
}

void AccessLog::note_error(int error) {
    write_errors_.add();
    last_error_.store(error, std::memory_order_relaxed);
}

void AccessLog::wake() {
    std::uint64_t one = 1;
    [[maybe_unused]] auto sent = ::write(wake_, &one, sizeof one);   // the counter is full: the thread is awake already
}

}   // namespace garner::proxy
