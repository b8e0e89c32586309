#include "papers/mercator_file.hpp"

#include <algorithm>
#include <system_error>
#include <vector>

#include "crawl/set_directory.hpp"
#include "util/check.hpp"

namespace garner::papers {

namespace {

constexpr std::size_t block_numbers = 128 * 1024;

/// A running checksum over numbers.
class Sum {
public:
    Sum() { XXH3_64bits_reset(&state_); }
    void add(std::span<Fingerprint const> numbers) { XXH3_64bits_update(&state_, numbers.data(), numbers.size_bytes()); }
    std::uint64_t value() const { return XXH3_64bits_digest(&state_); }

private:
    alignas(64) XXH3_state_t state_;
};

/// Reads the numbers of the old file sequentially.
class Reader {
public:
    Reader(io::File const& file, std::uint64_t count) : file_(file), left_(count) {}
    bool ended() const { return left_ == 0 && at_ == block_.size(); }
    /// Must not be at the end.
    Fingerprint peek() {
        if (at_ == block_.size()) refill();
        return block_[at_];
    }
    void next() { ++at_; }
    int error() const { return error_; }
    std::uint64_t sum() const { return sum_.value(); }

private:
    void refill() {
        block_.resize(std::min<std::uint64_t>(block_numbers, left_));
        std::span<char> const bytes(reinterpret_cast<char*>(block_.data()), block_.size() * sizeof(Fingerprint));
        if (int const error = file_.read_at(offset_, bytes).error) error_ = error;
        sum_.add(block_);
        offset_ += bytes.size();
        left_ -= block_.size();
        at_ = 0;
    }
    io::File const& file_;
    std::uint64_t left_;
    Bytes offset_ = crawl::head_bytes;
    std::vector<Fingerprint> block_;
    std::size_t at_ = 0;
    int error_ = 0;
    Sum sum_;
};

class Writer {
public:
    explicit Writer(io::File const& file) : file_(file) {}
    void put(Fingerprint number) {
        block_.push_back(number);
        ++count_;
        if (block_.size() == block_numbers) flush();
    }
    void flush() {
        std::string_view const bytes(reinterpret_cast<char const*>(block_.data()), block_.size() * sizeof(Fingerprint));
        if (!error_) error_ = crawl::write_all(file_, offset_, bytes);
        offset_ += bytes.size();
        sum_.add(block_);
        block_.clear();
    }
    int error() const { return error_; }
    std::uint64_t count() const { return count_; }
    std::uint64_t sum() const { return sum_.value(); }

private:
    io::File const& file_;
    Bytes offset_ = crawl::head_bytes;
    std::vector<Fingerprint> block_;
    std::uint64_t count_ = 0;
    int error_ = 0;
    Sum sum_;
};

struct Asked {
    Fingerprint url;
    std::size_t index;   // in the batch
};

void merge(Reader& old, std::span<Asked const> asked, Writer& into, std::span<std::uint8_t> is_new) {
    for (auto const& [url, index] : asked) {
        for (; !old.ended() && old.peek() < url; old.next()) into.put(old.peek());
        bool const known = !old.ended() && old.peek() == url;
        if (known) old.next();
        is_new[index] = !known;
        into.put(url);
    }
    for (; !old.ended(); old.next()) into.put(old.peek());
    into.flush();
}

}   // namespace

Result<std::unique_ptr<MercatorFile>> MercatorFile::open(Options const& options) {
    std::unique_ptr<MercatorFile> set(new MercatorFile(options));
    if (auto fault = set->open(); !fault.empty()) return Fault{std::move(fault)};
    return set;
}

std::string MercatorFile::open() {
    auto own = crawl::own_directory(options_.directory, {"mercator-file", options_.layers});
    if (!own.fault.empty()) return own.fault;
    lock_ = std::move(own.lock);
    if (!std::filesystem::exists(name_)) return {};
    auto opened = crawl::open_file(name_, io::File::Mode::read, options_.faults, crawl::sorted_magic, "sorted file of a set");
    auto const& head = opened.head;
    if (!opened.fault.empty()) return opened.fault;
    if (opened.file.size() != crawl::head_bytes + head.entries * sizeof(Fingerprint))
        return name_ + " does not have the length given in its head";
    file_ = std::move(opened.file);
    size_ = head.entries;
    checksum_ = head.directory_checksum;
    return {};
}

crawl::UrlSet::Added MercatorFile::add(std::span<Fingerprint const> batch, std::span<std::uint8_t> is_new) {
    check(batch.size() == is_new.size());
    if (batch.empty()) return {};
    std::vector<Asked> asked;
    for (std::size_t i = 0; i < batch.size(); ++i) asked.push_back({batch[i], i});
    std::ranges::stable_sort(asked, {}, &Asked::url);
    // Only the first of equal ones is looked up.
    asked.erase(std::ranges::unique(asked, {}, &Asked::url).begin(), asked.end());
    std::ranges::fill(is_new, std::uint8_t{0});

    auto const fresh = name_ + ".new";
    std::error_code fault;
    std::filesystem::remove(fresh, fault);
    auto opened = io::File::open(fresh, io::File::Mode::create, options_.faults);
    if (opened.error) return {0, fresh + " cannot be created: " + io::text_of_error(opened.error)};
    Reader old(file_, size_);
    Writer into(opened.file);
    merge(old, asked, into, is_new);
    if (old.error()) return {0, name_ + " cannot be read: " + io::text_of_error(old.error())};
    if (size_ > 0 && old.sum() != checksum_) return {0, name_ + " is damaged: the checksum does not match the head"};

    crawl::FileHead head{.entries = into.count()};
    head.directory_checksum = into.sum();
    crawl::seal(head, crawl::sorted_magic);
    int error = into.error();
    if (!error) error = crawl::write_all(opened.file, 0, crawl::bytes_of(head));
    if (!error) error = opened.file.sync();
    if (error) return {0, fresh + " cannot be written: " + io::text_of_error(error)};
    std::filesystem::rename(fresh, name_, fault);
    if (fault) return {0, fresh + " cannot be renamed: " + fault.message()};
    Added const added{into.count() - size_};
    file_ = std::move(opened.file);
    size_ = into.count();
    checksum_ = into.sum();
    synced_ = false;
    return added;
}

std::string MercatorFile::sync() {
    if (auto lost = size_ > 0 ? crawl::lost_file(file_, name_) : std::string(); !lost.empty()) return lost;
    if (synced_) return {};
    auto fault = crawl::sync_directory(options_.directory, options_.faults);
    synced_ = fault.empty();
    return fault;
}

}   // namespace garner::papers
