#include "papers/compact_tables.hpp"

#include <algorithm>
#include <bit>

#include "papers/chaining.hpp"
#include "papers/hand.hpp"
#include "papers/scatter.hpp"

namespace garner::papers {

namespace {

template <template <class> class Table>
crawl::MadeCache make(crawl::CacheOptions const& options, std::span<policy::Setting const> settings, unsigned x) {
    if (!std::has_single_bit(options.entries)) {
        auto const below = std::bit_floor(options.entries);
        return Fault{std::to_string(options.entries) + " entries: the number must be a power of two",
                     "take " + std::to_string(below) + " or " + std::to_string(2 * below)};
    }
    CompactShape const shape{.entries = options.entries,
                             .x = std::min(x, CompactShape::log2_of(options.entries)),
                             .bits = static_cast<unsigned>(options.value(settings, settings.size() - 1)),
                             .seed = options.seed};
    bool const clock = options.value(settings, 0) == 0;
    if (clock) return std::make_unique<Table<ClockHand>>(shape);
    return std::make_unique<Table<RandomHand>>(shape);
}

}   // namespace

crawl::MadeCache CompactTables::make_chaining(crawl::CacheOptions const& options) {
    return make<Chaining>(options, chaining_settings, static_cast<unsigned>(options.value(chaining_settings, 1)));
}

crawl::MadeCache CompactTables::make_scatter(crawl::CacheOptions const& options) {
    return make<Scatter>(options, scatter_settings, 0);
}

}   // namespace garner::papers
