// The compact tables by their names: "chaining:policy=clock:x=2:bits=64", "scatter:policy=clock:bits=64".
#pragma once
#include <array>

#include "crawl/seen_cache.hpp"

namespace garner::papers {

struct CompactTables {
    static constexpr std::array<std::string_view, 2> policies{"clock", "random"};
    static constexpr policy::Setting policy{"policy", "clock or random", 0, 0, 0, policies};
    static constexpr policy::Setting bits{"bits", "bits kept of each fingerprint; fewer than 64 cause errors", 64, 32, 64};
    static constexpr std::array chaining_settings{policy, policy::Setting{"x", "2^x entries per head", 2, 0, 8}, bits};
    static constexpr std::array scatter_settings{policy, bits};

    static crawl::MadeCache make_chaining(crawl::CacheOptions const&);
    static crawl::MadeCache make_scatter(crawl::CacheOptions const&);
};

}   // namespace garner::papers
