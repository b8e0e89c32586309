// A set of 32-bit numbers as bits, in pages where there are some.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace garner::seen_commands {

class IdSet {
public:
    IdSet() : pages_(1 << page_number_bits) {}

    /// False when it was in already.
    bool add(std::uint32_t id) {
        auto& page = pages_[id >> (32 - page_number_bits)];
        if (!page) page = std::make_unique<Page>();
        auto& word = (*page)[(id % (1 << (32 - page_number_bits))) / 64];
        auto const bit = std::uint64_t{1} << (id % 64);
        bool const is_new = (word & bit) == 0;
        word |= bit;
        return is_new;
    }

private:
    static constexpr int page_number_bits = 16;
    using Page = std::array<std::uint64_t, (1 << (32 - page_number_bits)) / 64>;
    std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace garner::seen_commands
