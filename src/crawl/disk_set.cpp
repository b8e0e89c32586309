#include "crawl/disk_set.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "crawl/batch_order.hpp"
#include "crawl/bucket_index.hpp"
#include "crawl/set_directory.hpp"
#include "util/check.hpp"
#include "util/random_bits.hpp"

namespace garner::crawl {

namespace fs = std::filesystem;

namespace {

// Smaller batches are looked up one by one; a scan of all buckets would cost more.
constexpr std::size_t one_by_one = 1 << 14;
constexpr Bytes block_bytes = 256 * KiB;

// Memory per recent entry while merging: its slot, a copy, a sorted copy and its answer.
constexpr Bytes merging_bytes = 32;

/// Iterates over the slices of a batch that belong to one bucket.
class InBucket {
public:
    InBucket(BatchOrder& order, unsigned bits) : order_(order), slices_(1u << (BatchOrder::slice_bits - bits)) {}

    void read(std::uint64_t bucket) {
        urls.clear(), positions.clear();
        for (unsigned i = 0; i < slices_; ++i) order_.read_slice(static_cast<unsigned>(bucket) * slices_ + i, urls, positions);
    }
    std::vector<Fingerprint> urls;          // ascending, without duplicates
    std::vector<std::uint32_t> positions;   // in the batch's order

private:
    BatchOrder& order_;
    unsigned const slices_;
};

void merge_and_mark(std::span<Fingerprint const> known, InBucket const& asked, BatchOrder& order,
                    std::vector<Fingerprint>& merged) {
    merged.resize(known.size() + asked.urls.size());
    auto* out = merged.data();
    std::size_t k = 0;
    for (std::size_t i = 0; i < asked.urls.size(); ++i) {
        auto const url = asked.urls[i];
        while (k < known.size() && known[k] < url) *out++ = known[k++];
        if (k < known.size() && known[k] == url) continue;
        *out++ = url;
        order.found_new(asked.positions[i]);
    }
    out = std::copy(known.begin() + static_cast<std::ptrdiff_t>(k), known.end(), out);
    merged.resize(static_cast<std::size_t>(out - merged.data()));
}

}   // namespace

Result<std::unique_ptr<DiskSet>> DiskSet::open(Options const& options) {
    std::unique_ptr<DiskSet> set(new DiskSet(options));
    if (auto fault = set->open(); !fault.empty()) return Fault{std::move(fault)};
    return set;
}

std::string DiskSet::open() {
    auto own = own_directory(options_.directory, {"runs", options_.layers});
    if (!own.fault.empty()) return own.fault;
    lock_ = std::move(own.lock);
    if (!fs::exists(path("manifest"))) {
        if (auto fault = begin_anew(); !fault.empty()) return fault;
    } else {
        if (auto fault = read_manifest(); !fault.empty()) return fault;
        // An earlier process may have ended between rename and directory sync.
        if (auto fault = sync_directory(options_.directory, options_.faults); !fault.empty()) return fault;
    }
    remove_strangers();
    return {};
}

std::string DiskSet::begin_anew() {
    // An interrupted first start leaves an empty log; anything more belongs to a set whose manifest is missing.
    for (auto const& entry : fs::directory_iterator(options_.directory)) {
        auto const name = entry.path().filename().string();
        if (name.starts_with("run.") || (name.starts_with("log.") && entry.file_size() > head_bytes))
            return path("manifest") + " is missing, but " + name + " exists";
    }
    set_ = random_bits();
    log_number_ = 1;
    if (auto fault = log_.make(log_path(1), set_, 1, options_.faults); !fault.empty()) return fault;
    return write_manifest(0, 0, 1);
}

std::string DiskSet::read_manifest() {
    auto const [file, head, fault] =
        open_file(path("manifest"), io::File::Mode::read, options_.faults, manifest_magic, "manifest of a URL set");
    if (!fault.empty()) return fault;
    set_ = head.set;
    generation_ = head.number;
    log_number_ = head.where;
    if (generation_ > 0)
        if (auto fault = run_.open(run_path(generation_), set_, generation_, head.entries, options_.faults); !fault.empty())
            return fault;
    if (auto fault = log_.open(log_path(log_number_), set_, log_number_, options_.faults); !fault.empty()) return fault;
    return read_latest();
}

std::string DiskSet::read_latest() {
    latest_ = LineSet({.seed = set_});   // the set's own seed: others cannot predict which fingerprints share a line
    std::vector<std::uint8_t> ignored;
    return log_.read([&](std::span<Fingerprint const> urls) {
        ignored.resize(urls.size());
        latest_.add(urls, ignored);
    });
}

std::string DiskSet::write_manifest(std::uint64_t generation, std::uint64_t entries, std::uint64_t log) {
    FileHead head{.set = set_, .number = generation, .entries = entries, .where = log};
    seal(head, manifest_magic);
    if (auto fault = replace_file(path("manifest"), bytes_of(head), options_.faults); !fault.empty()) return fault;
    // From here on the new state is valid, but not yet durable.
    broken_ = sync_directory(options_.directory, options_.faults);
    return {};
}

void DiskSet::remove_strangers() const {
    std::error_code ignored;
    for (auto const& entry : fs::directory_iterator(options_.directory, ignored)) {
        auto const name = entry.path().filename().string();
        bool const ours = name.starts_with("run.") || name.starts_with("log.") || name == "manifest.new";
        if (!ours || entry.path() == run_path(generation_) || entry.path() == log_path(log_number_)) continue;
        fs::remove(entry.path(), ignored);
    }
}

bool DiskSet::is_time_to_merge(std::uint64_t batch) const {
    auto const most = std::max(options_.latest_least, std::min(run_.entries() / 8, options_.memory / merging_bytes));
    if (latest_.size() + batch > most) return true;
    // If a batch alone adds half of that, merging at once is cheaper. Assumes the share of new entries of the last
    // batch.
    return batch >= one_by_one && fresh_share_ * static_cast<double>(batch) > static_cast<double>(most) / 2;
}

UrlSet::Added DiskSet::add(std::span<Fingerprint const> batch, std::span<std::uint8_t> is_new) {
    check(batch.size() == is_new.size());
    if (!broken_.empty()) return {0, broken_};
    if (batch.empty()) return {};
    auto added = is_time_to_merge(batch.size()) ? merge_with(batch, is_new) : look_up(batch, is_new);
    if (added.fault.empty()) fresh_share_ = static_cast<double>(added.fresh) / static_cast<double>(batch.size());
    return added;
}

UrlSet::Added DiskSet::look_up(std::span<Fingerprint const> batch, std::span<std::uint8_t> is_new) {
    if (auto fault = look_in_run(batch, is_new); !fault.empty()) return refuse(std::move(fault));
    // Fingerprints absent from the run may be among the recent ones.
    std::vector<Fingerprint> candidates;
    for (std::size_t i = 0; i < batch.size(); ++i)
        if (is_new[i]) candidates.push_back(batch[i]);
    std::vector<std::uint8_t> answers(candidates.size());
    auto const added = latest_.add(candidates, answers);
    std::size_t candidate = 0, fresh = 0;
    for (auto& answer : is_new)
        if (answer) answer = answers[candidate++];
    for (std::size_t i = 0; i < candidates.size(); ++i)
        if (answers[i]) candidates[fresh++] = candidates[i];
    candidates.resize(fresh);
    if (auto fault = log_.append(candidates); !fault.empty()) {
        if (log_.broken()) broken_ = fault;
        if (auto lost = read_latest(); !lost.empty()) broken_ = lost;
        return {0, fault};
    }
    return added;
}

std::string DiskSet::look_in_run(std::span<Fingerprint const> batch, std::span<std::uint8_t> is_new) {
    if (run_.entries() == 0) {
        std::ranges::fill(is_new, std::uint8_t{1});
        return {};
    }
    if (batch.size() < one_by_one) return look_one_by_one(batch, is_new);
    BatchOrder order({}, batch);
    BucketIndex index;
    run_.read_ahead(block_bytes);
    auto const in_part = run_.buckets() >> BatchOrder::part_bits;
    auto const slices = 1u << (BatchOrder::slice_bits - run_.bits());
    for (unsigned part = 0; part < 1u << BatchOrder::part_bits; ++part) {
        order.open_part(part);
        for (auto bucket = part * in_part; bucket < (part + 1) * in_part; ++bucket) {
            auto const asked = order.slices(static_cast<unsigned>(bucket) * slices, slices);
            if (asked.urls.empty()) continue;
            std::span<Fingerprint const> known;
            if (!run_.read(bucket, known)) return run_.fault();
            if (known.empty()) {
                std::ranges::fill(asked.is_new, std::uint8_t{1});
                continue;
            }
            index.take(known, run_.bits());
            index.mark_new(asked.urls, asked.is_new);
        }
        order.close_part();
    }
    order.answer(is_new);
    return {};
}

std::string DiskSet::look_one_by_one(std::span<Fingerprint const> batch, std::span<std::uint8_t> is_new) {
    struct Asked {
        Fingerprint url;
        std::uint32_t index;
    };
    std::vector<Asked> asked;
    for (std::uint32_t i = 0; i < batch.size(); ++i) asked.push_back({batch[i], i});
    std::ranges::sort(asked, {}, &Asked::url);
    run_.read_ahead(0);
    std::span<Fingerprint const> known;
    std::uint64_t bucket = UINT64_MAX;
    for (auto const& [url, index] : asked) {
        if (auto const wanted = url >> (64 - run_.bits()); wanted != bucket) {
            bucket = wanted;
            if (!run_.read(bucket, known)) return run_.fault();
        }
        is_new[index] = !std::ranges::binary_search(known, url);
    }
    return {};
}

UrlSet::Added DiskSet::merge_with(std::span<Fingerprint const> batch, std::span<std::uint8_t> is_new) {
    auto const before = size();
    auto const latest = latest_.entries();
    BatchOrder order(latest, batch);   // order: the recent ones before the batch
    auto const bits = std::max(run_.entries() ? run_.bits() : 0, bucket_bits(run_.entries() + order.different_about()));
    RunWriter writer(run_path(generation_ + 1), set_, generation_ + 1, bits, options_.faults);
    auto fault = write_run(order, writer);
    if (fault.empty()) fault = change_to(generation_ + 1, writer.entries());
    if (!fault.empty()) return refuse(std::move(fault));
    order.answer(is_new);
    return {size() - before};
}

std::string DiskSet::write_run(BatchOrder& order, RunWriter& writer) {
    InBucket asked(order, run_.bits());
    std::vector<Fingerprint> merged;
    run_.read_ahead(block_bytes);
    auto const in_part = run_.buckets() >> BatchOrder::part_bits;
    for (unsigned part = 0; part < 1u << BatchOrder::part_bits && writer.fault().empty(); ++part) {
        order.open_part(part);
        for (auto bucket = part * in_part; bucket < (part + 1) * in_part; ++bucket) {
            asked.read(bucket);
            std::span<Fingerprint const> known;
            if (generation_ > 0 && !run_.read(bucket, known)) return run_.fault();
            merge_and_mark(known, asked, order, merged);
            writer.add(merged);
        }
        order.close_part();
    }
    return writer.finish();
}

// Switches to the new run and an empty log. Until the manifest is renamed the old ones are valid.
std::string DiskSet::change_to(std::uint64_t generation, std::uint64_t entries) {
    RunReader run;
    if (auto fault = run.open(run_path(generation), set_, generation, entries, options_.faults); !fault.empty()) return fault;
    SetLog log;
    auto const number = log_number_ + 1;
    if (auto fault = log.make(log_path(number), set_, number, options_.faults); !fault.empty()) return fault;
    if (auto fault = write_manifest(generation, entries, number); !fault.empty()) return fault;
    generation_ = generation;
    log_number_ = number;
    run_ = std::move(run);
    log_ = std::move(log);
    latest_.clear();
    if (broken_.empty()) remove_strangers();   // otherwise a power failure may restore the old manifest
    return {};
}

UrlSet::Added DiskSet::refuse(std::string fault) {
    if (broken_.empty()) remove_strangers();
    return {0, std::move(fault)};
}

std::string DiskSet::sync() {
    if (!broken_.empty()) return broken_;
    auto fault = log_.sync();
    if (log_.broken()) broken_ = fault;
    return fault;
}

std::string DiskSet::merge() {
    if (!broken_.empty()) return broken_;
    return latest_.size() > 0 ? merge_with({}, {}).fault : "";
}

}   // namespace garner::crawl
