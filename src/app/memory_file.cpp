#include "app/memory_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "cache/value_walk.hpp"
#include "io/file.hpp"
#include "io/log.hpp"
#include "store/object_stream.hpp"
#include "util/random_bits.hpp"
#include "util/units.hpp"

namespace garner::app {
namespace {

constexpr milliseconds save_patience{10'000};
constexpr char const* hurried = "the operator does not wait";

}   // namespace

int MemoryFile::take() const {
    if (path_.empty()) return -1;
    ::unlink(unfinished().c_str());
    int const descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0 && errno == ENOENT) return -1;
    std::string trouble = descriptor < 0 ? io::text_of_error(errno) : "";
    struct stat file {};
    if (trouble.empty() && (::fstat(descriptor, &file) != 0 || !S_ISREG(file.st_mode))) trouble = "it is no regular file";
    if (trouble.empty() && ::unlink(path_.c_str()) != 0) trouble = "cannot remove it: " + io::text_of_error(errno);
    sync_directory();
    if (trouble.empty()) return descriptor;
    spdlog::error("memory.save: {} is not read: {}; remove it by hand", path_, trouble);
    if (descriptor >= 0) ::close(descriptor);
    return -1;
}

void MemoryFile::discard() const {
    if (int const descriptor = take(); descriptor >= 0) ::close(descriptor);
}

void MemoryFile::save(cache::MemoryTier& memory, std::atomic<bool> const& hurry) const {
    if (path_.empty()) return;
    auto trouble = write(memory, hurry);
    if (trouble.empty()) trouble = put_in_place();
    if (trouble.empty()) return;
    ::unlink(unfinished().c_str());
    spdlog::error("memory.save: the objects in memory are not saved in {}: {}", path_, trouble);
}

/// Empty, or the error.
std::string MemoryFile::write(cache::MemoryTier& memory, std::atomic<bool> const& hurry) const {
    ::unlink(unfinished().c_str());
    auto const opened = io::File::open(unfinished(), io::File::Mode::create_here);
    if (opened.error != 0) return io::text_of_error(opened.error) + "; check the directory and its permissions";
    auto const& file = opened.file;
    Bytes at = 0;
    int error = file.keep_for_owner();
    store::ObjectWriter writer(random_bits(), [&](std::string_view bytes) {
        auto const done = file.write_at(at, bytes);
        at += bytes.size();
        error = error == 0 ? done.error : error;
        return error == 0;
    });
    auto const begun = steady_now();
    auto const goes_on = [&] {
        return !hurry && error == 0 && steady_now() - begun < save_patience && writer.bytes() < memory.budget().capacity();
    };
    cache::ValueWalk walk(memory);
    for (std::vector<cache::ValueWalk::Walked> some; goes_on() && walk.next(some); some.clear())
        for (auto const& one : some) writer.write(*one.object);
    writer.flush();
    if (error == 0 && !hurry) error = file.sync();
    if (hurry) return hurried;
    if (error != 0) return io::text_of_error(error);
    spdlog::info("memory.save: {} objects, {} written to {} in {}", writer.objects(), size_text(writer.bytes()), path_,
                 time_text(std::chrono::duration_cast<milliseconds>(steady_now() - begun)));
    return {};
}

std::string MemoryFile::put_in_place() const {
    if (std::rename(unfinished().c_str(), path_.c_str()) != 0) return io::text_of_error(errno);
    sync_directory();
    return {};
}

void MemoryFile::sync_directory() const {
    auto const parent = std::filesystem::path(path_).parent_path();
    int const directory = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return;
    ::fsync(directory);
    ::close(directory);
}

}   // namespace garner::app
