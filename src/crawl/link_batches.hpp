// Links for other processes, gathered until a batch is worth sending.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/bytes.hpp"
#include "util/clock.hpp"

namespace garner::crawl {

/// A batch for each destination. Sends nothing and has no clock: the caller tells the time and takes what is due. One
/// thread.
class LinkBatches {
public:
    struct Limits {
        std::uint32_t links = 4096;
        Bytes bytes = 256 * KiB;       // of URLs and their line ends; the link that goes beyond is the last one
    };

    struct Batch {
        std::uint32_t destination = 0;
        std::uint32_t links = 0;
        std::string urls;              // each with a '\n' behind it, in the order in which they came
        SteadyTime since{};            // when its first link came
    };

    LinkBatches(std::uint32_t destinations, Limits limits);

    /// `url` is canonical, so it has no line end. A batch comes back when this link has filled it.
    std::optional<Batch> add(std::uint32_t destination, std::string_view url, SteadyTime now);

    /// The oldest of the batches begun at or before this time; nothing when there is none.
    std::optional<Batch> take_begun_before(SteadyTime time);

    /// What is there for one destination, however little.
    std::optional<Batch> take(std::uint32_t destination);

    /// Links that wait, for all destinations.
    std::uint64_t waiting() const { return waiting_; }

private:
    Limits limits_;
    std::vector<Batch> batches_;       // by destination
    std::uint64_t waiting_ = 0;
};

}  // namespace garner::crawl
