// Ciphertext between a TLS session and its connection.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "util/counted.hpp"

namespace garner::net {

/// Ciphertext in transit. Holds memory, borrowed from the thread, only while it holds bytes.
class TlsBuffer {
public:
    static constexpr std::size_t small = 8 * 1024;     // for a short response, or the end of a handshake
    static constexpr std::size_t medium = 80 * 1024;   // these two: for what is sent at once, and one more record
    static constexpr std::size_t large = 260 * 1024;
    static constexpr int large_max = 64;   // a thread: peers that do not read hold no more of them
    static constexpr std::size_t received_at_once = 64 * 1024;
    /// CountedBytes<TlsBuffer>::sum() is that of all threads, with the memory that they keep for reuse.
    struct Memory {
        std::unique_ptr<char[]> bytes = nullptr;
        CountedBytes<TlsBuffer> counted = {};
    };
    TlsBuffer() = default;
    TlsBuffer(TlsBuffer const&) = delete;
    TlsBuffer& operator=(TlsBuffer const&) = delete;
    ~TlsBuffer();

    std::string_view bytes() const { return {store_.bytes.get() + begin_, end_ - begin_}; }
    bool empty() const { return begin_ == end_; }
    /// The most bytes to collect before they are sent.
    std::size_t batch_max() const;
    /// Free space after the bytes; must be followed by added().
    std::span<char> room();
    void added(std::size_t count);
    void append(std::string_view bytes);
    /// Takes memory for so many bytes in all, at most batch_max(). Growing with each record would copy the bytes again.
    void reserve(std::size_t size);
    void consume(std::size_t count);

private:
    void release();
    void make_room(std::size_t count);
    Memory store_;
    std::size_t size_ = 0;   // of store_: one of the above, or more if the peer does not read
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

}   // namespace garner::net
