#include "util/nearest.hpp"

#include <algorithm>
#include <vector>

#include "util/text.hpp"

namespace garner {
namespace {

constexpr std::size_t word_max = 64;   // no key, option or command is that long

// The number of letters that are missing, added, replaced or swapped with their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        next[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            bool const same = to_lower(a[i - 1]) == to_lower(b[j - 1]);
            next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (same ? 0 : 1)});
            bool const swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) next[j] = std::min(next[j], before[j - 2] + 1);
        }
        before.swap(row);
        row.swap(next);
    }
    return row[b.size()];
}

}   // namespace

std::string_view nearest(std::string_view word, std::span<std::string_view const> candidates) {
    if (word.size() > word_max) return {};
    std::string_view best;
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (auto candidate : candidates) {
        auto const apart = distance(word, candidate);
        if (apart >= best_distance || apart >= candidate.size()) continue;
        best = candidate;
        best_distance = apart;
    }
    return best;
}

}   // namespace garner
