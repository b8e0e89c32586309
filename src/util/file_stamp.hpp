// Tells whether a file has changed, without reading it.
#pragma once
#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

namespace garner {

struct FileStamp {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    std::int64_t modified = 0, changed = 0;   // nanoseconds since 1970
    friend bool operator==(FileStamp const&, FileStamp const&) = default;
};

/// Nothing if there is no such file.
inline std::optional<FileStamp> stamp_of(std::string const& path) {
    struct stat now;
    if (::stat(path.c_str(), &now) != 0) return std::nullopt;
    constexpr auto nanoseconds = [](timespec const& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; };
    return FileStamp{now.st_dev, now.st_ino, now.st_size, nanoseconds(now.st_mtim), nanoseconds(now.st_ctim)};
}

}   // namespace garner
