// An exact set in Redis Cluster, which many crawlers may share.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "crawl/url_set.hpp"
#include "redis/redis_cluster.hpp"

namespace garner::redis {

/// Only the first crawler that adds a URL is told "new": Redis decides that (SADD).
///
/// An answer is lost if the connection breaks: the URL may or may not have been added. It is added again. If it is there then, this
/// proves nothing, so it counts as new and as doubtful: a URL fetched twice costs a request; one wrongly called seen would never be
/// fetched. For the same reason the URLs that a failed batch has added are remembered, and are new when they are asked for again.
///
/// The set is as durable as the cluster. A master that fails before its replica has received the last writes loses them, and these
/// URLs are new once more. A node that was restarted empty loses all of its URLs: Added::loss tells it. A set never becomes smaller
/// by itself, so the loss shows in the form, in the counter of URLs, or in buckets that were not empty before.
class RedisSet final : public crawl::UrlSet {
public:
    struct Options {
        RedisAddress address = {};
        std::uint64_t expected = 0;   // entries; 0: not known
    };
    /// Creates a set, or joins the one that the prefix names.
    static Result<std::unique_ptr<RedisSet>> open(Options const&);
    ~RedisSet() override;

    Added add(std::span<Fingerprint const>, std::span<std::uint8_t> is_new) override;
    /// Empty if each node wrote its changes to disk before it answered (appendonly yes, appendfsync always) when the set was
    /// opened.
    std::string why_it_forgets() const override { return why_it_forgets_; }
    /// Like why_it_forgets(), but asks the nodes now.
    std::string sync() override;

    /// The URLs called new by all crawlers that share the set, by other crawlers as of a second ago. A doubtful one may count
    /// twice; those of the last second before a crawler died are not counted.
    std::uint64_t size() const override { return size_ + uncounted_; }
    Bytes memory_bytes() const override;
    /// Estimated for the whole set on its nodes from a sample of buckets.
    Bytes file_bytes() const override { return remote_bytes_; }

private:
    /// A fingerprint of a batch, without repeats.
    struct Item {
        std::uint64_t key;     // mixed: its upper bits number the bucket, which keeps the other bits
        std::uint32_t index;   // place of its first occurrence in the batch
    };
    struct Told {
        std::uint64_t key;
        bool doubtful;
    };

    explicit RedisSet(Options const&);
    std::string agree_on_form(std::uint64_t expected);
    std::string read_form(std::string& form);
    std::string keep_form();
    void note_loss(std::string const& what);
    std::string bucket_name(std::uint64_t bucket) const;
    void write_add(Item const&, std::string& to) const;
    void take(Item const&, long long added, bool doubtful, std::span<std::uint8_t> is_new, std::vector<Told>& told) const;
    void remember(std::vector<Told> const&, std::vector<Item> const&, std::vector<RedisCluster::Question> const& left);
    void look_around();
    void count();
    void measure();

    std::string prefix_;
    RedisCluster cluster_;
    unsigned bucket_bits_ = 0;
    std::string form_;           // the value of the key that all crawlers share
    std::uint64_t opened_ = 0;   // the cluster's connections when the form was read last
    SteadyTime form_read_ = {};
    std::vector<bool> had_entries_;                  // sampled buckets
    std::string loss_;                               // not told yet
    std::unordered_map<std::uint64_t, bool> owed_;   // added by a batch that failed: key, and whether that is in doubt
    std::uint64_t size_ = 0, uncounted_ = 0;         // counted by the nodes; not yet counted
    Bytes remote_bytes_ = 0;
    std::string why_it_forgets_;
    SteadyTime looked_ = {};
};

}   // namespace garner::redis
