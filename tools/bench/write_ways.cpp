// CPU time of writing segments of a disk store, by the ways that Linux offers: pwrite by a thread, as Garner does, and io_uring,
// with one or eight writes in flight and with registered memory. With O_DIRECT and without, in small and large pieces.
// usage: write_ways FILE   (about 1 GiB of free space)
#include <fcntl.h>
#include <liburing.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cpu_time.hpp"

namespace {

constexpr std::size_t page = 4 << 10, most_in_flight = 8;
constexpr std::size_t total = 512u << 20;   // bytes for each way

[[noreturn]] void fail(char const* call, int error) {
    std::cerr << call << ": " << std::strerror(error) << "\n";
    std::exit(1);
}

struct Target {
    int fd;
    std::vector<char*> pieces;   // one for each write in flight
    std::size_t size;            // of a piece
};

void by_pwrite(Target const& target) {
    for (std::size_t at = 0; at < total; at += target.size)
        if (::pwrite(target.fd, target.pieces[0], target.size, static_cast<off_t>(at)) != static_cast<ssize_t>(target.size))
            fail("pwrite", errno);
}

void by_uring(Target const& target, unsigned in_flight, bool registered) {
    io_uring ring{};
    if (int const error = ::io_uring_queue_init(most_in_flight, &ring, 0); error < 0) fail("io_uring_queue_init", -error);
    if (registered) {
        std::vector<iovec> parts;
        for (auto* piece : target.pieces) parts.push_back({piece, target.size});
        if (int const error = ::io_uring_register_buffers(&ring, parts.data(), static_cast<unsigned>(parts.size())); error < 0)
            fail("io_uring_register_buffers", -error);
    }
    std::size_t begun = 0, ended = 0;
    auto const count = total / target.size;
    while (ended < count) {
        for (; begun < count && begun - ended < in_flight; ++begun) {
            auto* const entry = ::io_uring_get_sqe(&ring);
            auto const which = static_cast<int>(begun % target.pieces.size());
            auto const size = static_cast<unsigned>(target.size);
            if (registered)
                ::io_uring_prep_write_fixed(entry, target.fd, target.pieces[which], size, begun * target.size, which);
            else
                ::io_uring_prep_write(entry, target.fd, target.pieces[which], size, begun * target.size);
        }
        ::io_uring_submit_and_wait(&ring, 1);
        io_uring_cqe* done = nullptr;
        for (; ::io_uring_peek_cqe(&ring, &done) == 0; ++ended) {
            if (done->res != static_cast<int>(target.size)) fail("write by io_uring", -done->res);
            ::io_uring_cqe_seen(&ring, done);
        }
    }
    ::io_uring_queue_exit(&ring);
}

template <class Write>
void measure(std::string const& name, Target const& target, Write write) {
    auto const cpu = cpu_seconds();
    auto const begun = std::chrono::steady_clock::now();
    write();
    auto const written = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    auto const used = cpu_seconds() - cpu;
    ::fdatasync(target.fd);
    std::cout << "  " << name << ": " << used / (total >> 20) * 1e6 << " us CPU a MiB, "
              << static_cast<double>(total) / written / 1e6 << " MB/s\n";
}

}   // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "usage: write_ways FILE\n";
        return 2;
    }
    for (int const direct : {O_DIRECT, 0})
        for (std::size_t const size : {std::size_t{128} << 10, std::size_t{2} << 20}) {
            Target target{::open(arguments[1], O_RDWR | O_CREAT | direct, 0600), {}, size};
            if (target.fd < 0 || ::posix_fallocate(target.fd, 0, total) != 0) fail("open", errno);
            for (std::size_t i = 0; i < most_in_flight; ++i) {
                target.pieces.push_back(static_cast<char*>(std::aligned_alloc(page, size)));
                std::memset(target.pieces.back(), static_cast<int>('a' + i), size);
            }
            std::cout << (direct ? "O_DIRECT" : "page cache") << ", pieces of " << (size >> 10) << " KiB\n";
            by_pwrite(target);   // the file's blocks are written once before any measurement
            ::fdatasync(target.fd);
            for (int round = 0; round < 3; ++round) {
                measure("pwrite", target, [&] { by_pwrite(target); });
                measure("io_uring, 1 in flight", target, [&] { by_uring(target, 1, false); });
                measure("io_uring, 8 in flight", target, [&] { by_uring(target, most_in_flight, false); });
                measure("io_uring, 8 in flight, registered", target, [&] { by_uring(target, most_in_flight, true); });
            }
            ::close(target.fd);
            for (auto* piece : target.pieces) std::free(piece);
        }
    ::unlink(arguments[1]);
}
