// What was added to a set on disk since its last run, in the order in which it came; docs/formats/url_set.md.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/file.hpp"
#include "util/bytes.hpp"
#include "util/hash.hpp"

namespace garner::crawl {

class SetLog {
public:
    /// An empty one, in place of any that is there; on the disk before it returns. Empty, or what went wrong.
    std::string make(std::string const& path, std::uint64_t set, std::uint64_t number, io::Faults*);
    /// One that is there. What a write left unfinished at its end is cut off; any other damage is a fault.
    std::string open(std::string const& path, std::uint64_t set, std::uint64_t number, io::Faults*);

    /// One record, whole or not at all. After a fault the log is as it was; when even that is not so, broken().
    std::string append(std::span<Fingerprint const>);
    std::string sync();
    /// All records in turn, from the file. `take` is called with each.
    template <class Take>
    std::string read(Take take) {
        auto at = begin();
        std::vector<std::uint64_t> record;
        for (std::string fault; at < end_;) {
            if (fault = read_record(at, record); !fault.empty()) return fault;
            take(std::span<Fingerprint const>(record).subspan(2));
            at += record.size() * sizeof(std::uint64_t);
        }
        return {};
    }

    Bytes file_bytes() const { return end_; }
    bool broken() const { return broken_; }

private:
    static Bytes begin();
    std::string read_record(Bytes at, std::vector<std::uint64_t>& record) const;
    std::string find_end();
    std::string mend(Bytes at) const;

    std::string path_;
    io::File file_;
    std::uint64_t set_ = 0, number_ = 0;
    Bytes end_ = 0;
    bool broken_ = false, synced_ = true;
    std::vector<std::uint64_t> record_;
};

}  // namespace garner::crawl
