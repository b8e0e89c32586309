#include "sim/buffered_lines.hpp"

#include <algorithm>

#include "util/check.hpp"

namespace garner::sim {

BufferedLines::BufferedLines(Read read, std::size_t longest) : read_(std::move(read)), longest_(longest), buffer_(1 * MiB) {
    check(longest < buffer_.size());
}

std::string_view BufferedLines::head() {
    while (rest_.size() < buffer_.size() && fill()) {
    }
    return rest_;
}

bool BufferedLines::next_line(std::string_view& line) {
    for (std::size_t searched = 0;;) {
        auto const end = rest_.find('\n', searched);
        if (end == rest_.npos) {
            searched = rest_.size();
            if (searched > longest_) return line = too_long(), true;
            if (fill()) continue;
            if (rest_.empty()) return false;
        }
        line = rest_.substr(0, end);
        rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
        return true;
    }
}

bool BufferedLines::next_record(std::string_view& record, std::size_t size) {
    while (rest_.size() < size && fill()) {
    }
    record = rest_.substr(0, size);
    rest_.remove_prefix(record.size());
    return !record.empty();
}

/// Moves the unread bytes to the start of the buffer and reads more after them. False at the end.
bool BufferedLines::fill() {
    if (ended_) return false;
    std::copy(rest_.begin(), rest_.end(), buffer_.begin());
    auto const got = read_(buffer_.data() + rest_.size(), buffer_.size() - rest_.size());
    rest_ = {buffer_.data(), rest_.size() + got};
    ended_ = got == 0;
    return !ended_;
}

/// Skips the line. The buffer's current content stands for the line, because it is too long as well.
std::string_view BufferedLines::too_long() {
    for (auto end = rest_.npos; end == rest_.npos;) {
        end = rest_.find('\n');
        rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
        if (end == rest_.npos && !fill()) break;
    }
    return {buffer_.data(), longest_ + 1};
}

}   // namespace garner::sim
