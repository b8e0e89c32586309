// Bytes that a client sent on one stream, until they are taken.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "util/bytes.hpp"

namespace garner::h2 {

/// Holds at most 4 KiB more memory than bytes. Appended bytes move no others. Belongs to one worker.
class Inbox {
public:
    void append(std::string_view bytes);
    /// The oldest bytes; empty only if there are none. The view lives until these bytes are taken.
    std::string_view front() const;
    /// Removes bytes at the start of front(); at most all of it.
    void take(std::size_t bytes);
    Bytes size() const { return size_; }
    /// Frees the memory.
    void clear();

private:
    struct Block {
        std::unique_ptr<char[]> bytes;
        std::size_t capacity;
        std::size_t end = 0;
    };
    std::vector<Block> blocks_;
    std::size_t begin_ = 0;   // in the first block
    Bytes size_ = 0;
};

}   // namespace garner::h2
