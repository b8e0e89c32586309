// Trace files for tests: written, compressed by the real libraries, and read back.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "sim/trace_formats.hpp"
#include "sim/trace_reader.hpp"

namespace garner::sim {

/// A file in its own temporary folder, removed by the destructor.
class TraceFile {
public:
    explicit TraceFile(std::string_view bytes, std::string const& name = "trace") {
        static int count = 0;
        folder_ =
            std::filesystem::temp_directory_path() / ("garner_trace_" + std::to_string(::getpid()) + "_" + std::to_string(++count));
        std::filesystem::create_directory(folder_);
        path_ = folder_ / name;
        std::ofstream(path_, std::ios::binary) << bytes;
    }
    ~TraceFile() { std::filesystem::remove_all(folder_); }
    TraceFile(TraceFile const&) = delete;
    TraceFile& operator=(TraceFile const&) = delete;

    std::string path() const { return path_.string(); }

private:
    std::filesystem::path folder_, path_;
};

inline TraceRead read_bytes(std::string_view bytes, ReadOptions const& options = {}, std::string const& name = "trace") {
    TraceFile const file(bytes, name);
    return read_trace(file.path(), options);
}

/// One zstd frame.
inline std::string zstd(std::string_view text) {
    std::string packed(ZSTD_compressBound(text.size()), '\0');
    auto size = ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3);
    EXPECT_FALSE(ZSTD_isError(size));
    packed.resize(size);
    return packed;
}

/// One gzip member.
inline std::string gzip(std::string_view text) {
    std::string packed(compressBound(text.size()) + 64, '\0');
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.resize(packed.size() - stream.avail_out);
    deflateEnd(&stream);
    return packed;
}

/// A record of libCacheSim's oracleGeneral.
inline std::string oracle_record(std::uint32_t time, std::uint64_t id, std::uint32_t size, std::int64_t next) {
    std::string bytes;
    auto put = [&](auto value) {
        for (std::size_t i = 0; i < sizeof value; ++i)
            bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> 8 * i & 0xff);
    };
    put(time), put(id), put(size), put(next);
    return bytes;
}

/// One line: "request SIZE", "unchanged", "skipped", "nothing", or the error.
inline std::string said(Record const& record) {
    switch (record.kind) {
    case Record::Kind::nothing: return "nothing";
    case Record::Kind::request: return "request " + std::to_string(record.size);
    case Record::Kind::unchanged: return "unchanged";
    case Record::Kind::skipped: return "skipped";
    case Record::Kind::broken: return fault_of(record);
    }
    return {};
}

}   // namespace garner::sim
