#include "seen_commands/line_reader.hpp"

#include <cstring>

namespace garner::seen_commands {
namespace {

constexpr std::size_t room_at_least = 64 * 1024;

}  // namespace

LineReader::LineReader(std::istream& in, std::size_t longest)
    : in_(in), longest_(longest), buffer_(longest + 2 * room_at_least, '\0') {}

bool LineReader::next(Line& line) {
    for (;;) {
        if (auto const* found = std::memchr(buffer_.data() + looked_, '\n', end_ - looked_)) {
            auto const at = static_cast<std::size_t>(static_cast<char const*>(found) - buffer_.data());
            take(at, line);
            begin_ = looked_ = at + 1;
            return true;
        }
        looked_ = end_;
        if (end_ - begin_ > longest_) {
            skipping_ = true;
            begin_ = end_;
        }
        if (fill()) continue;
        if (begin_ == end_ && !skipping_) return false;
        take(end_, line);
        begin_ = end_;
        return true;
    }
}

bool LineReader::has_next() const {
    return std::memchr(buffer_.data() + looked_, '\n', end_ - looked_) != nullptr;
}

void LineReader::take(std::size_t end, Line& line) {
    line.too_long = skipping_ || end - begin_ > longest_;
    line.text = line.too_long ? std::string_view() : std::string_view(buffer_).substr(begin_, end - begin_);
    skipping_ = false;
}

/// Waits for at least one byte; false at the end.
bool LineReader::fill() {
    if (buffer_.size() - end_ < room_at_least) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        looked_ -= begin_;
        begin_ = 0;
    }
    if (in_.peek() == std::istream::traits_type::eof()) return false;
    auto got = in_.readsome(buffer_.data() + end_, static_cast<std::streamsize>(buffer_.size() - end_));
    if (got == 0 && in_.get(buffer_[end_])) got = 1;   // a stream that cannot tell what it has
    end_ += static_cast<std::size_t>(got);
    return got > 0;
}

}  // namespace garner::seen_commands
