#include "papers/mercator_table.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#include "crawl/mixed_bits.hpp"
#include "util/check.hpp"

namespace garner::papers {

namespace {

constexpr std::size_t kept_bytes = 5;

}   // namespace

MercatorTable::~MercatorTable() {
    for (std::size_t i = 0; size_ > 0 && i < heads_.size(); ++i) std::free(chain_of(heads_[i]));
}

crawl::UrlSet::Added MercatorTable::add(std::span<Fingerprint const> batch, std::span<std::uint8_t> is_new) {
    check(batch.size() == is_new.size());
    Added added;
    // The paper's checksums are hashes; these fingerprints may not be.
    for (std::size_t i = 0; i < batch.size(); ++i) added.fresh += is_new[i] = add_one(crawl::mixed(batch[i] ^ seed_));
    return added;
}

bool MercatorTable::add_one(std::uint64_t checksum) {
    auto& head = heads_[checksum >> (64 - index_bits)];
    auto* chain = chain_of(head);
    std::size_t const used = head.count * kept_bytes;
    for (std::size_t at = 0; at < used; at += kept_bytes)
        if (std::memcmp(chain + at, &checksum, kept_bytes) == 0) return false;
    auto const block = head.count > 0 ? heap_block(used) : 0, larger = heap_block(used + kept_bytes);
    if (larger > block) {
        chain = static_cast<unsigned char*>(std::realloc(chain, larger - 8));
        if (!chain) throw std::bad_alloc();
        chain_bytes_ += larger - block;
        head.chain = reinterpret_cast<std::uintptr_t>(chain) & ((std::uint64_t{1} << 48) - 1);
    }
    std::memcpy(chain + used, &checksum, kept_bytes);
    check(head.count < UINT16_MAX);   // only a table with about 10^12 evenly distributed entries reaches it
    head.count = head.count + 1;
    ++size_;
    return true;
}

}   // namespace garner::papers
