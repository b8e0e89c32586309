#include "papers/chaining.hpp"

#include <algorithm>

namespace garner::papers {

namespace {

template <class Hand>
crawl::MadeCache make_with(crawl::CacheOptions const& options) {
    auto const x = static_cast<unsigned>(options.value(ChainingRow::settings, 1));
    return {std::make_unique<Chaining<Hand>>(typename Chaining<Hand>::Shape{
                .entries = options.entries,
                .x = std::min(x, log2_of(options.entries)),
                .bits = static_cast<unsigned>(options.value(ChainingRow::settings, 2)),
                .seed = options.seed}),
            {}};
}

}  // namespace

crawl::MadeCache ChainingRow::make(crawl::CacheOptions const& options) {
    if (auto fault = fault_unless_power_of_two(options.entries); !fault.empty()) return {nullptr, std::move(fault)};
    bool const clock = options.value(settings, 0) == 0;
    return clock ? make_with<ClockHand>(options) : make_with<RandomHand>(options);
}

}  // namespace garner::papers
