#include "auth/watched_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace garner::auth {
namespace {

struct Descriptor {
    int number;
    ~Descriptor() {
        if (number >= 0) ::close(number);
    }
};

std::int64_t nanoseconds(timespec const& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

/// Reads up to `size` bytes. Returns nothing on an error, which is in errno.
std::optional<std::string> read_text(int descriptor, std::size_t size) {
    std::string text(size, 0);
    std::size_t filled = 0;
    while (filled < size) {
        auto const count = ::read(descriptor, text.data() + filled, size - filled);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return std::nullopt;
        if (count == 0) break;
        filled += static_cast<std::size_t>(count);
    }
    text.resize(filled);
    return text;
}

}   // namespace

std::optional<Result<std::string>> WatchedFile::failed(std::string what, std::string mend) {
    read_.reset();
    is_rejected_ = false;
    if (what == fault_) return std::nullopt;
    fault_ = what;
    mend_ = mend;
    return Result<std::string>(Fault{std::move(what), std::move(mend), path_});
}

std::optional<Result<std::string>> WatchedFile::read_if_changed(WallTime now) {
    // O_NONBLOCK: opening a named pipe must not wait for its writer.
    Descriptor const file{::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat found {};
    if (file.number < 0 || ::fstat(file.number, &found) != 0)
        return failed(std::string("cannot be read: ") + std::strerror(errno), "create the file, or give garner read access");
    if (!S_ISREG(found.st_mode)) return failed("is not a file", "name a file");
    if (static_cast<Bytes>(found.st_size) > size_max_) return failed("is larger than " + std::to_string(size_max_) + " bytes", "");
    // Taken before the reading: a change during it is read the next time.
    State const state{found.st_dev, found.st_ino, found.st_size, nanoseconds(found.st_mtim), nanoseconds(found.st_ctim)};
    if (read_ == state) {
        if (!is_rejected_) right_ = now;
        return std::nullopt;
    }
    auto text = read_text(file.number, static_cast<std::size_t>(found.st_size));
    if (!text) return failed(std::string("cannot be read: ") + std::strerror(errno), "");
    read_ = state;
    fault_.clear();
    is_rejected_ = false;
    // reject() may follow: then the facts are those of the time before.
    former_right_ = std::exchange(right_, now);
    return Result<std::string>(*std::move(text));
}

void WatchedFile::reject(std::string why, std::string mend) {
    fault_ = std::move(why);
    mend_ = std::move(mend);
    is_rejected_ = true;
    right_ = former_right_;
}

std::optional<Trouble> WatchedFile::trouble(std::string effect) const {
    if (fault_.empty()) return std::nullopt;
    return Trouble{Trouble::Kind::file, path_, fault_, std::move(effect), mend_, right_};
}

}   // namespace garner::auth
