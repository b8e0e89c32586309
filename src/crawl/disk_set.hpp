// An exact set on disk: one sorted run, and the most recent fingerprints in memory and in a log.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "crawl/line_set.hpp"
#include "crawl/run_file.hpp"
#include "crawl/set_log.hpp"
#include "crawl/url_set.hpp"

namespace garner::crawl {

class BatchOrder;

/// The run is within half a percent of the lower bound for an exact set; recent entries take 8 bytes each, at most an
/// eighth of it. The set may be larger than memory, which holds the recent entries, one block of the run, and about
/// 20 bytes per entry of a batch. Large batches are cheapest: each scans the run once in order. A batch is added
/// whole or not at all, even if the process is killed; once answered it is in the set, and after sync() it survives a
/// power failure.
class DiskSet final : public UrlSet {
public:
    struct Options {
        std::filesystem::path directory;
        Bytes memory = 1 * GiB;                   // for recent entries and for merging them
        std::optional<std::string> layers = {};   // as in SetForm
        std::uint64_t latest_least = 1 << 16;     // this many may wait to be merged, however small the run is
        io::Faults* faults = nullptr;             // outlives the set
    };
    /// Opens the set in the directory, or creates one. The directory is locked against other processes.
    static Result<std::unique_ptr<DiskSet>> open(Options const&);

    Added add(std::span<Fingerprint const>, std::span<std::uint8_t> is_new) override;
    std::string why_it_forgets() const override { return {}; }
    std::string sync() override;
    std::uint64_t size() const override { return run_.entries() + latest_.size(); }
    Bytes memory_bytes() const override { return latest_.memory_bytes() + run_.memory_bytes(); }
    Bytes file_bytes() const override { return run_.file_bytes() + log_.file_bytes() + manifest_bytes; }

    /// Merges everything into one run: the fewest bytes. Empty, or the error.
    std::string merge();

private:
    static constexpr Bytes manifest_bytes = 64;

    explicit DiskSet(Options const& options) : options_(options) {}
    std::string path(std::string const& name) const { return (options_.directory / name).string(); }
    std::string run_path(std::uint64_t generation) const { return path("run." + std::to_string(generation)); }
    std::string log_path(std::uint64_t number) const { return path("log." + std::to_string(number)); }

    std::string open();
    std::string begin_anew();
    std::string read_manifest();
    std::string write_manifest(std::uint64_t generation, std::uint64_t entries, std::uint64_t log);
    std::string read_latest();
    void remove_strangers() const;

    bool is_time_to_merge(std::uint64_t batch) const;
    Added look_up(std::span<Fingerprint const>, std::span<std::uint8_t> is_new);
    std::string look_in_run(std::span<Fingerprint const>, std::span<std::uint8_t> is_new);
    std::string look_one_by_one(std::span<Fingerprint const>, std::span<std::uint8_t> is_new);
    Added merge_with(std::span<Fingerprint const>, std::span<std::uint8_t> is_new);
    std::string write_run(BatchOrder&, RunWriter&);
    std::string change_to(std::uint64_t generation, std::uint64_t entries);
    Added refuse(std::string fault);

    Options const options_;
    io::File lock_;
    std::uint64_t set_ = 0, generation_ = 0, log_number_ = 0;
    RunReader run_;   // has no file while generation_ is 0
    SetLog log_;
    LineSet latest_{{}};       // the contents of the log
    double fresh_share_ = 1;   // share of new entries in the last batch
    std::string broken_;       // permanent error
};

}   // namespace garner::crawl
