// The links of one request: canonical, as fingerprints, those of other partitions apart.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "crawl/canonical_url.hpp"
#include "crawl/host_splitter.hpp"
#include "crawl/url_layers.hpp"
#include "seen/answered_cache.hpp"
#include "seen/link_status.hpp"
#include "util/bytes.hpp"
#include "util/hash.hpp"

namespace garner::seen {

/// The links of a request, and their answers as they become known, in the order in which the links came.
struct Batch {
    std::vector<LinkStatus> answers;                 // one a link; asked_here and unreachable() are still open
    std::vector<Fingerprint> own;                    // one for each asked_here
    std::vector<std::vector<Fingerprint>> foreign;   // by partition; one for each unreachable(partition)
    std::uint64_t refused = 0;
    std::uint64_t kept_home = 0;   // links of other partitions that were answered there before
    bool too_many = false;         // more links than a batch may have

    Bytes held_bytes() const;
    /// Empties the batch, and keeps its memory if that is little.
    void clear(std::uint32_t partitions);
    /// Takes the set's answers, 0 or 1 each, in place of asked_here.
    void take_own(std::span<LinkStatus const> answered);
    /// Takes the answers of a partition in place of unreachable(partition).
    void take_foreign(std::uint32_t partition, std::span<LinkStatus const> answered);
};

/// How URLs become fingerprints, and whose they are.
struct Sorting {
    crawl::UrlLayers layers;
    crawl::HostSplitter splitter{1};
    std::uint32_t own = 0;                 // our partition
    AnsweredCache* answered = nullptr;     // URLs of other partitions; nullptr: there are none
    std::uint64_t links_max = 1'000'000;   // in a batch
};

/// Puts links into a batch, one by one. One thread.
class LinkSorter {
public:
    /// `sorting` outlives it.
    explicit LinkSorter(Sorting const& sorting) : sorting_(sorting) {}

    /// `durable`: earlier answers of other partitions do not count, since those links may not be durable there.
    void begin(Batch& batch, bool durable = false) {
        batch_ = &batch;
        durable_ = durable;
    }
    /// A text that may be a URL, in any bytes.
    void take(std::string_view text);
    /// A link that is no URL.
    void refuse(LinkStatus why);
    /// A fingerprint, which has no host: ours.
    void take_fingerprint(Fingerprint url);

    bool full() const { return batch_->too_many; }

private:
    bool has_room();

    Sorting const& sorting_;
    Batch* batch_ = nullptr;
    bool durable_ = false;
    crawl::CanonicalUrl url_;
};

}   // namespace garner::seen
