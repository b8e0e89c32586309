// Empties the processor's caches again and again, as other work on a machine does: reads the next part of a buffer that no cache
// holds, one byte of each line, and sleeps. The proxy on the same core then finds its code and data in memory only.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <thread>

namespace {
constexpr std::size_t line = 64, buffer = 256u << 20;   // bytes
}   // namespace

/// empty_caches BYTES MICROSECONDS: how much it reads each time, and how long it sleeps between.
int main(int count, char** arguments) {
    if (count != 3) {
        std::cerr << "usage: empty_caches BYTES MICROSECONDS\n";
        return 2;
    }
    auto const part = std::strtoull(arguments[1], nullptr, 10);
    std::chrono::microseconds const pause(std::strtoll(arguments[2], nullptr, 10));
    auto const bytes = std::make_unique<std::uint8_t volatile[]>(buffer);
    for (std::size_t at = 0;; std::this_thread::sleep_for(pause))
        for (std::size_t read = 0; read < part; read += line, at = (at + line) % buffer) bytes[at] = bytes[at] + 1;
}
