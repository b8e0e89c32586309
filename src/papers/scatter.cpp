#include "papers/scatter.hpp"

namespace garner::papers {

namespace {

template <class Hand>
crawl::MadeCache make_scatter(crawl::CacheOptions const& options) {
    auto const bits = static_cast<unsigned>(options.value(ScatterRow::settings, 1));
    return {std::make_unique<Scatter<Hand>>(
                typename Scatter<Hand>::Shape{.entries = options.entries, .bits = bits, .seed = options.seed}),
            {}};
}

}  // namespace

crawl::MadeCache ScatterRow::make(crawl::CacheOptions const& options) {
    if (auto fault = fault_unless_power_of_two(options.entries); !fault.empty()) return {nullptr, std::move(fault)};
    bool const clock = options.value(settings, 0) == 0;
    return clock ? make_scatter<ClockHand>(options) : make_scatter<RandomHand>(options);
}

}  // namespace garner::papers
