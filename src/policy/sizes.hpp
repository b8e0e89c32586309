// The sizes of objects by slot, for policies whose queues are bounded in bytes.
#pragma once
#include <algorithm>
#include <bit>
#include <variant>

#include "policy/policy.hpp"
#include "policy/slots.hpp"

namespace garner::policy {

/// 4 bytes a slot; sizes saturate at 4 GiB - 1. A lean one takes 2 bytes, and rounds down to 1/2048 of the size: sums
/// must use the rounded sizes.
class Sizes {
public:
    explicit Sizes(bool lean) {
        if (lean) sizes_.emplace<SlotArray<std::uint16_t>>();
    }

    void cover(Slot slot) {
        std::visit([=](auto& sizes) { sizes.cover(slot); }, sizes_);
    }
    /// The slot must be covered; this holds for the next three functions, too.
    void set(Slot slot, Bytes size) {
        auto const bytes = static_cast<std::uint32_t>(std::min<Bytes>(size, UINT32_MAX));
        if (auto* all = std::get_if<0>(&sizes_))
            (*all)[slot] = bytes;
        else
            std::get<1>(sizes_)[slot] = packed(bytes);
    }
    /// Sets the size of a slot that `sum` counts, and keeps `sum` right.
    void change(Slot slot, Bytes size, Bytes& sum) {
        sum -= (*this)[slot];
        set(slot, size);
        sum += (*this)[slot];
    }
    std::uint32_t operator[](Slot slot) const {
        auto const* all = std::get_if<0>(&sizes_);
        return all ? (*all)[slot] : unpacked(std::get<1>(sizes_)[slot]);
    }
    Bytes metadata_bytes() const {
        return std::visit([](auto& sizes) { return sizes.metadata_bytes(); }, sizes_);
    }

private:
    // A floating point number: an exponent (the number of dropped low bits, plus one), then the bits after the
    // leading one; below 2048 the number itself.
    static constexpr unsigned kept = 11;
    static std::uint16_t packed(std::uint32_t size) {
        auto const bits = static_cast<unsigned>(std::bit_width(size));
        if (bits <= kept) return static_cast<std::uint16_t>(size);
        auto const dropped = bits - kept - 1;
        return static_cast<std::uint16_t>((dropped + 1) << kept | (size >> dropped & ((1u << kept) - 1)));
    }
    static std::uint32_t unpacked(std::uint16_t packed) {
        auto const low = packed & ((1u << kept) - 1);
        unsigned const exponent = packed >> kept;
        return exponent == 0 ? low : (1u << kept | low) << (exponent - 1);
    }

    std::variant<SlotArray<std::uint32_t>, SlotArray<std::uint16_t>> sizes_;
};

}   // namespace garner::policy
