#include "sim/unpacked_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

#include "util/check.hpp"

namespace garner::sim {
namespace {

constexpr std::size_t block_bytes = 256 * KiB;
constexpr std::size_t magic_bytes = 4;

Unpacked plain(std::string_view packed, char* to, std::size_t room) {
    auto const size = packed.copy(to, room);
    return {size, size};
}

Unpack zstd() {
    std::shared_ptr<ZSTD_DStream> const stream(ZSTD_createDStream(), ZSTD_freeDStream);
    check(stream != nullptr);
    return [stream, complete = false](std::string_view packed, char* to, std::size_t room) mutable -> Unpacked {
        ZSTD_inBuffer in{packed.data(), packed.size(), 0};
        ZSTD_outBuffer out{to, room, 0};
        auto const left = ZSTD_decompressStream(stream.get(), &out, &in);
        // Without input and output the result describes the next frame, so it is ignored.
        if (in.pos > 0 || out.pos > 0) complete = left == 0;
        return {in.pos, out.pos, ZSTD_isError(left) ? ZSTD_getErrorName(left) : "", complete};
    };
}

Unpack gzip() {
    constexpr int window_bits = 15, gzip_only = 16;
    std::shared_ptr<z_stream> const stream(new z_stream{}, [](z_stream* old) { inflateEnd(old), delete old; });
    check(inflateInit2(stream.get(), window_bits + gzip_only) == Z_OK);
    return [stream, complete = false](std::string_view packed, char* to, std::size_t room) mutable -> Unpacked {
        if (complete && !packed.empty()) inflateReset(stream.get()), complete = false;   // the next member
        auto const can_make = static_cast<uInt>(std::min(room, std::size_t{1} << 30));
        stream->next_in = reinterpret_cast<Bytef const*>(packed.data());
        stream->avail_in = static_cast<uInt>(packed.size());
        stream->next_out = reinterpret_cast<Bytef*>(to);
        stream->avail_out = can_make;
        auto const result = inflate(stream.get(), Z_NO_FLUSH);
        complete = complete || result == Z_STREAM_END;
        bool const failed = result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR;
        return {packed.size() - stream->avail_in, can_make - stream->avail_out,
                !failed       ? ""
                : stream->msg ? stream->msg
                              : zError(result),
                complete};
    };
}

/// Detects packing by the file's first bytes. Files of numbers may begin with any bytes.
Unpack unpack_for(std::string_view head, std::string_view path) {
    bool const numbers = path.ends_with(".u32") || path.ends_with(".u64") || path.ends_with(".u128");
    if (numbers || head.empty()) return plain;
    bool const skippable = (head[0] & 0xf0) == 0x50 && head.substr(1).starts_with("\x2a\x4d\x18");   // RFC 8878 3.1.2
    if (skippable || head.starts_with("\x28\xb5\x2f\xfd")) return zstd();
    return head.starts_with("\x1f\x8b\x08") ? gzip() : plain;   // RFC 1952 2.3: deflate
}

std::string mend_of(int error) {
    if (error == ENOENT) return ": check the path";
    if (error == EACCES || error == EPERM) return ": give this user read permission";
    return {};
}

std::string text_of(int error) { return std::generic_category().message(error) + mend_of(error); }

}   // namespace

UnpackedFile::UnpackedFile(std::string const& path) : name_(path == "-" ? "standard input" : path) {
    open(path);
    if (!fault_.empty()) return;
    block_.resize(block_bytes);
    while (packed_.size() < magic_bytes && refill()) {
    }
    unpack_ = unpack_for(packed_, path);
}

UnpackedFile::~UnpackedFile() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

std::size_t UnpackedFile::read(char* to, std::size_t room) {
    while (fault_.empty()) {
        if (packed_.empty()) refill();
        auto const step = unpack_(packed_, to, room);
        packed_.remove_prefix(step.taken);
        auto const at = std::to_string(bytes_read_ - packed_.size());
        if (!step.fault.empty())
            fault_ = name_ + ": the compressed data is damaged at byte " + at + " (" + step.fault +
                     "): copy the file again; if it contains plain numbers, rename it to *.u32, *.u64 or *.u128";
        if (step.made > 0) return step.made;
        if (!ended_ || !packed_.empty() || step.taken > 0 || !fault_.empty()) continue;
        if (!step.complete) fault_ = name_ + ": the compressed data is truncated at byte " + at + ": copy the file again";
        break;
    }
    return 0;
}

void UnpackedFile::open(std::string const& path) {
    descriptor_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &about) < 0) {
        fault_ = "cannot read " + name_ + ": " + text_of(errno);
    } else if (S_ISDIR(about.st_mode)) {
        fault_ = name_ + " is a directory: give one of its files";
    } else if (S_ISREG(about.st_mode)) {
        bytes_in_file_ = static_cast<Bytes>(about.st_size);
    }
}

/// Reads more packed bytes after the remaining ones, which move to the start of the block. False at the end.
bool UnpackedFile::refill() {
    if (ended_) return false;
    std::copy(packed_.begin(), packed_.end(), block_.begin());
    auto const room = block_.size() - packed_.size();
    ssize_t got;
    do got = ::read(descriptor_, block_.data() + packed_.size(), room);
    while (got < 0 && errno == EINTR);
    if (got < 0) fault_ = "cannot read " + name_ + " beyond byte " + std::to_string(bytes_read_) + ": " + text_of(errno);
    ended_ = got <= 0;
    if (ended_) return false;
    bytes_read_ += static_cast<Bytes>(got);
    packed_ = {block_.data(), packed_.size() + static_cast<std::size_t>(got)};
    return true;
}

}   // namespace garner::sim
