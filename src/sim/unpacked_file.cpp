#include "sim/unpacked_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "util/check.hpp"

namespace garner::sim {
namespace {

constexpr std::size_t block_bytes = 256 * KiB;
constexpr std::size_t magic_bytes = 4;

class Plain : public Unpacker {
public:
    Step step(std::string_view packed, char* to, std::size_t room) override {
        auto size = packed.copy(to, room);
        return {size, size, {}};
    }
    bool complete() const override { return true; }
};

class Zstd : public Unpacker {
public:
    static bool knows(std::string_view head) {
        if (head.size() < magic_bytes) return false;
        bool frame = head.starts_with("\x28\xb5\x2f\xfd");
        bool skippable = (head[0] & 0xf0) == 0x50 && head.substr(1).starts_with("\x2a\x4d\x18");   // RFC 8878 3.1.2
        return frame || skippable;
    }

    Zstd() : stream_(ZSTD_createDStream()) { check(stream_ != nullptr); }
    ~Zstd() override { ZSTD_freeDStream(stream_); }

    Step step(std::string_view packed, char* to, std::size_t room) override {
        ZSTD_inBuffer in{packed.data(), packed.size(), 0};
        ZSTD_outBuffer out{to, room, 0};
        auto left = ZSTD_decompressStream(stream_, &out, &in);
        // Asked with nothing, it tells what it would like for a next frame.
        if (in.pos > 0 || out.pos > 0) complete_ = left == 0;
        return {in.pos, out.pos, ZSTD_isError(left) ? ZSTD_getErrorName(left) : ""};
    }
    bool complete() const override { return complete_; }

private:
    ZSTD_DStream* const stream_;
    bool complete_ = false;
};

class Gzip : public Unpacker {
public:
    static bool knows(std::string_view head) { return head.starts_with("\x1f\x8b\x08"); }   // RFC 1952 2.3: deflate

    Gzip() {
        constexpr int window_bits = 15, gzip_only = 16;
        check(inflateInit2(&stream_, window_bits + gzip_only) == Z_OK);
    }
    ~Gzip() override { inflateEnd(&stream_); }

    Step step(std::string_view packed, char* to, std::size_t room) override {
        if (complete_ && !packed.empty()) {
            inflateReset(&stream_);   // the next member
            complete_ = false;
        }
        stream_.next_in = reinterpret_cast<Bytef const*>(packed.data());
        stream_.avail_in = static_cast<uInt>(packed.size());
        stream_.next_out = reinterpret_cast<Bytef*>(to);
        stream_.avail_out = static_cast<uInt>(std::min(room, std::size_t{1} << 30));
        auto const could_make = stream_.avail_out;
        auto result = inflate(&stream_, Z_NO_FLUSH);
        complete_ = complete_ || result == Z_STREAM_END;
        Step step{packed.size() - stream_.avail_in, could_make - stream_.avail_out, {}};
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
            step.fault = stream_.msg ? stream_.msg : zError(result);
        return step;
    }
    bool complete() const override { return complete_; }

private:
    z_stream stream_{};
    bool complete_ = false;
};

/// Numbers may begin with anything.
bool is_plain_by_name(std::string_view path) {
    return path.ends_with(".u32") || path.ends_with(".u64") || path.ends_with(".u128");
}

std::unique_ptr<Unpacker> unpacker_for(std::string_view head, std::string_view path) {
    if (is_plain_by_name(path)) return std::make_unique<Plain>();
    if (Zstd::knows(head)) return std::make_unique<Zstd>();
    if (Gzip::knows(head)) return std::make_unique<Gzip>();
    return std::make_unique<Plain>();
}

std::string mend_of(int error) {
    if (error == ENOENT) return ": check the path";
    if (error == EACCES || error == EPERM) return ": allow this user to read it";
    return {};
}

std::string text_of(int error) { return std::generic_category().message(error) + mend_of(error); }

}  // namespace

UnpackedFile::UnpackedFile(std::string const& path) : name_(path == "-" ? "standard input" : path) {
    open(path);
    if (!fault_.empty()) return;
    block_.resize(block_bytes);
    while (packed_.size() < magic_bytes && refill()) {}
    unpacker_ = unpacker_for(packed_, path);
}

UnpackedFile::~UnpackedFile() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

std::size_t UnpackedFile::read(char* to, std::size_t room) {
    while (fault_.empty()) {
        if (packed_.empty()) refill();
        auto step = unpacker_->step(packed_, to, room);
        packed_.remove_prefix(step.taken);
        auto const at = std::to_string(bytes_read_ - packed_.size());
        if (!step.fault.empty())
            fault_ = name_ + ": the packed data is damaged at byte " + at + " (" + step.fault + "): fetch it again; numbers that "
                     "only look packed are taken as they are from a file named *.u32, *.u64 or *.u128";
        if (step.made > 0) return step.made;
        if (!ended_ || !packed_.empty() || step.taken > 0 || !fault_.empty()) continue;
        if (!unpacker_->complete())
            fault_ = name_ + ": the packed data is cut off at byte " + at + ": fetch it again";
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
        fault_ = name_ + " is a directory: name one of its files";
    } else if (S_ISREG(about.st_mode)) {
        bytes_in_file_ = static_cast<Bytes>(about.st_size);
    }
}

/// Adds to the bytes that are not unpacked yet, which move to the block's beginning. False at the end.
bool UnpackedFile::refill() {
    if (ended_) return false;
    std::copy(packed_.begin(), packed_.end(), block_.begin());
    auto const room = block_.size() - packed_.size();
    ssize_t got;
    do got = ::read(descriptor_, block_.data() + packed_.size(), room);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        fault_ = "cannot read " + name_ + " beyond byte " + std::to_string(bytes_read_) + ": " + text_of(errno);
    ended_ = got <= 0;
    if (ended_) return false;
    bytes_read_ += static_cast<Bytes>(got);
    packed_ = {block_.data(), packed_.size() + static_cast<std::size_t>(got)};
    return true;
}

}  // namespace garner::sim
