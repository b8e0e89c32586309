// Reads the request traces of tests/data/traces (CSV `time,key,size` with a header, zstd).
#pragma once
#include <zstd.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "support/places.hpp"
#include "util/bytes.hpp"

namespace garner::test {

struct TraceRequest {
    std::uint64_t key;
    Bytes size;
};

inline std::filesystem::path trace_path(std::string_view name) {
    return source("tests/data/traces/" + std::string(name) + ".csv.zst");
}

/// The whole file, decompressed. Throws with the file's name on failure.
inline std::string read_zstd(std::filesystem::path const& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path.string());
    std::string packed(std::istreambuf_iterator<char>(file), {});
    auto size = ZSTD_getFrameContentSize(packed.data(), packed.size());
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > GiB)
        throw std::runtime_error("no zstd frame of known size: " + path.string());
    std::string text(size, '\0');
    auto got = ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size());
    if (got != size) throw std::runtime_error("damaged: " + path.string());
    return text;
}

/// The requests of a trace in order, by path or by name in tests/data/traces.
inline std::vector<TraceRequest> read_trace(std::filesystem::path const& path) {
    std::string const text = read_zstd(path);
    std::vector<TraceRequest> requests;
    char const* const end = text.data() + text.size();
    auto number = [&](char const*& at) {
        std::uint64_t value = 0;
        auto [past, fault] = std::from_chars(at, end, value);
        if (fault != std::errc{}) throw std::runtime_error("malformed number in " + path.string());
        at = past + 1;   // skips the comma or newline
        return value;
    };
    for (char const* at = text.data() + text.find('\n') + 1; at < end;) {
        number(at);
        auto key = number(at);
        requests.push_back({key, number(at)});
    }
    return requests;
}

inline std::vector<TraceRequest> read_trace(std::string_view name) { return read_trace(trace_path(name)); }
inline std::vector<TraceRequest> read_trace(char const* name) { return read_trace(trace_path(name)); }

/// The sum of the sizes of all distinct keys.
inline Bytes unique_bytes(std::vector<TraceRequest> const& requests) {
    std::unordered_set<std::uint64_t> seen;
    Bytes sum = 0;
    for (auto const& request : requests)
        if (seen.insert(request.key).second) sum += request.size;
    return sum;
}

}   // namespace garner::test
