// Chooses the owner of a URL in a group.
#include <algorithm>
#include <cmath>

#include "icp/choice.hpp"
#include "util/hash.hpp"

namespace garner::icp {

// With u uniform between 0 and 1, -weight / ln(u) is the highest of a group with a probability of weight / sum of weights.
// A member that is removed hands on only its own URLs.
double rendezvous_score(std::string_view url, std::string_view member, std::uint32_t weight) {
    auto const hash = fingerprint(url, fingerprint(member, 0));
    double const u = (static_cast<double>(hash >> 11) + 0.5) * 0x1p-53;
    return -static_cast<double>(std::max(weight, 1u)) / std::log(u);
}

}   // namespace garner::icp
