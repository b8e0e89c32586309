// A slow disk: loaded into a program before its C library (LD_PRELOAD), it delays operations on files named "store". $SLOW_DISK
// names a file with two numbers: milliseconds per read, and per write or sync. Without the file there is no delay.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

bool is_store(int descriptor) {
    std::array<char, 4096> path;
    auto const link = "/proc/self/fd/" + std::to_string(descriptor);
    auto const length = ::readlink(link.c_str(), path.data(), path.size());
    return length > 0 && std::string_view(path.data(), static_cast<std::size_t>(length)).ends_with("/store");
}

struct Times {
    unsigned read = 0, write = 0;   // milliseconds
};

Times times_of(int descriptor) {
    auto const* control = std::getenv("SLOW_DISK");
    if (!control || !is_store(descriptor)) return {};
    auto* file = std::fopen(control, "r");
    if (!file) return {};
    Times times;
    if (std::fscanf(file, "%u %u", &times.read, &times.write) != 2) times = {};
    std::fclose(file);
    return times;
}

/// Waits only as long as the disk is slow.
void hold(int descriptor, unsigned Times::*what) {
    constexpr unsigned step = 10;
    for (unsigned passed = 0; passed < times_of(descriptor).*what; passed += step) ::usleep(step * 1000);
}

template <class Function>
Function* real(char const* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}   // namespace

extern "C" {

ssize_t pread(int descriptor, void* into, std::size_t bytes, off_t at) {
    static auto* const next = real<decltype(pread)>("pread");
    hold(descriptor, &Times::read);
    return next(descriptor, into, bytes, at);
}

ssize_t pwrite(int descriptor, void const* from, std::size_t bytes, off_t at) {
    static auto* const next = real<decltype(pwrite)>("pwrite");
    hold(descriptor, &Times::write);
    return next(descriptor, from, bytes, at);
}

int fdatasync(int descriptor) {
    static auto* const next = real<decltype(fdatasync)>("fdatasync");
    hold(descriptor, &Times::write);
    return next(descriptor);
}

/// A read with RWF_NOWAIT fails with EAGAIN while the disk is slow.
ssize_t preadv2(int descriptor, iovec const* into, int count, off_t at, int flags) {
    static auto* const next = real<decltype(preadv2)>("preadv2");
    if ((flags & RWF_NOWAIT) && times_of(descriptor).read > 0) {
        errno = EAGAIN;
        return -1;
    }
    hold(descriptor, &Times::read);
    return next(descriptor, into, count, at, flags);
}
}
