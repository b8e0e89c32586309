// The links of one request as fingerprints of canonical URLs. Links of other partitions are kept separately.
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
    std::vector<LinkStatus> answers;                 // one for each link; asked_here and unreachable(): not answered yet
    std::vector<Fingerprint> own;                    // one for each asked_here
    std::vector<std::vector<Fingerprint>> foreign;   // by partition; one for each unreachable(partition)
    std::uint64_t refused = 0;
    std::uint64_t kept_home = 0;   // links of other partitions that were answered there before
    bool too_many = false;         // more links than a batch may have

    Bytes held_bytes() const;
    /// Empties the batch. Frees its memory only if it is large.
    void clear(std::uint32_t partitions);
    /// Takes the set's answers, 0 or 1 each, in place of asked_here.
    void take_own(std::span<LinkStatus const> answered);
    /// Takes the answers of a partition in place of unreachable(partition).
    void take_foreign(std::uint32_t partition, std::span<LinkStatus const> answered);
};

/// How URLs become fingerprints and are divided among partitions.
struct Sorting {
    crawl::UrlLayers layers;
    crawl::HostSplitter splitter{1};
    std::uint32_t own = 0;                 // partition of this process
    AnsweredCache* answered = nullptr;     // URLs of other partitions; nullptr: there are none
    std::uint64_t links_max = 1'000'000;   // maximum of a batch
};

/// Puts links into a batch, one by one. Not thread-safe.
class LinkSorter {
public:
    /// `sorting` outlives it.
    explicit LinkSorter(Sorting const& sorting) : sorting_(sorting) {}

    /// `durable`: ignores earlier answers of other partitions, because those links may not be durable there.
    void begin(Batch& batch, bool durable = false) {
        batch_ = &batch;
        durable_ = durable;
    }
    /// A text that may be a URL, in any bytes.
    void take(std::string_view text);
    /// A link that is no URL.
    void refuse(LinkStatus why);
    /// A fingerprint. It has no host, so it belongs to this process.
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
