// A run: all fingerprints of a set on disk, sorted, in buckets by their upper bits. The format is in
// docs/reference/url-set-format.md. Written once, sequentially, and never changed.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/file.hpp"
#include "util/bytes.hpp"
#include "util/hash.hpp"

namespace garner::crawl {

struct Bucket {
    std::uint64_t offset = 0;   // in the file
    std::uint32_t bytes = 0;
    std::uint32_t count = 0;   // fingerprints
    std::uint64_t checksum = 0;
};

/// The number of upper bits that select a bucket, for this many entries: 8 to 16.
unsigned bucket_bits(std::uint64_t entries);

class RunWriter {
public:
    /// Creates the file, replacing an existing one. `set` and `generation` identify the run.
    RunWriter(std::string path, std::uint64_t set, std::uint64_t generation, unsigned bits, io::Faults*);

    /// Ascending within each call and between calls. Whole buckets: no two calls share one.
    void add(std::span<Fingerprint const>);
    /// Returns when the file is complete on the disk. Empty, or the first error.
    std::string finish();
    std::string const& fault() const { return fault_; }
    std::uint64_t entries() const { return entries_; }

private:
    void add_bucket(std::uint64_t number, std::span<Fingerprint const>);
    void flush();

    std::string path_, fault_;
    std::uint64_t set_, generation_;
    unsigned bits_;
    io::File file_;
    std::vector<Bucket> buckets_;
    std::uint64_t entries_ = 0, written_ = 0;
    std::vector<char> waiting_;   // to be written at `written_`
    std::size_t waiting_bytes_ = 0;
};

class RunReader {
public:
    RunReader() = default;

    /// Empty, or one line that says why this is not the run of that set and generation with `entries` entries.
    std::string open(std::string const& path, std::uint64_t set, std::uint64_t generation, std::uint64_t entries, io::Faults*);
    unsigned bits() const { return bits_; }
    std::uint64_t entries() const { return entries_; }
    std::uint64_t buckets() const { return std::uint64_t{1} << bits_; }
    Bytes file_bytes() const { return file_bytes_; }
    Bytes memory_bytes() const { return buckets_.capacity() * sizeof(Bucket) + block_.capacity(); }

    /// The read size: reads take whole buckets that fit. A large size suits sequential access.
    void read_ahead(Bytes bytes) { ahead_ = bytes; }
    /// The fingerprints of a bucket, valid until the next call, followed by BucketIndex's slack unless empty. False
    /// after an error, which fault() describes.
    bool read(std::uint64_t bucket, std::span<Fingerprint const>& urls);
    std::string const& fault() const { return fault_; }

private:
    bool load(std::uint64_t bucket);

    std::string path_, fault_;
    io::File file_;
    std::uint64_t set_ = 0, generation_ = 0;
    unsigned bits_ = 8;
    std::uint64_t entries_ = 0;
    Bytes file_bytes_ = 0;
    std::vector<Bucket> buckets_;
    Bytes ahead_ = 0;
    std::vector<char> block_;   // bytes of the file, from block_begin_ on
    std::uint64_t block_begin_ = 0;
    std::size_t block_bytes_ = 0;
    std::vector<Fingerprint> urls_;
};

}   // namespace garner::crawl
