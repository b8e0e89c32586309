// The keys of objects that the new process asks for, on the socket of the objects: each is its length, 4 bytes, and its text.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace garner::takeover {

inline constexpr std::size_t want_max = 4'096;   // bytes of a key

/// The bytes of one; empty for a longer key.
std::string want(std::string_view key);

/// Reads them from blocks of any size.
class Wants {
public:
    void add(std::string_view bytes) {
        if (!invalid_) bytes_ += bytes;
    }
    /// The next key; nothing: it needs more bytes. After an invalid length there are no more.
    std::optional<std::string> next();

private:
    std::string bytes_;
    bool invalid_ = false;
};

}   // namespace garner::takeover
