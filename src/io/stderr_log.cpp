#include "io/stderr_log.hpp"

#include <fcntl.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/sink.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "io/line_writer.hpp"
#include "io/log.hpp"

namespace garner::io {

namespace {

constexpr Bytes buffer = 256 * KiB;

// Never destroyed: its thread may be blocked in a write() for ever, and other threads may log while the process exits.
LineWriter* writer = nullptr;

/// The mutex is held only while a message is formatted and copied.
class Sink : public spdlog::sinks::sink {
public:
    void log(spdlog::details::log_msg const& message) override {
        spdlog::memory_buf_t line;
        MutexLock const lock(mutex_);
        formatter_->format(message, line);
        writer->write({line.data(), line.size()});
    }
    void flush() override {}
    void set_pattern(std::string const& pattern) override { set_formatter(std::make_unique<spdlog::pattern_formatter>(pattern)); }
    void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
        MutexLock const lock(mutex_);
        formatter_ = std::move(formatter);
    }

private:
    Mutex mutex_;
    std::unique_ptr<spdlog::formatter> formatter_ GUARDED_BY(mutex_) = std::make_unique<spdlog::pattern_formatter>();
};

}   // namespace

void log_to_stderr() {
    writer = new LineWriter(STDERR_FILENO, buffer);
    auto logger = std::make_shared<spdlog::logger>("garner", std::make_shared<Sink>());
    spdlog::set_default_logger(std::move(logger));
}

void stderr_lines(std::string_view lines) {
    if (writer) return writer->write(lines);
    std::fwrite(lines.data(), 1, lines.size(), stderr);
}

std::uint64_t stderr_lines_lost() { return writer ? writer->lost() : 0; }

Bytes stderr_bytes() { return writer ? writer->bytes() : 0; }

Bytes stderr_bytes_max() { return writer ? writer->bytes_max() : 0; }

void flush_stderr(milliseconds limit) {
    if (writer) writer->flush(limit);
}

void open_standard_files() {
    int opened = 0;
    do opened = ::open("/dev/null", O_RDWR);
    while (opened >= 0 && opened <= STDERR_FILENO);
    if (opened >= 0) ::close(opened);
}

}   // namespace garner::io
