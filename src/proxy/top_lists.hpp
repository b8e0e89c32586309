// One worker's lists of the hosts, clients and missed URLs with the most requests.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/ip.hpp"
#include "util/mutex.hpp"
#include "util/random_bits.hpp"
#include "util/space_saving.hpp"

namespace garner::proxy {

/// Notes about a host, client or URL.
struct TopDetails {
    Bytes bytes = 0;   // sent to clients
    std::uint64_t hits = 0;
    ShortText<40> reason;   // reason of the last miss
};

using TopHosts = SpaceSaving<256, 80, TopDetails>;
using TopClients = SpaceSaving<256, 48, TopDetails>;
using TopMisses = SpaceSaving<256, 160, TopDetails>;

/// A request, or a part of one.
struct TopUse {
    std::string_view host;
    IpAddress client;
    std::string_view client_text;
    std::string_view missed_url = {};   // empty: the request is no miss
    std::string_view reason = {};       // reason of the miss
    bool is_hit = false;
    std::uint32_t requests = 1;   // 0: a further part of a request that was counted
    Bytes bytes = 0;
};

/// Decides which hits are counted: all of them, and at a rate above about 1,000 a second one in eight, at random. Pure.
class HitSampler {
public:
    static constexpr std::uint32_t weight_max = 8;
    static constexpr std::uint32_t block = 256;   // the rate is looked at once in so many counted hits
    static constexpr milliseconds block_time{256};

    /// How many hits this one stands for; 0: it is not counted.
    std::uint32_t weight(SteadyTime now) {
        if (--until_next_ > 0) return 0;
        return draw(now);
    }

private:
    std::uint32_t draw(SteadyTime now);

    std::uint32_t until_next_ = 1;
    std::uint32_t weight_ = 1;
    std::uint32_t counted_ = 0;   // in this block
    std::uint32_t random_ = 1;
    SteadyTime began_{};
};

/// The worker adds, and any thread may copy. The lists cover the last five to ten minutes.
class TopLists {
public:
    static constexpr seconds period{300};

    struct Lists {
        TopHosts hosts;
        TopClients clients;
        TopMisses misses;
    };
    /// The lists of a period, and those of the period before.
    using Copy = std::array<Lists, 2>;

    /// Called on the worker's thread only, like hits().
    void add(TopUse const& use, SteadyTime now) EXCLUDES(mutex_);
    HitSampler& hits() { return hits_; }

    std::unique_ptr<Copy> copy(SteadyTime now) const EXCLUDES(mutex_);

private:
    void begin_period(SteadyTime now) REQUIRES(mutex_);

    std::uint64_t const seed_ = random_bits();
    HitSampler hits_;
    mutable Mutex mutex_;
    Copy lists_ GUARDED_BY(mutex_);
    std::size_t current_ GUARDED_BY(mutex_) = 0;
    SteadyTime began_ GUARDED_BY(mutex_){};
};

}   // namespace garner::proxy
