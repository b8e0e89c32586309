// What the filters of Bloom's family promise: false positives, by their sizes.
#pragma once

namespace garner::papers {

/// Of Bloom's filter of `bits` bits and `hashes` hashes that holds `entries` (Bloom 1970; Kubota, Ueda, Yamana, equation
/// 3.1): how many of those that are not in it seem to be.
double bloom_false_positives(double bits, double hashes, double entries);
/// The number of hashes with the fewest of them (equation 3.2).
double bloom_best_hashes(double bits, double entries);
/// Bits for so many entries at that share of false positives.
double bloom_bits(double entries, double hashes, double false_positives);

/// How many counters the Stable Bloom Filter decrements at each insertion, at random, so that its false positives come
/// to rest at that share (Deng, Rafiei 2006; equation 3.3). `most` is the counters' highest value.
double stable_decrements(double false_positives, double hashes, double most, double counters);
/// The same the other way round.
double stable_false_positives(double decrements, double hashes, double most, double counters);

/// Where those of the Stable Bloom Filter Light come to rest, which decrements in turn. Each counter is decremented once
/// in every round of counters / decrements insertions and is hit `hashes` / `decrements` times in it: it is 0 when that
/// did not happen for `most` - 1 rounds and the part of one since its last turn, which is anything from none to all.
double light_false_positives(double decrements, double hashes, double most);

}  // namespace garner::papers
