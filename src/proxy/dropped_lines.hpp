// Log lines that were dropped under load: a flood must stay visible although the log cannot keep up.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "util/mutex.hpp"

namespace garner::proxy {

/// Counts dropped lines by client and status. Thread-safe; add() allocates nothing.
class DroppedLines {
public:
    struct Count {
        std::string client;   // "-": clients that do not fit into the table
        std::uint16_t status = 0;
        std::uint64_t lines = 0;
    };

    void add(std::string_view client, std::uint16_t status);
    /// Most lines first, at most `most` of them.
    std::vector<Count> largest(std::size_t most) const;

private:
    static constexpr std::size_t rows_max = 128;
    struct Row {
        std::array<char, 46> text{};   // the longest IPv6 address in text
        std::uint8_t length = 0;
        std::uint16_t status = 0;
        std::uint64_t lines = 0;
        std::string_view client() const { return {text.data(), length}; }
    };
    Row& row_of(std::string_view client, std::uint16_t status) REQUIRES(mutex_);

    mutable Mutex mutex_;
    std::array<Row, rows_max> rows_ GUARDED_BY(mutex_){};   // the first row counts clients that do not fit
    std::size_t used_ GUARDED_BY(mutex_) = 1;
};

}   // namespace garner::proxy
