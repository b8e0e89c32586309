// The eviction order of records on disk, decided by a replacement policy.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "policy/policy.hpp"
#include "util/bytes.hpp"
#include "util/hash.hpp"

namespace garner::store::disk {

/// Thread-safe; every call is short. Uses only the first Index::hash_bits_max bits of a hash. It does not know the
/// index: insertions and removals there are reported here afterwards. Late or repeated reports are harmless: an
/// unknown record is not kept.
class Order {
public:
    virtual ~Order() = default;

    /// A record of 1 to Index::record_max bytes was inserted, or replaced the one with its hash. A rewritten
    /// record is not reported. Called in log order, also after a restart: policies that depend on age have no other order.
    virtual void stored(Fingerprint, Bytes bytes) = 0;
    virtual void used(Fingerprint) = 0;
    virtual void removed(Fingerprint, policy::Left) = 0;

    /// The segment with this record is reclaimed: may the record be rewritten? `uses` is the count of its index
    /// entry.
    virtual bool keeps(Fingerprint, unsigned uses) const = 0;
    /// The next victim; all but the first bits of its hash are 0. It stays until removed() is called for it. Call
    /// while the store exceeds its capacity. Nothing when the policy waits until segments are reclaimed, or has no
    /// records.
    virtual std::optional<Fingerprint> victim() = 0;

    /// False for the policy that uses the index only; it needs no reports.
    virtual bool has_memory() const { return true; }
    virtual void set_capacity(Bytes) = 0;
    virtual Bytes metadata_bytes() const = 0;
};

/// The policy without memory: the oldest segment is reclaimed first, and records used in it are rewritten.
inline constexpr std::string_view fifo_reinsertion = "fifo-reinsertion";

/// The error in a policy text, in one line with a suggested fix; empty when it is valid. Valid are fifo_reinsertion
/// and any spec that policy::read_spec() accepts.
std::string order_fault(std::string_view policy);

/// nullptr when order_fault() reports an error. `capacity`: the bytes of records that may stay.
std::unique_ptr<Order> make_order(std::string_view policy, Bytes capacity, std::uint64_t seed);

}   // namespace garner::store::disk
