// Compares the exact sets, and two others: url_sets ENTRIES DIRECTORY [SET[:ENTRIES]...]
// Each set is filled in batches of a tenth. Then it is asked for batches of known URLs, and for batches of which half is new.
// Reports checks per second of processor time and of elapsed time. The ratio compares known URLs with absl::flat_hash_set.
#include <absl/container/flat_hash_set.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "catalog/url_sets.hpp"
#include "crawl/disk_set.hpp"
#include "crawl/mixed_bits.hpp"
#include "util/check.hpp"

using namespace garner;
using crawl::UrlSet;

namespace {

class Absl final : public UrlSet {
public:
    explicit Absl(std::uint64_t expected) { set_.reserve(expected); }
    Added add(std::span<Fingerprint const> batch, std::span<std::uint8_t> is_new) override {
        Added added;
        for (std::size_t i = 0; i < batch.size(); ++i) added.fresh += is_new[i] = set_.insert(batch[i]).second;
        return added;
    }
    std::uint64_t size() const override { return set_.size(); }
    Bytes memory_bytes() const override { return set_.capacity() * (sizeof(Fingerprint) + 1); }

private:
    absl::flat_hash_set<Fingerprint> set_;
};

class Rocks final : public UrlSet {
public:
    explicit Rocks(std::filesystem::path const& directory) : directory_(directory) {
        rocksdb::Options options;
        options.create_if_missing = true;
        options.compression = rocksdb::kNoCompression;
        rocksdb::BlockBasedTableOptions table;
        table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
        options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
        rocksdb::DB* db = nullptr;
        check(rocksdb::DB::Open(options, directory.string(), &db).ok());
        db_.reset(db);
    }
    Added add(std::span<Fingerprint const> batch, std::span<std::uint8_t> is_new) override {
        Added added;
        constexpr std::size_t chunk = 1'000;
        for (std::size_t from = 0; from < batch.size(); from += chunk)
            add_chunk(batch.subspan(from, std::min(chunk, batch.size() - from)), is_new.subspan(from), added);
        size_ += added.fresh;
        return added;
    }
    std::string sync() override {
        rocksdb::FlushOptions flush;
        return db_->Flush(flush).ok() && db_->CompactRange({}, nullptr, nullptr).ok() ? "" : "failed";
    }
    std::uint64_t size() const override { return size_; }
    Bytes memory_bytes() const override { return 0; }
    Bytes file_bytes() const override {
        Bytes all = 0;
        for (auto const& entry : std::filesystem::directory_iterator(directory_))
            if (entry.path().extension() == ".sst" || entry.path().extension() == ".log") all += entry.file_size();
        return all;
    }

private:
    void add_chunk(std::span<Fingerprint const> urls, std::span<std::uint8_t> is_new, Added& added) {
        std::vector<Fingerprint> swapped;
        std::vector<rocksdb::Slice> keys;
        for (auto url : urls) swapped.push_back(__builtin_bswap64(url));
        for (auto& key : swapped) keys.emplace_back(reinterpret_cast<char const*>(&key), sizeof key);
        std::vector<std::string> values;
        auto const found = db_->MultiGet({}, keys, &values);
        rocksdb::WriteBatch writes;
        absl::flat_hash_set<Fingerprint> fresh;
        for (std::size_t i = 0; i < urls.size(); ++i) {
            is_new[i] = found[i].IsNotFound() && fresh.insert(urls[i]).second;
            if (is_new[i]) writes.Put(keys[i], {}), ++added.fresh;
        }
        check(db_->Write({}, &writes).ok());
    }
    std::filesystem::path directory_;
    std::unique_ptr<rocksdb::DB> db_;
    std::uint64_t size_ = 0;
};

struct Clock {
    static double cpu() {
        timespec now{};
        ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    }
    static double wall() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
};

/// Millions of checks per second.
struct Speed {
    double cpu = 0, wall = 0;
};

Fingerprint url_of(std::uint64_t number) { return crawl::mixed(number + 1); }

/// `number(i)` is the URL number of the i-th URL over all batches; `fresh` URLs of each batch are new.
template <class Number>
Speed measure(UrlSet& set, std::uint64_t batches, std::uint64_t batch, std::uint64_t fresh, Number number) {
    std::vector<Fingerprint> urls(batch);
    std::vector<std::uint8_t> is_new(batch);
    double cpu = 0, wall = 0;
    for (std::uint64_t b = 0; b < batches; ++b) {
        for (std::uint64_t i = 0; i < batch; ++i) urls[i] = url_of(number(b * batch + i));
        auto const cpu_before = Clock::cpu(), wall_before = Clock::wall();
        auto const added = set.add(urls, is_new);
        cpu += Clock::cpu() - cpu_before, wall += Clock::wall() - wall_before;
        if (!added.fault.empty()) std::printf("%s\n", added.fault.c_str()), std::exit(1);
        check(added.fresh == fresh);
    }
    auto const all = 1e-6 * static_cast<double>(batches * batch);
    return {all / cpu, all / wall};
}

struct Measured {
    Speed fill, known, half;
    double bits_filled = 0, bits = 0;
};

Measured measure_all(UrlSet& set, std::uint64_t entries) {
    auto const batch = entries / 10;
    Measured result;
    result.fill = measure(set, 10, batch, batch, [](std::uint64_t i) { return i; });
    result.bits_filled = set.bits_per_entry();
    auto any = [&](std::uint64_t i) { return crawl::mixed(i ^ 0x5555) % entries; };
    for (int run = 0; run < 3; ++run) {
        auto const known = measure(set, 1, batch, 0, any);
        if (known.cpu > result.known.cpu) result.known = known;
    }
    if (auto* disk = dynamic_cast<crawl::DiskSet*>(&set))
        check(disk->merge().empty());
    else
        check(set.sync().empty());
    result.bits = set.bits_per_entry();
    result.half = measure(set, 2, batch, batch / 2, [&](std::uint64_t i) { return i % 2 ? any(i) : entries + i; });
    return result;
}

std::unique_ptr<UrlSet> make(std::string const& name, std::uint64_t entries, std::filesystem::path const& directory) {
    std::filesystem::remove_all(directory);
    if (name == "absl") return std::make_unique<Absl>(0);
    if (name == "rocksdb") return std::make_unique<Rocks>(directory);
    bool const grown = name.ends_with("-grown");
    auto made = catalog::make_url_set(grown ? name.substr(0, name.size() - 6) : name,
                                      {.expected = grown ? 0 : entries, .memory = 2 * GiB, .directory = directory});
    if (!made) std::fprintf(stderr, "%s\n", made.fault_text().c_str()), std::exit(2);
    return *std::move(made);
}

}   // namespace

