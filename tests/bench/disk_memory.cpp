// Memory and time of the disk tier's index, with and without an order: disk_memory RECORDS STORE_GIB [POLICY]
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "store/disk_index.hpp"
#include "store/disk_order.hpp"

using namespace garner;
using store::disk::Index;
using store::disk::Order;

namespace {

std::uint64_t const operations = 2'000'000;

Fingerprint hash_of(std::uint64_t key) { return fingerprint({reinterpret_cast<char const*>(&key), sizeof key}, 1); }
Fingerprint any_of(std::uint64_t count, std::uint64_t i) { return hash_of(hash_of(i) % count); }

double resident() {
    std::uint64_t all = 0, pages = 0;
    std::ifstream("/proc/self/statm") >> all >> pages;
    return static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

template <class Call>
void timed(char const* what, std::uint64_t times, Call call) {
    auto const start = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < times; ++i) call(i);
    std::chrono::duration<double, std::nano> const taken = std::chrono::steady_clock::now() - start;
    std::printf("  %-12s %6.0f ns\n", what, taken.count() / static_cast<double>(times));
}

void show_memory(char const* what, Bytes counted, double before, std::uint64_t count) {
    auto const each = static_cast<double>(count);
    std::printf("  %-12s %6.2f B a record, %.2f B resident\n", what, static_cast<double>(counted) / each,
                (resident() - before) / each);
}

void measure(Index& index, std::uint64_t count) {
    auto const before = resident();
    double most = 0;
    timed("put", count, [&](std::uint64_t i) {
        index.put(hash_of(i), 0, 1'100, 0);
        if (i >= count / 10 && i % (count / 100) == 0)
            most = std::max(most, static_cast<double>(index.metadata_bytes()) / static_cast<double>(i));
    });
    show_memory("index", index.metadata_bytes(), before, count);
    std::printf("  %-12s %6.2f B a record on the way\n", "at most", most);
    timed("find", operations, [&](std::uint64_t i) { index.find(any_of(count, i)); });
    timed("find absent", operations, [&](std::uint64_t i) { index.find(hash_of(count + i)); });
    timed("use", operations, [&](std::uint64_t i) { index.use(any_of(count, i)); });
    timed("put again", operations, [&](std::uint64_t i) { index.put(any_of(count, i), 0, 1'100, 0); });
    timed("erase, put", std::min(count, operations), [&](std::uint64_t i) {
        index.erase(hash_of(i));
        index.put(hash_of(count + i), 0, 1'100, 0);
    });
}

void measure(Order& order, std::uint64_t count) {
    auto const before = resident();
    timed("stored", count, [&](std::uint64_t i) { order.stored(hash_of(i), 1'100); });
    show_memory("order", order.metadata_bytes(), before, count);
    timed("used", operations, [&](std::uint64_t i) { order.used(any_of(count, i)); });
    timed("keeps", operations, [&](std::uint64_t i) { order.keeps(any_of(count, i), 0); });
    timed("victim, next", std::min(count, operations), [&](std::uint64_t i) {
        order.removed(*order.victim(), policy::Left::evicted);
        order.stored(hash_of(count + i), 1'100);
    });
}

}   // namespace

int main(int count, char** words) {
    if (count < 3) return std::fprintf(stderr, "usage: %s RECORDS STORE_GIB [POLICY]\n", words[0]), 2;
    auto const records = std::strtoull(words[1], nullptr, 10);
    Bytes const store = std::strtoull(words[2], nullptr, 10) * GiB;
    if (records < 100 || store == 0) return std::fprintf(stderr, "at least 100 records and 1 GiB\n"), 2;
    std::printf("%llu records, a store of %s GiB\n", records, words[2]);
    if (count == 3) {
        Index index(store);
        measure(index, records);
        return 0;
    }
    auto order = store::disk::make_order(words[3], store, 1);
    if (!order) return std::fprintf(stderr, "%s\n", store::disk::order_fault(words[3]).c_str()), 2;
    measure(*order, records);
}
