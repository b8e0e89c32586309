#include "io/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "io/pages.hpp"

namespace garner::io {

namespace {

Faults::Verdict judge(Faults* faults, Faults::Operation operation, Bytes offset, std::size_t size) {
    return faults ? faults->judge(operation, offset, size) : Faults::Verdict{};
}

int flags_of(File::Mode mode) {
    switch (mode) {
    case File::Mode::read: return O_RDONLY;
    case File::Mode::write: return O_RDWR;
    case File::Mode::create_here: return O_RDWR | O_CREAT | O_NOFOLLOW;
    case File::Mode::create: break;
    }
    return O_RDWR | O_CREAT;
}

}   // namespace

File::Opened File::open(std::string const& path, Mode mode, Faults* faults) {
    Opened opened;
    opened.error = judge(faults, Faults::Operation::open, 0, 0).error;
    if (opened.error) return opened;
    opened.file.descriptor_ = ::open(path.c_str(), flags_of(mode) | O_CLOEXEC, 0600);
    opened.file.faults_ = faults;
    if (!opened.file) opened.error = errno;
    return opened;
}

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), past_cache_(std::exchange(other.past_cache_, -1)),
      faults_(std::exchange(other.faults_, nullptr)) {}

File& File::operator=(File&& other) noexcept {
    if (this == &other) return *this;
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
    past_cache_ = std::exchange(other.past_cache_, -1);
    faults_ = std::exchange(other.faults_, nullptr);
    return *this;
}

void File::close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
    if (past_cache_ >= 0) ::close(std::exchange(past_cache_, -1));
}

Done File::read_at(Bytes offset, std::span<char> into) const {
    auto const verdict = judge(faults_, Faults::Operation::read, offset, into.size());
    if (verdict.error) return {0, verdict.error};
    auto const wanted = std::min(into.size(), verdict.at_most);
    Done done;
    while (done.bytes < wanted) {
        auto const more =
            ::pread(descriptor_, into.data() + done.bytes, wanted - done.bytes, static_cast<off_t>(offset + done.bytes));
        if (more < 0 && errno == EINTR) continue;
        if (more < 0) return {done.bytes, errno};
        if (more == 0) break;
        done.bytes += static_cast<std::size_t>(more);
    }
    if (done.bytes < into.size()) done.error = EIO;
    return done;
}

Done File::read_now(Bytes offset, std::span<char> into) const {
    auto const verdict = judge(faults_, Faults::Operation::read, offset, into.size());
    if (verdict.error) return {0, verdict.error};
    iovec piece{into.data(), std::min(into.size(), verdict.at_most)};
    auto const got = ::preadv2(descriptor_, &piece, 1, static_cast<off_t>(offset), RWF_NOWAIT);
    if (got < 0) return {0, errno == EINTR ? EAGAIN : errno};
    Done done{static_cast<std::size_t>(got), 0};
    if (done.bytes < into.size()) done.error = EAGAIN;
    return done;
}

void File::will_read(Bytes offset, Bytes size) const {
    ::posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(size), POSIX_FADV_WILLNEED);
}

Done File::write_at(Bytes offset, std::string_view bytes) const { return write_judged(descriptor_, offset, bytes); }

/// Reopens this file itself, not the file that its name refers to now.
int File::open_again(int flags) const {
    auto const itself = "/proc/self/fd/" + std::to_string(descriptor_);
    return ::open(itself.c_str(), O_RDWR | O_CLOEXEC | flags);
}

File File::again() const {
    File same;
    same.descriptor_ = open_again(0);
    same.faults_ = faults_;
    return same;
}

File File::shared() const {
    File same;
    same.descriptor_ = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
    same.faults_ = faults_;
    return same;
}

int File::keep_for_owner() const {
    struct stat about {};
    if (::fstat(descriptor_, &about) != 0) return errno;
    if (about.st_uid != ::geteuid()) return EPERM;
    return (about.st_mode & 077) == 0 || ::fchmod(descriptor_, 0600) == 0 ? 0 : errno;
}

bool File::allow_past_cache() {
    if (past_cache_ < 0) past_cache_ = open_again(O_DIRECT);
    return past_cache_ >= 0;
}

