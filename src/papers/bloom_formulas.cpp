#include "papers/bloom_formulas.hpp"

#include <cmath>

namespace garner::papers {

double bloom_false_positives(double bits, double hashes, double entries) {
    // (1 - 1/m)^(kn) by its logarithm: 1/m may be too little to be taken from 1.
    return std::pow(-std::expm1(hashes * entries * std::log1p(-1 / bits)), hashes);
}

double bloom_best_hashes(double bits, double entries) { return bits / entries * std::log(2.0); }

double bloom_bits(double entries, double hashes, double false_positives) {
    return -hashes * entries / std::log1p(-std::pow(false_positives, 1 / hashes));
}

double stable_decrements(double false_positives, double hashes, double most, double counters) {
    auto const zero = 1 - std::pow(false_positives, 1 / hashes);   // share of counters that are
    return 1 / ((std::pow(zero, -1 / most) - 1) * (1 / hashes - 1 / counters));
}

double stable_false_positives(double decrements, double hashes, double most, double counters) {
    auto const zero = std::pow(1 / (1 + 1 / (decrements * (1 / hashes - 1 / counters))), most);
    return std::pow(1 - zero, hashes);
}

double light_false_positives(double decrements, double hashes, double most) {
    auto const hits = hashes / decrements;   // of one counter in one round
    auto const zero = (std::exp(-(most - 1) * hits) - std::exp(-most * hits)) / hits;
    return std::pow(1 - zero, hashes);
}

}  // namespace garner::papers
