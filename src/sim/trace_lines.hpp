// A file cut into lines or records, through one buffer.
#pragma once
#include <string_view>
#include <vector>

#include "sim/unpacked_file.hpp"

namespace garner::sim {

class TraceLines {
public:
    explicit TraceLines(UnpackedFile& file);

    /// What is buffered: the file's first MiB, or all of it, before the first line is taken. Good until the next call.
    std::string_view head() const { return rest_; }
    bool head_is_whole() const { return ended_; }
    void skip(std::size_t bytes) { rest_.remove_prefix(bytes); }

    /// The next line without its newline, which the last one need not have; false at the end. Of a line longer than
    /// line_bytes_max only that is true. Good until the next call.
    bool next_line(std::string_view& line);

    /// The next `size` bytes; fewer, but not none, at the end.
    bool next_record(std::string_view& record, std::size_t size);

private:
    bool fill();
    std::string_view too_long();

    UnpackedFile& file_;
    std::vector<char> buffer_;
    std::string_view rest_;   // of the buffer: not taken yet
    bool ended_ = false;
};

}  // namespace garner::sim
