// Who stays on disk: what a replacement policy says of the records there.
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

/// Thread-safe; every call is short. Of a hash it looks only at the first Index::hash_bits_max bits. It knows nothing of
/// the index: what comes and goes there is told here, afterwards. Being told late or twice harms nothing: what the order
/// does not know is not kept.
class Order {
public:
    virtual ~Order() = default;

    /// A record, of 1 to Index::record_max bytes, takes the place of the one with its hash, if any. Not for one that was
    /// only written again. In the order of the log, after a restart, too: policies that go by age know no other.
    virtual void stored(Fingerprint, Bytes bytes) = 0;
    virtual void used(Fingerprint) = 0;
    virtual void removed(Fingerprint, policy::Left) = 0;

    /// The segment with this record is needed: may it be written again? `uses` are those of its index entry.
    virtual bool keeps(Fingerprint, unsigned uses) const = 0;
    /// The next to leave, with all but its first bits 0; it stays until removed() is called for it. To be asked while there is
    /// more than the capacity. Nothing when the policy waits for segments to be needed, or holds nothing.
    virtual std::optional<Fingerprint> victim() = 0;

    /// False for the one that goes by the index alone: it need not be told anything.
    virtual bool has_memory() const { return true; }
    virtual void set_capacity(Bytes) = 0;
    virtual Bytes metadata_bytes() const = 0;
};

/// The policy that needs no memory: the segment that was written first is needed first, and what was used in it stays.
inline constexpr std::string_view fifo_reinsertion = "fifo-reinsertion";

/// What is wrong with the text of a policy, in one line with the mend; empty when nothing is. Right are fifo_reinsertion
/// and what policy::read_spec() takes.
std::string order_fault(std::string_view policy);

/// nullptr when order_fault() finds one. `capacity`: the bytes of records that may stay.
std::unique_ptr<Order> make_order(std::string_view policy, Bytes capacity, std::uint64_t seed);

}  // namespace garner::store::disk
