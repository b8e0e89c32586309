// Splits a stream into lines or records, through one buffer.
#pragma once
#include <cstring>
#include <functional>
#include <string_view>
#include <vector>

#include "sim/unpacked_file.hpp"

namespace garner::sim {

/// Views are valid until the next call. Memory is bounded.
class BufferedLines {
public:
    /// Reads up to `room` bytes, at least one; 0 at the end.
    using Read = std::function<std::size_t(char* to, std::size_t room)>;

    /// `longest`: bytes of a line, less than 1 MiB. A longer line is returned as more than `longest` arbitrary bytes.
    BufferedLines(Read read, std::size_t longest);
    BufferedLines(UnpackedFile& file, std::size_t longest)
        : BufferedLines([&file](char* to, std::size_t room) { return file.read(to, room); }, longest) {}

    /// The next MiB, or all that is left; waits for it.
    std::string_view head();
    bool head_is_whole() const { return ended_; }
    void skip(std::size_t bytes) { rest_.remove_prefix(bytes); }

    /// The next line without its newline, which the last line may lack; false at the end.
    bool next_line(std::string_view& line);
    /// True if the next line is available without reading.
    bool has_line() const { return rest_.find('\n') != rest_.npos; }

    /// The next `size` bytes; at the end fewer, but at least one.
    bool next_record(std::string_view& record, std::size_t size);

    /// Passes up to `count` numbers to take(number). Returns the bytes of a truncated last number; 0 if there is none.
    template <class Number, class Take>
    std::size_t next_numbers(std::size_t count, Take take) {
        constexpr std::size_t at_once = 8192;
        for (std::string_view bytes; count > 0 && next_record(bytes, std::min(count, at_once) * sizeof(Number));) {
            for (; bytes.size() >= sizeof(Number); bytes.remove_prefix(sizeof(Number)), --count) {
                Number number;
                std::memcpy(&number, bytes.data(), sizeof number);
                take(number);
            }
            if (!bytes.empty()) return bytes.size();
        }
        return 0;
    }

private:
    bool fill();
    std::string_view too_long();

    Read read_;
    std::size_t longest_;
    std::vector<char> buffer_;
    std::string_view rest_;   // unread bytes of the buffer
    bool ended_ = false;
};

}   // namespace garner::sim
