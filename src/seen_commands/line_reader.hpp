// Lines of a stream in bounded memory, whatever is in them.
#pragma once
#include <cstddef>
#include <istream>
#include <string>
#include <string_view>

namespace garner::seen_commands {

/// One reader of one stream. Takes what the stream has at hand, so that a line is answered before the next one is
/// typed.
class LineReader {
public:
    /// Lines of more than `longest` bytes are told, not kept.
    LineReader(std::istream& in, std::size_t longest);

    struct Line {
        std::string_view text;   // without its '\n'; valid up to the next call
        bool too_long = false;   // then the text is empty
    };

    /// False at the end of the stream. The last line needs no '\n'.
    bool next(Line& line);

    /// Whether the next line has come already.
    bool has_next() const;

private:
    bool fill();
    void take(std::size_t end, Line& line);

    std::istream& in_;
    std::size_t longest_;
    std::string buffer_;          // its size is its capacity; the text not yet taken lies in [begin_, end_)
    std::size_t begin_ = 0, end_ = 0;
    std::size_t looked_ = 0;      // no '\n' in [begin_, looked_)
    bool skipping_ = false;       // the line that has begun is too long
};

}  // namespace garner::seen_commands
