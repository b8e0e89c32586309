// Standard error of a server: messages of all threads, written by one thread.
#pragma once
#include <cstdint>
#include <string_view>

#include "util/bytes.hpp"
#include "util/clock.hpp"

namespace garner::io {

/// Starts the thread, once: from now on spdlog's messages and stderr_lines() are queued for it, and no caller waits for standard
/// error. SIGPIPE must be ignored.
void log_to_stderr();
/// Writes `lines`, which end with a line end. Without log_to_stderr() before: at once.
void stderr_lines(std::string_view lines);
/// Lines that could not be written.
std::uint64_t stderr_lines_lost();
/// The memory of queued lines, and its bound.
Bytes stderr_bytes();
Bytes stderr_bytes_max();
/// Before the end of the process: waits at most `limit` for the queued lines.
void flush_stderr(milliseconds limit = milliseconds{500});

/// Opens /dev/null for each of the descriptors 0 to 2 that is closed. Otherwise a file opened later would receive the messages.
void open_standard_files();

}   // namespace garner::io
