// Caches whose sets are cache lines, with slots in order of recency: no links, no marks, one line touched.
#pragma once
#include <cstdint>
#include <memory>

#include "crawl/insertion.hpp"
#include "crawl/seen_cache.hpp"

namespace garner::crawl {

/// "line": 8 full fingerprints a line. Exact, 64 bits an entry.
MadeCache make_line(CacheOptions const&);

/// "line32": 16 tags a line. 32 bits an entry. A tag is 32 bits that do not select the line. A new URL matches one of
/// the 16 tags with a probability of 2^-28, 3.7e-9, for any number of lines.
MadeCache make_line32(CacheOptions const&);

/// "quotient": 10 keys of 51 bits a line, 51.2 bits an entry, exact. A fingerprint is divided by the number of lines.
/// The remainder selects the line, so only the quotient is stored: it has 51 bits from 8,193 lines on.
MadeCache make_quotient(CacheOptions const&);

/// Settings that these caches share.
struct LineSettings {
    static constexpr std::array<std::string_view, 4> isas{"best", "plain", "avx2", "avx512"};
    static constexpr std::array settings{
        policy::Setting{"insert", "position of new entries: front, middle, low, or duel for the one with the fewest misses",
                        Insertion::duel, 0, 0, Insertion::names},
        policy::Setting{"isa", "best, or one of plain, avx2, avx512: the same answers", 0, 0, 0, isas},
    };
};

}   // namespace garner::crawl
