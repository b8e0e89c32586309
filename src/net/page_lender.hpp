// Sends pages of this process without copying them.
#pragma once
#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <span>

#include "util/bytes.hpp"

namespace garner::net {

/// Passes pages to a socket through a pipe of the thread (vmsplice, splice). The kernel keeps them until the other side has
/// acknowledged their bytes and, over loopback, read them; it does not tell when. So they must not change afterwards, also not
/// after their memory was freed: the owner gives them back by MADV_DONTNEED, after which the memory has other pages. One per
/// thread, not thread-safe.
class PageLender {
public:
    /// Smaller parts are copied, which costs less: tools/bench/send_ways.cpp.
    static constexpr std::size_t part_min = 256 * KiB;

    PageLender(PageLender const&) = delete;
    ~PageLender() { close(); }

    /// nullptr: the system gives no pipe for a whole part, or does not permit the calls.
    static PageLender* of_this_thread();

    /// Like sendmsg() without waiting: the number of bytes sent, or -1 and errno. Parts of part_min and more are lent, so all of them
    /// must be pages that the caller may lend.
    ssize_t send(int socket, std::span<iovec const> parts);

private:
    PageLender() { open(); }
    bool usable() const { return in_ >= 0; }
    void open();
    void close();
    ssize_t lend(int socket, std::span<iovec const> parts);

    int out_ = -1, in_ = -1;   // the ends of the pipe; -1: not usable
};

/// sendmsg() without waiting. `more`: another part follows at once.
ssize_t send_copies(int socket, std::span<iovec const> parts, bool more = false);

}   // namespace garner::net
