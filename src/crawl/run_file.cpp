#include "crawl/run_file.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <filesystem>

#include "crawl/bucket_index.hpp"
#include "crawl/gap_code.hpp"
#include "crawl/set_directory.hpp"
#include "util/check.hpp"

namespace garner::crawl {

namespace {

constexpr std::size_t write_bytes = 1 * MiB;
constexpr std::size_t code_slack = gap_slack;   // bytes that gap_code reads and writes beyond the end

// The on-disk layout.
struct DirectoryEntry {
    std::uint64_t checksum;
    std::uint32_t bytes, count;
};
static_assert(sizeof(DirectoryEntry) == 16);

std::string_view bytes_of(std::vector<DirectoryEntry> const& directory) {
    return {reinterpret_cast<char const*>(directory.data()), directory.size() * sizeof(DirectoryEntry)};
}

std::uint64_t base_of(std::uint64_t bucket, unsigned bits) { return bucket << (64 - bits); }

}   // namespace

unsigned bucket_bits(std::uint64_t entries) {
    constexpr std::uint64_t wanted = 1024;   // in a bucket
    return std::clamp<unsigned>(static_cast<unsigned>(std::bit_width(entries / wanted)), 8, 16);
}

RunWriter::RunWriter(std::string path, std::uint64_t set, std::uint64_t generation, unsigned bits, io::Faults* faults)
    : path_(std::move(path)), set_(set), generation_(generation), bits_(bits) {
    std::error_code gone;
    std::filesystem::remove(path_, gone);
    auto opened = io::File::open(path_, io::File::Mode::create, faults);
    if (opened.error) fault_ = path_ + " cannot be created: " + io::text_of_error(opened.error);
    file_ = std::move(opened.file);
    buckets_.resize(std::size_t{1} << bits);
    waiting_.resize(write_bytes + code_slack);
    waiting_bytes_ = head_bytes;   // the head is written last
}

void RunWriter::add(std::span<Fingerprint const> urls) {
    for (std::size_t begin = 0, end = 0; begin < urls.size(); begin = end) {
        auto const bucket = urls[begin] >> (64 - bits_);
        auto const last = base_of(bucket, bits_) | (~std::uint64_t{0} >> bits_);
        auto const rest = urls.subspan(begin);
        end = begin + static_cast<std::size_t>(std::ranges::upper_bound(rest, last) - rest.begin());
        add_bucket(bucket, urls.subspan(begin, end - begin));
    }
}

void RunWriter::add_bucket(std::uint64_t number, std::span<Fingerprint const> urls) {
    auto const room = bytes_at_most(urls.size(), 64 - bits_);
    if (room > UINT32_MAX) {
        if (fault_.empty()) fault_ = path_ + " cannot hold so many fingerprints with the same first bits: they are not hashes";
        return;
    }
    if (waiting_bytes_ + room > write_bytes) flush();
    if (waiting_.size() < waiting_bytes_ + room + code_slack) waiting_.resize(waiting_bytes_ + room + code_slack);
    auto& bucket = buckets_[number];
    check(bucket.count == 0);
    auto* const to = waiting_.data() + waiting_bytes_;
    bucket.offset = written_ + waiting_bytes_;
    bucket.count = static_cast<std::uint32_t>(urls.size());
    bucket.bytes = static_cast<std::uint32_t>(write_gaps(urls, base_of(number, bits_), 64 - bits_, to));
    bucket.checksum = fingerprint({to, bucket.bytes}, place_seed(set_, generation_, number));
    waiting_bytes_ += bucket.bytes;
    entries_ += urls.size();
}

void RunWriter::flush() {
    if (!fault_.empty() || waiting_bytes_ == 0) {
        waiting_bytes_ = 0;
        return;
    }
    if (int const error = write_all(file_, written_, {waiting_.data(), waiting_bytes_}))
        fault_ = path_ + " cannot be written: " + io::text_of_error(error);
    else
        file_.start_writing(written_, waiting_bytes_);
    written_ += waiting_bytes_;
    waiting_bytes_ = 0;
}

std::string RunWriter::finish() {
    flush();
    if (!fault_.empty()) return fault_;
    std::vector<DirectoryEntry> directory;
    for (auto const& bucket : buckets_) directory.push_back({bucket.checksum, bucket.bytes, bucket.count});
    FileHead head{.bits = bits_, .set = set_, .number = generation_, .entries = entries_, .where = written_};
    head.directory_checksum = fingerprint(bytes_of(directory), place_seed(set_, generation_, written_));
    seal(head, run_magic);
    int error = write_all(file_, written_, bytes_of(directory));
    if (!error) error = write_all(file_, 0, bytes_of(head));
    if (!error) error = file_.sync();
    if (error) fault_ = path_ + " cannot be written: " + io::text_of_error(error);
    return fault_;
}

std::string RunReader::open(std::string const& path, std::uint64_t set, std::uint64_t generation, std::uint64_t entries,
                            io::Faults* faults) {
    path_ = path;
    set_ = set;
    generation_ = generation;
    auto opened = open_file(path, io::File::Mode::read, faults, run_magic, "run");
    if (!opened.fault.empty()) return opened.fault;
    file_ = std::move(opened.file);
    auto const& head = opened.head;
    if (head.set != set || head.number != generation || head.entries != entries || head.bits < 8 || head.bits > 16)
        return path + " does not belong to the manifest";
    bits_ = head.bits;
    entries_ = entries;
    std::vector<DirectoryEntry> directory(buckets());
    std::span<char> const raw(reinterpret_cast<char*>(directory.data()), directory.size() * sizeof(DirectoryEntry));
    if (file_.read_at(head.where, raw).error) return path + " ends within its directory";
    if (fingerprint(bytes_of(directory), place_seed(set, generation, head.where)) != head.directory_checksum)
        return path + " has a damaged directory";
    buckets_.clear();
    std::uint64_t offset = head_bytes;
    for (auto const& entry : directory) {
        buckets_.push_back({.offset = offset, .bytes = entry.bytes, .count = entry.count, .checksum = entry.checksum});
        offset += entry.bytes;
    }
    if (offset != head.where) return path + " has a directory of the wrong size";
    file_bytes_ = head.where + raw.size();
    block_bytes_ = 0;
    return {};
}

bool RunReader::read(std::uint64_t number, std::span<Fingerprint const>& urls) {
    auto const& bucket = buckets_[number];
    urls = {};
    if (bucket.count == 0) return true;
    if (!load(number)) return false;
    std::span const bytes(block_.data() + (bucket.offset - block_begin_), bucket.bytes);
    if (urls_.size() < bucket.count + BucketIndex::slack) urls_.resize(bucket.count + BucketIndex::slack);
    std::span const into(urls_.data(), bucket.count);
    if (fingerprint({bytes.data(), bytes.size()}, place_seed(set_, generation_, number)) != bucket.checksum ||
        !read_gaps(bytes, base_of(number, bits_), 64 - bits_, into)) {
        fault_ = path_ + " is damaged at byte " + std::to_string(bucket.offset) + ", bucket " + std::to_string(number);
        return false;
    }
    std::fill_n(urls_.begin() + bucket.count, BucketIndex::slack, UINT64_MAX);
    urls = into;
    return true;
}

bool RunReader::load(std::uint64_t number) {
    auto const& wanted = buckets_[number];
    if (wanted.offset >= block_begin_ && wanted.offset + wanted.bytes <= block_begin_ + block_bytes_) return true;
    auto end = wanted.offset + wanted.bytes;
    for (auto next = number + 1; next < buckets_.size(); ++next) {
        auto const next_end = buckets_[next].offset + buckets_[next].bytes;
        if (next_end - wanted.offset > ahead_) break;
        end = next_end;
    }
    block_begin_ = wanted.offset;
    block_bytes_ = end - block_begin_;
    if (block_.size() < block_bytes_ + code_slack) block_.resize(block_bytes_ + code_slack);
    auto const done = file_.read_at(block_begin_, {block_.data(), block_bytes_});
    if (!done.error && done.bytes == block_bytes_) return true;
    block_bytes_ = 0;
    fault_ =
        path_ + " cannot be read at byte " + std::to_string(block_begin_) + ": " + io::text_of_error(done.error ? done.error : EIO);
    return false;
}

}   // namespace garner::crawl
