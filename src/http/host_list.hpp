// A long list of hosts and domains as fingerprints.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "http/host_pattern.hpp"
#include "util/ip.hpp"

namespace garner::http {

/// Hosts as HostPattern reads and matches them, about 11 bytes each. Keeps keyed 64-bit fingerprints in lines of the processor's
/// cache. A host that is not among n listed names is taken for a listed one with a probability of n / 2^61. The key is random
/// for each list, so that no client can search for such a host. A look-up reads one or two lines for each suffix of the host,
/// which are prefetched. Immutable after construction, so many threads may read it.
class HostList {
public:
    /// Reserves space for this many names.
    explicit HostList(std::size_t expected);

    /// `name` is in HostPattern::plain_form(). The list grows when it gets more names than expected.
    void add(std::string_view name);

    /// `host` in any case, with or without a final dot.
    bool contains(std::string_view host) const;

    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    std::size_t memory_bytes() const { return lines_.size() * sizeof(Line); }

private:
    struct alignas(64) Line {
        std::array<std::uint64_t, 8> prints{};   // the used ones first; 0: free
    };

    void insert(std::uint64_t print);
    void grow();
    std::uint64_t print_of(std::string_view text) const;
    std::uint64_t print_of(IpAddress const& address) const;
    std::size_t line_of(std::uint64_t print) const;
    bool has(std::uint64_t print) const;
    bool has_suffix(std::string_view lower) const;

    std::vector<Line> lines_;
    std::uint64_t seed_;
    std::size_t size_ = 0;
    unsigned labels_max_ = 0;   // the most labels of a listed name
    bool has_addresses_ = false;
};

}   // namespace garner::http
