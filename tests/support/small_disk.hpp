// A disk of a few megabytes that fills up: a tmpfs visible to one thread and its child processes.
#pragma once
#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <thread>

namespace garner::test {

/// Runs `work` with the path of such a disk on a separate thread. Only that thread and its
/// child processes see the disk, which disappears with the last of them. Returns the reason
/// if the disk cannot be created, otherwise an empty string. Rethrows exceptions of `work`.
template <class Work>
std::string on_a_small_disk(std::size_t bytes, Work const& work) {
    std::string place = "/tmp/garner-disk-XXXXXX", why_not;
    if (!::mkdtemp(place.data())) return std::string("mkdtemp: ") + std::strerror(errno);
    std::exception_ptr thrown;
    std::thread([&] {
        auto const size = "size=" + std::to_string(bytes) + ",mode=755";
        // Makes mounts private first, otherwise the system would see the disk too.
        if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount("tmpfs", place.c_str(), "tmpfs", 0, size.c_str()) != 0) {
            why_not = std::string("no file system of one's own: ") + std::strerror(errno);
            return;
        }
        try {
            work(place);
        } catch (...) {
            thrown = std::current_exception();
        }
    }).join();
    ::rmdir(place.c_str());
    if (thrown) std::rethrow_exception(thrown);
    return why_not;
}

}   // namespace garner::test
