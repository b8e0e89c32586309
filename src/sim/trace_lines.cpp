#include "sim/trace_lines.hpp"

#include <algorithm>

#include "sim/trace_formats.hpp"

namespace garner::sim {

TraceLines::TraceLines(UnpackedFile& file) : file_(file), buffer_(1 * MiB) {
    while (rest_.size() < buffer_.size() && fill()) {}
}

bool TraceLines::next_line(std::string_view& line) {
    for (std::size_t searched = 0;;) {
        auto end = rest_.find('\n', searched);
        if (end == rest_.npos) {
            searched = rest_.size();
            if (searched > line_bytes_max) {
                line = too_long();
                return true;
            }
            if (fill()) continue;
            if (rest_.empty()) return false;
        }
        line = rest_.substr(0, end);
        rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
        return true;
    }
}

bool TraceLines::next_record(std::string_view& record, std::size_t size) {
    while (rest_.size() < size && fill()) {}
    record = rest_.substr(0, size);
    rest_.remove_prefix(record.size());
    return !record.empty();
}

/// Moves what is not taken yet to the buffer's beginning and reads more behind it. False at the end.
bool TraceLines::fill() {
    if (ended_) return false;
    std::copy(rest_.begin(), rest_.end(), buffer_.begin());
    auto got = file_.read(buffer_.data() + rest_.size(), buffer_.size() - rest_.size());
    rest_ = {buffer_.data(), rest_.size() + got};
    ended_ = got == 0;
    return !ended_;
}

std::string_view TraceLines::too_long() {
    for (auto end = rest_.npos; end == rest_.npos;) {
        end = rest_.find('\n');
        rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
        if (end == rest_.npos && !fill()) break;
    }
    return {buffer_.data(), line_bytes_max + 1};
}

}  // namespace garner::sim
