// A reader of the set `runs` that knows docs/reference/url-set-format.md alone finds all that the set has written.
#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "crawl/disk_set.hpp"
#include "crawl/folder.hpp"

namespace garner::crawl {
namespace {

using FoundSet = std::set<std::uint64_t>;

/// The bytes of a file of the set. Numbers are little-endian.
class SetFile {
public:
    SetFile(std::filesystem::path const& path, std::string const& magic) {
        std::ifstream in(path, std::ios::binary);
        bytes_ = {std::istreambuf_iterator<char>(in), {}};
        EXPECT_EQ(bytes_.substr(0, 8), magic);
        EXPECT_EQ(number(16, 4), 1u) << "version";
        EXPECT_EQ(number(8), XXH3_64bits(bytes_.data() + 16, 48)) << "checksum of the head";
    }

    std::uint64_t number(std::size_t offset, std::size_t bytes = 8) const {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes_.data() + offset, bytes);
        return value;
    }
    bool bit(std::size_t offset, std::uint64_t number) const { return bytes_[offset + number / 8] >> number % 8 & 1; }
    std::size_t size() const { return bytes_.size(); }

    /// place(number, where) of the bytes.
    std::uint64_t checksum(std::size_t offset, std::size_t bytes, std::uint64_t number_of_file, std::uint64_t where) const {
        return checksum(std::string_view(bytes_).substr(offset, bytes), number_of_file, where);
    }
    std::uint64_t checksum(std::string_view bytes, std::uint64_t number_of_file, std::uint64_t where) const {
        std::uint64_t const place[] = {number(24), number_of_file, where};
        return XXH3_64bits_withSeed(bytes.data(), bytes.size(), XXH3_64bits(place, sizeof place));
    }

private:
    std::string bytes_;
};

struct BucketBytes {
    std::size_t offset;
    std::uint64_t number, bits, count;
};

void read_bucket(SetFile const& run, BucketBytes const& bucket, FoundSet& into) {
    auto const width = 64 - static_cast<double>(bucket.bits) - std::log2(static_cast<double>(bucket.count)) + std::log2(0.4812);
    auto const k = static_cast<std::uint64_t>(std::clamp(std::ceil(width), 0.0, 56.0));
    std::uint64_t at = 0;
    std::vector<std::uint64_t> gaps(bucket.count);
    for (auto& gap : gaps) {
        while (!run.bit(bucket.offset, at++)) ++gap;
        gap <<= k;
    }
    at = (at + 63) / 64 * 64;
    for (auto& gap : gaps)
        for (std::uint64_t i = 0; i < k; ++i) gap |= std::uint64_t{run.bit(bucket.offset, at++)} << i;
    std::uint64_t fingerprint = bucket.number << (64 - bucket.bits);
    for (std::size_t i = 0; i < gaps.size(); ++i) into.insert(fingerprint += gaps[i] + (i > 0 ? 1 : 0));
}

void read_run(SetFile const& run, FoundSet& into) {
    auto const bits = run.number(20, 4), generation = run.number(32), directory = run.number(48);
    ASSERT_EQ(run.size(), directory + (16u << bits));
    EXPECT_EQ(run.number(56), run.checksum(directory, 16u << bits, generation, directory));
    std::size_t offset = 64;
    for (std::uint64_t i = 0; i < 1u << bits; ++i) {
        auto const row = directory + 16 * i, bytes = run.number(row + 8, 4), count = run.number(row + 12, 4);
        EXPECT_EQ(bytes % 8, 0u);
        EXPECT_EQ(run.number(row), run.checksum(offset, bytes, generation, i)) << "bucket " << i;
        if (count > 0) read_bucket(run, {offset, i, bits, count}, into);
        offset += bytes;
    }
    EXPECT_EQ(offset, directory);
    EXPECT_EQ(into.size(), run.number(40));
}

void read_log(SetFile const& log, FoundSet& into) {
    auto const number = log.number(32);
    for (std::size_t at = 64; at < log.size();) {
        auto const n = log.number(at + 8, 4);
        ASSERT_GE(n, 1u);
        EXPECT_EQ(log.number(at), log.checksum(at + 8, 8 + 8 * n, number, at));
        EXPECT_EQ(log.number(at + 12, 4), log.checksum({reinterpret_cast<char const*>(&n), 8}, number, at) & 0xffffffff);
        for (std::uint64_t i = 0; i < n; ++i) into.insert(log.number(at + 16 + 8 * i));
        at += 16 + 8 * n;
    }
}

TEST(SetFormat, a_reader_by_the_document_finds_every_fingerprint) {
    ASSERT_EQ(std::endian::native, std::endian::little);
    Folder folder;
    FoundSet added;
    auto set = DiskSet::open({.directory = folder.path(), .memory = 1 * MiB, .latest_least = 150});
    ASSERT_TRUE(set);
    for (std::uint64_t batch = 0; batch < 40; ++batch) {
        std::vector<Fingerprint> urls;
        for (std::uint64_t i = 0; i < 30; ++i) urls.push_back((batch * 30 + i + 1) * 0x9e3779b97f4a7c15);
        std::vector<std::uint8_t> is_new(urls.size());
        ASSERT_TRUE((*set)->add(urls, is_new).fault.empty());
        added.insert(urls.begin(), urls.end());
    }
    SetFile const manifest(folder.path("manifest"), "GARNERUM");
    auto const generation = manifest.number(32), log_number = manifest.number(48);
    ASSERT_GT(generation, 0u);
    FoundSet found;
    SetFile const run(folder.path("run." + std::to_string(generation)), "GARNERUR");
    read_run(run, found);
    EXPECT_EQ(manifest.number(40), found.size());
    SetFile const log(folder.path("log." + std::to_string(log_number)), "GARNERUL");
    EXPECT_EQ(run.number(24), manifest.number(24)) << "id of the set";
    read_log(log, found);
    EXPECT_EQ(found, added);
}

}   // namespace
}   // namespace garner::crawl
