// The content of one line or binary record of a trace.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "util/bytes.hpp"
#include "util/hash.hpp"

namespace garner::sim {

/// Views point into the line.
struct Record {
    enum class Kind : std::uint8_t {
        nothing,     // a header, a comment, a blank line
        request,     // for `size` bytes of `key`
        unchanged,   // a request for `key` with the size last seen (304)
        skipped,     // well formed, but no request for a whole object
        broken,      // does not match the format: see `field`, `text`, `why`
    };
    Kind kind = Kind::nothing;
    std::uint64_t key = 0;   // a hash
    Bytes size = 0;
    std::string_view field = {}, text = {}, why = {};   // "size", "abc", "is not a whole number"

    static Record request(std::uint64_t key, Bytes size) { return {.kind = Kind::request, .key = key, .size = size}; }
    static Record unchanged(std::uint64_t key) { return {.kind = Kind::unchanged, .key = key}; }
    static Record skipped() { return {.kind = Kind::skipped}; }
    static Record broken(std::string_view field, std::string_view text, std::string_view why) {
        return {.kind = Kind::broken, .field = field, .text = text, .why = why};
    }
    static Record broken(std::string_view why) { return broken({}, {}, why); }
};

/// The error in a broken record, printable and on one line: "size 'abc' is not a whole number".
std::string fault_of(Record const& record);

/// Sums and doubles represent it exactly.
inline constexpr Bytes size_max = Bytes{1} << 53;

struct SizeRead {
    Bytes size = 0;
    std::string_view fault;   // like Record::why; empty: none
};
SizeRead read_size(std::string_view text);

/// A bijection (the finaliser of splitmix64, Steele et al. 2014): different numbers never collide.
constexpr std::uint64_t key_of(std::uint64_t number) {
    number += 0x9e3779b97f4a7c15;
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
    number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
    return number ^ (number >> 31);
}

/// Two of n different texts share their hash with a probability of n^2 / 2^65: 3e-8 for a million keys, 3e-4 for a hundred
/// million. So hashes replace the keys, and no text is stored. A text that is a number has that number's key.
std::uint64_t key_of(std::string_view text);

}   // namespace garner::sim
