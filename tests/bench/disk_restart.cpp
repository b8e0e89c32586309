// Time of a start of the disk tier, from the page cache and from the disk: disk_restart DIRECTORY RECORDS STORE_GIB
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "store/disk_store.hpp"

using namespace garner;
using store::DiskOptions;
using store::DiskStats;
using store::DiskStore;

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::unique_ptr<DiskStore> open(DiskOptions const& options) {
    auto opened = DiskStore::open(options);
    if (!opened) std::fprintf(stderr, "%s\n", opened.fault().text().c_str()), std::exit(1);
    return *std::move(opened);
}

void fill(DiskOptions const& options, std::uint64_t records) {
    auto const disk = open(options);
    std::string const body(1'000, 'x');
    for (std::uint64_t i = 0; i < records;) {
        auto const key = "fhttp://example.com/" + std::to_string(i);
        store::Object::Parts parts;
        parts.key = key;
        parts.head = "HTTP/1.1 200 OK\r\n";
        parts.bytes = body;
        parts.terms.response_time = wall_now();
        parts.sequence = i + 1;
        if (disk->store(parts) == store::NotStored::none)
            ++i;
        else
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

void forget_pages(std::string const& file) {
    int const descriptor = ::open(file.c_str(), O_RDONLY);
    ::fsync(descriptor);
    ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
    ::close(descriptor);
}

void restart(DiskOptions const& options, char const* what) {
    auto const start = Clock::now();
    auto const disk = open(options);
    auto const opened = milliseconds_since(start);
    while (disk->stats().state == DiskStats::State::recovering) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::printf("  %-10s opened after %6.1f ms, everything found after %6.1f ms: %llu records\n", what, opened,
                milliseconds_since(start), static_cast<unsigned long long>(disk->stats().records));
}

}   // namespace

int main(int count, char** words) {
    if (count < 4) return std::fprintf(stderr, "usage: %s DIRECTORY RECORDS STORE_GIB\n", words[0]), 2;
    DiskOptions options;
    options.path = words[1];
    options.size = std::strtoull(words[3], nullptr, 10) * GiB;
    options.buffer = 256 * MiB;
    fill(options, std::strtoull(words[2], nullptr, 10));
    for (int i = 0; i < 3; ++i) restart(options, "cached");
    for (int i = 0; i < 3; ++i) {
        forget_pages(options.path + "/store");
        restart(options, "cold");
    }
}