int main(int count, char** arguments) {
    if (count < 3) {
        std::fprintf(stderr, "url_sets ENTRIES DIRECTORY [absl|rocksdb|lines|lines-grown|runs|...[:ENTRIES]...]\n");
        return 2;
    }
    auto const all = static_cast<std::uint64_t>(std::atof(arguments[1]));
    std::filesystem::path const directory(arguments[2]);
    std::vector<std::string> names(arguments + 3, arguments + count);
    if (names.empty()) names = {"absl", "lines", "lines-grown", "mercator", "runs", "mercator-file", "rocksdb:1e6"};
    std::printf("%-14s %11s %9s %9s   %9s %9s %9s  million a CPU second   %7s %7s %7s  a second   %s\n", "set", "entries", "bits",
                "merged", "fill", "known", "half new", "fill", "known", "half", "ratio");
    double absl_known = 0;
    for (auto const& text : names) {
        auto const colon = text.find(':');
        auto const name = text.substr(0, colon);
        auto const entries = colon == std::string::npos ? all : static_cast<std::uint64_t>(std::atof(text.c_str() + colon + 1));
        auto const set = make(name, entries, directory / "set");
        auto const m = measure_all(*set, entries);
        if (name == "absl") absl_known = m.known.cpu;
        std::printf("%-14s %11llu %9.2f %9.2f   %9.2f %9.2f %9.2f %22s %7.2f %7.2f %7.2f %10s %.2f\n", name.c_str(),
                    static_cast<unsigned long long>(entries), m.bits_filled, m.bits, m.fill.cpu, m.known.cpu, m.half.cpu, "",
                    m.fill.wall, m.known.wall, m.half.wall, "", absl_known > 0 ? m.known.cpu / absl_known : 0.0);
        std::fflush(stdout);
    }
    auto const n = static_cast<double>(all);
    std::printf("no exact set of %.0f takes less than %.2f bits an entry\n", n,
                64 - std::log2(n) + 1 / std::log(2.0) - std::log2(2 * 3.141592653589793 * n) / (2 * n));
    std::filesystem::remove_all(directory / "set");
}