Done File::write_past_cache_at(Bytes offset, std::string_view bytes) const {
    auto const before = std::min<std::size_t>((page_bytes - offset % page_bytes) % page_bytes, bytes.size());
    auto const pages = (bytes.size() - before) / page_bytes * page_bytes;
    bool const is_page = reinterpret_cast<std::uintptr_t>(bytes.data() + before) % page_bytes == 0;
    if (past_cache_ < 0 || pages == 0 || !is_page) return write_at(offset, bytes);
    Done done;
    auto const write = [&](int descriptor, std::size_t size) {
        if (done.error || size == 0) return;
        auto const part = write_judged(descriptor, offset + done.bytes, bytes.substr(done.bytes, size));
        done = {done.bytes + part.bytes, part.error};
    };
    write(descriptor_, before);
    write(past_cache_, pages);
    write(descriptor_, bytes.size() - before - pages);
    return done;
}

Done File::write_judged(int descriptor, Bytes offset, std::string_view bytes) const {
    auto const verdict = judge(faults_, Faults::Operation::write, offset, bytes.size());
    auto const wanted = verdict.error ? 0 : std::min(bytes.size(), verdict.at_most);
    auto done = write_all(descriptor, offset, bytes.substr(0, wanted));
    if (!done.error && done.bytes < bytes.size()) done.error = verdict.error ? verdict.error : EIO;
    return done;
}

Done File::write_all(int descriptor, Bytes offset, std::string_view bytes) const {
    Done done;
    while (done.bytes < bytes.size()) {
        auto const more =
            ::pwrite(descriptor, bytes.data() + done.bytes, bytes.size() - done.bytes, static_cast<off_t>(offset + done.bytes));
        if (more < 0 && errno == EINTR) continue;
        // A disk may reject direct writes of some pages, and the rest after a short write may not be whole pages.
        if (more < 0 && errno == EINVAL && descriptor == past_cache_)
            descriptor = descriptor_;
        else if (more < 0)
            return {done.bytes, errno};
        else
            done.bytes += static_cast<std::size_t>(more);
    }
    return done;
}

int File::resize(Bytes size) const { return ::ftruncate(descriptor_, static_cast<off_t>(size)) == 0 ? 0 : errno; }

int File::sync() const {
    if (int const error = judge(faults_, Faults::Operation::sync, 0, 0).error) return error;
    return ::fdatasync(descriptor_) == 0 ? 0 : errno;
}

void File::start_writing(Bytes offset, Bytes size) const {
    ::sync_file_range(descriptor_, static_cast<off64_t>(offset), static_cast<off64_t>(size), SYNC_FILE_RANGE_WRITE);
}

int File::allocate(Bytes size) const {
    if (int const error = judge(faults_, Faults::Operation::allocate, 0, size).error) return error;
    struct stat about {};
    if (::fstat(descriptor_, &about) != 0) return errno;
    if (S_ISBLK(about.st_mode)) return this->size() >= size ? 0 : ENOSPC;
    if (::fallocate(descriptor_, 0, 0, static_cast<off_t>(size)) == 0) return 0;
    if (errno != EOPNOTSUPP) return errno;
    return ::ftruncate(descriptor_, static_cast<off_t>(size)) == 0 ? 0 : errno;
}

Bytes File::size() const {
    struct stat about {};
    if (::fstat(descriptor_, &about) != 0) return 0;
    std::uint64_t bytes = 0;
    if (S_ISBLK(about.st_mode)) return ::ioctl(descriptor_, BLKGETSIZE64, &bytes) == 0 ? bytes : 0;
    return static_cast<Bytes>(about.st_size);
}

void File::unlock() const { ::flock(descriptor_, LOCK_UN); }
int File::lock() const { return ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 ? 0 : errno; }

bool File::is_at(std::string const& path) const {
    struct stat ours {};
    struct stat there {};
    return ::fstat(descriptor_, &ours) == 0 && ::stat(path.c_str(), &there) == 0 && ours.st_dev == there.st_dev &&
           ours.st_ino == there.st_ino;
}

std::string text_of_error(int error) { return std::generic_category().message(error); }

}   // namespace garner::io
