// An exact set on other machines: in Redis Cluster, one for any number of crawlers at a time.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "redis/redis_cluster.hpp"
#include "crawl/url_set.hpp"

namespace garner::redis {

/// Who adds first is told "new", and nobody else, whoever asks and wherever: Redis answers that of each one (SADD).
///
/// What can be lost is an answer: the connection ends, and nobody knows whether the URL was put in. It is put in again;
/// that it is there already then says nothing. Such a URL counts as new, and as doubtful: one that is fetched twice costs a
/// request, one that is called seen and that nobody got would never be fetched. For the same reason what a batch had put in
/// before it failed is remembered until it is asked for again, and new then.
///
/// As durable as the cluster: a master that fails with writes that its replica had not heard of yet forgets them, and they
/// are new once more.
class RedisSet final : public crawl::UrlSet {
public:
    struct Options {
        RedisAddress address = {};
        std::uint64_t expected = 0;   // entries; 0: not known
    };
    /// Begins a set, or joins the one that the prefix names.
    static crawl::Opened<RedisSet> open(Options const&);
    ~RedisSet() override;

    Added add(std::span<Fingerprint const>, std::span<std::uint8_t> is_new) override;
    /// Empty when each node writes down what it answers before it answers (appendonly yes, appendfsync always), as it was
    /// when the set was opened.
    std::string why_it_forgets() const override { return why_it_forgets_; }
    /// As the nodes are now.
    std::string sync() override;

    /// How many were called new by all who share the set, by the others as of a second ago; a doubtful one may count twice,
    /// and what a crawler was told in the second before it died not at all.
    std::uint64_t size() const override { return size_ + uncounted_; }
    Bytes memory_bytes() const override;
    /// Of the whole set on its nodes, from a sample of it.
    Bytes file_bytes() const override { return remote_bytes_; }

private:
    /// One of a batch, each only once.
    struct Item {
        std::uint64_t key;     // mixed: its upper bits say in which bucket it lies, the others are kept there
        std::uint32_t index;   // in the batch, of the first
    };
    struct Told {
        std::uint64_t key;
        bool doubtful;
    };

    explicit RedisSet(Options const&);
    std::string agree_on_form(std::uint64_t expected);
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
    std::unordered_map<std::uint64_t, bool> owed_;   // put in by a batch that failed: key, and whether that is in doubt
    std::uint64_t size_ = 0, uncounted_ = 0;         // as the nodes say; beyond that
    Bytes remote_bytes_ = 0;
    std::string why_it_forgets_;
    SteadyTime looked_ = {};
};

}  // namespace garner::redis
