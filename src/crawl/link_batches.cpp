#include "crawl/link_batches.hpp"

#include <utility>

#include "util/check.hpp"

namespace garner::crawl {

LinkBatches::LinkBatches(std::uint32_t destinations, Limits limits) : limits_(limits), batches_(destinations) {
    check(limits.links > 0);
    for (std::uint32_t i = 0; i < destinations; ++i) batches_[i].destination = i;
}

std::optional<LinkBatches::Batch> LinkBatches::add(std::uint32_t destination, std::string_view url, SteadyTime now) {
    check(destination < batches_.size());
    auto& batch = batches_[destination];
    if (batch.links == 0) batch.since = now;
    ++batch.links;
    batch.urls.append(url).push_back('\n');
    ++waiting_;
    if (batch.links < limits_.links && batch.urls.size() < limits_.bytes) return std::nullopt;
    return take(destination);
}

std::optional<LinkBatches::Batch> LinkBatches::take_begun_before(SteadyTime time) {
    Batch const* oldest = nullptr;
    for (auto const& batch : batches_)
        if (batch.links > 0 && batch.since <= time && (!oldest || batch.since < oldest->since)) oldest = &batch;
    return oldest ? take(oldest->destination) : std::nullopt;
}

std::optional<LinkBatches::Batch> LinkBatches::take(std::uint32_t destination) {
    check(destination < batches_.size());
    if (batches_[destination].links == 0) return std::nullopt;
    Batch next{.destination = destination, .links = 0, .urls = {}, .since = {}};
    auto batch = std::exchange(batches_[destination], std::move(next));
    waiting_ -= batch.links;
    return batch;
}

}  // namespace garner::crawl
