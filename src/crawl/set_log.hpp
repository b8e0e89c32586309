// The log of entries added to a set on disk since its last run, in order; docs/reference/url-set-format.md.
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
    /// Creates an empty log, replacing an existing one; durable on return. Empty, or the error.
    std::string make(std::string const& path, std::uint64_t set, std::uint64_t number, io::Faults*);
    /// Opens an existing log. An unfinished write at its end is truncated; other damage is an error.
    std::string open(std::string const& path, std::uint64_t set, std::uint64_t number, io::Faults*);

    /// Appends one record, whole or not at all. After an error the log is unchanged; if that fails, broken() is set.
    std::string append(std::span<Fingerprint const>);
    std::string sync();
    /// Reads all records from the file, and calls `take` with each.
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

}   // namespace garner::crawl
