// The seam for exact sets of URLs: which fingerprints were never there before.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "crawl/fingerprint.hpp"
#include "util/bytes.hpp"

namespace garner::crawl {

/// What all sets tell of themselves.
class SetFigures {
public:
    virtual ~SetFigures() = default;

    /// Empty when it outlives the process; else one line that says why not, and the mend: then sync() promises nothing.
    virtual std::string why_it_forgets() const { return "the set lies in memory and goes with the process; give it a directory"; }
    /// Returns when all that was added would survive a power failure too, by an earlier process as well. Empty, or one line
    /// that says why it would not.
    virtual std::string sync() { return {}; }

    virtual std::uint64_t size() const = 0;
    /// What it takes of memory between two calls, and of the disk or of other machines.
    virtual Bytes memory_bytes() const = 0;
    virtual Bytes file_bytes() const { return 0; }

    /// Of the place where the set lies: if it has files or lies elsewhere, there; else in memory. 0 when it is empty.
    double bits_per_entry() const {
        auto const bytes = file_bytes() > 0 ? file_bytes() : memory_bytes();
        return size() > 0 ? 8.0 * static_cast<double>(bytes) / static_cast<double>(size()) : 0;
    }
};

/// Every fingerprint that was ever added is in it, and no other. One thread at a time; those on disk wait for it. When
/// memory ends add() throws std::bad_alloc: then the set can only be let go, and one on disk be opened again.
template <class Print>
class SetOf : public SetFigures {
public:
    struct Added {
        std::uint64_t fresh = 0;   // how many were new
        std::string fault = {};    // one line when the batch could not be taken; empty: it was
        std::uint64_t doubtful = 0;   // of the fresh, on other machines: an answer was lost, and somebody may have them
    };

    /// Adds all of the batch, fewer than 2^31. is_new[i] becomes 1 where batch[i] was neither in the set nor earlier in
    /// the batch, else 0; as many as fingerprints. After a fault the answers mean nothing and the set is as it was before
    /// (to who asked; one on other machines remembers what it owes), or, when the disk has failed for good, takes nothing
    /// more and says so again. A process that dies after add() has returned loses none of it in the sets on disk.
    virtual Added add(std::span<Print const> batch, std::span<std::uint8_t> is_new) = 0;
};

/// A set, or one line that says why there is none and the mend: what is damaged, in use, not to be written.
template <class Set>
struct Opened {
    std::unique_ptr<Set> set;
    std::string fault = {};
};

using UrlSet = SetOf<Fingerprint>;
/// For so many URLs that two of 64 bits may meet: 2.7 % at 1e9, 93 % at 1e10.
using WideUrlSet = SetOf<Fingerprint128>;

}  // namespace garner::crawl
