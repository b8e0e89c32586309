#include "app/background.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "util/exit_code.hpp"

namespace garner::app {
namespace {

/// The child has written its messages to the same standard error, unless a signal ended it.
[[noreturn]] void wait_for(int child, int notice) {
    char byte = 0;
    ssize_t size;
    do size = ::read(notice, &byte, 1);
    while (size < 0 && errno == EINTR);
    if (size == 1) {
        std::printf("process %d serves\n", child);
        std::fflush(stdout);
        std::_Exit(exit_done);
    }
    int status = 0;
    if (::waitpid(child, &status, 0) == child && WIFSIGNALED(status))
        std::fprintf(stderr, "garner: the new process was ended by signal %d (%s); the running one goes on\n", WTERMSIG(status),
                     ::strsignal(WTERMSIG(status)));
    std::_Exit(exit_failed);
}

}   // namespace

Background::Background(bool wanted) {
    int ends[2];
    if (!wanted) return;
    int const child = ::pipe2(ends, O_CLOEXEC) == 0 ? ::fork() : -1;
    if (child < 0) {
        std::fprintf(stderr, "garner: cannot start a process in the background: %s\n", std::strerror(errno));
        std::_Exit(exit_failed);
    }
    ::close(ends[child == 0 ? 0 : 1]);
    if (child > 0) wait_for(child, ends[0]);
    ::setsid();
    notice_ = ends[1];
}

Background::~Background() {
    if (notice_ >= 0) ::close(notice_);
}

void Background::serves() {
    if (notice_ < 0) return;
    char const byte = 1;
    [[maybe_unused]] auto const written = ::write(notice_, &byte, 1);
    ::close(notice_);
    notice_ = -1;
}

}   // namespace garner::app
