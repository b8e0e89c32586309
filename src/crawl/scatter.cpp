#include "crawl/scatter.hpp"

namespace garner::crawl {

namespace {

template <class Hand>
MadeCache make_with(CacheOptions const& options) {
    auto const bits = static_cast<unsigned>(options.value(ScatterRow::settings, 1));
    return {std::make_unique<Scatter<Hand>>(
                typename Scatter<Hand>::Shape{.entries = options.entries, .bits = bits, .seed = options.seed}),
            {}};
}

}  // namespace

MadeCache ScatterRow::make(CacheOptions const& options) {
    if (auto fault = fault_unless_power_of_two(options.entries); !fault.empty()) return {nullptr, std::move(fault)};
    bool const clock = options.value(settings, 0) == 0;
    return clock ? make_with<ClockHand>(options) : make_with<RandomHand>(options);
}

}  // namespace garner::crawl
