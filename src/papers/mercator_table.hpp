// Mercator's Duplicate URL Eliminator in memory (Broder, Najork, Wiener 2003, section 3): checksums of 8 bytes. The
// first 3 are the index into a table; the other 5 are stored.
#pragma once
#include <cstdint>
#include <span>

#include "crawl/huge_array.hpp"
#include "crawl/url_set.hpp"

namespace garner::papers {

/// 5.2 bytes an entry at 1e9, more for smaller sets: 2^24 heads of 8 bytes, and heap rounding. add() throws
/// std::bad_alloc.
class MercatorTable final : public crawl::UrlSet {
public:
    explicit MercatorTable(std::uint64_t seed) : seed_(seed), heads_(std::size_t{1} << index_bits) {}
    ~MercatorTable() override;

    static Bytes bytes_for(std::uint64_t entries) { return (sizeof(Head) << index_bits) + 5 * entries; }

    Added add(std::span<Fingerprint const>, std::span<std::uint8_t> is_new) override;
    std::uint64_t size() const override { return size_; }
    Bytes memory_bytes() const override { return heads_.bytes() + chain_bytes_; }

private:
    static constexpr unsigned index_bits = 24;

    struct Head {
        std::uint64_t chain : 48;   // address on the heap
        std::uint64_t count : 16;   // checksums in the chain
    };
    static unsigned char* chain_of(Head head) { return reinterpret_cast<unsigned char*>(std::uintptr_t{head.chain}); }
    bool add_one(std::uint64_t checksum);

    std::uint64_t const seed_;
    crawl::HugeArray<Head> heads_;
    std::uint64_t size_ = 0;
    Bytes chain_bytes_ = 0;
};

}   // namespace garner::papers
