// The interface of exact sets of URLs: reports which fingerprints are new.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "crawl/fingerprint.hpp"
#include "util/bytes.hpp"
#include "util/result.hpp"

namespace garner::crawl {

/// Properties of every set.
class SetFigures {
public:
    virtual ~SetFigures() = default;

    /// Empty when the set outlives the process; otherwise one line with the reason and a suggested fix. Then sync()
    /// has no effect.
    virtual std::string why_it_forgets() const { return "the set is kept in memory and lost at exit; give it a directory"; }
    /// Makes all additions, including those of earlier processes, survive a power failure. Empty, or one line with
    /// the error.
    virtual std::string sync() { return {}; }

    virtual std::uint64_t size() const = 0;
    /// Memory use between two calls; file_bytes() is the use on disk or on other machines.
    virtual Bytes memory_bytes() const = 0;
    virtual Bytes file_bytes() const { return 0; }

    /// Bits on disk or on other machines, if any; otherwise in memory. 0 when it is empty.
    double bits_per_entry() const {
        auto const bytes = file_bytes() > 0 ? file_bytes() : memory_bytes();
        return size() > 0 ? 8.0 * static_cast<double>(bytes) / static_cast<double>(size()) : 0;
    }
};

/// Contains exactly the fingerprints ever added. One thread at a time; sets on disk block it. If memory runs out,
/// add() throws std::bad_alloc: then the set must be destroyed; one on disk can be opened again.
template <class Print>
class SetOf : public SetFigures {
public:
    struct Added {
        std::uint64_t fresh = 0;      // number of new fingerprints
        std::string fault = {};       // one line when the batch was not added; otherwise empty
        std::uint64_t doubtful = 0;   // new ones on other machines whose first answer was lost: another client may have
                                      // been told the same
        std::string loss = {};        // one line when the set was found to have lost fingerprints, which are new again
    };

    /// Adds all of the batch, fewer than 2^31. Sets is_new[i] to 1 if batch[i] was neither in the set nor earlier in
    /// the batch, otherwise 0; is_new has the size of the batch. After an error the answers are meaningless and the
    /// set is unchanged for the caller. (A set on other machines remembers additions in progress.) If the disk has
    /// failed permanently, nothing more is added and the error is repeated. Sets on disk lose nothing that add() has
    /// accepted if the process dies.
    virtual Added add(std::span<Print const> batch, std::span<std::uint8_t> is_new) = 0;
};

using UrlSet = SetOf<Fingerprint>;
/// For so many URLs that 64-bit collisions are likely: 2.7 % at 1e9, 93 % at 1e10.
using WideUrlSet = SetOf<Fingerprint128>;

}   // namespace garner::crawl
