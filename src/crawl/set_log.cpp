#include "crawl/set_log.hpp"

#include <algorithm>
#include <filesystem>

#include "crawl/set_directory.hpp"

namespace garner::crawl {

namespace {

// A record: its checksum; the number of fingerprints, with a checksum of that number in the upper half; the
// fingerprints. Without the second checksum, a damaged number would make a complete record look unfinished.
constexpr std::size_t record_head = 2;
constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);

std::uint64_t length_word(std::uint64_t count, std::uint64_t place) {
    auto const check = fingerprint({reinterpret_cast<char const*>(&count), sizeof count}, place);
    return check << 32 | count;
}
std::uint64_t count_in(std::uint64_t word) { return word & 0xffffffff; }

std::uint64_t checksum_of(std::span<std::uint64_t const> record, std::uint64_t seed) {
    auto const rest = record.subspan(1);
    return fingerprint({reinterpret_cast<char const*>(rest.data()), rest.size_bytes()}, seed);
}

template <class Item>
std::span<char> chars_of(Item* items, std::size_t count) {
    return {reinterpret_cast<char*>(items), count * sizeof(Item)};
}

}   // namespace

Bytes SetLog::begin() { return head_bytes; }

std::string SetLog::make(std::string const& path, std::uint64_t set, std::uint64_t number, io::Faults* faults) {
    std::error_code gone;
    std::filesystem::remove(path, gone);
    path_ = path, set_ = set, number_ = number;
    auto opened = io::File::open(path, io::File::Mode::create, faults);
    int error = opened.error;
    file_ = std::move(opened.file);
    FileHead head{.set = set, .number = number};
    seal(head, log_magic);
    if (!error) error = write_all(file_, 0, bytes_of(head));
    if (!error) error = file_.sync();
    synced_ = error == 0;
    end_ = head_bytes;
    return error ? path_ + " cannot be created: " + io::text_of_error(error) : "";
}

std::string SetLog::open(std::string const& path, std::uint64_t set, std::uint64_t number, io::Faults* faults) {
    path_ = path, set_ = set, number_ = number;
    auto opened = open_file(path, io::File::Mode::write, faults, log_magic, "log");
    if (!opened.fault.empty()) return opened.fault;
    file_ = std::move(opened.file);
    synced_ = false;   // its writer may have died before syncing
    auto const& head = opened.head;
    if (head.set != set || head.number != number) return path + " does not belong to the manifest";
    return find_end();
}

// An interrupted write leaves a file that ends within its record, or zeros in place of the record.
std::string SetLog::find_end() {
    auto const size = file_.size();
    std::vector<std::uint64_t> record;
    for (end_ = begin(); end_ < size; end_ += record.size() * word_bytes) {
        std::uint64_t head[record_head] = {};
        bool const torn_head = size - end_ < sizeof head;
        if (!torn_head && file_.read_at(end_, chars_of(head, record_head)).error) return path_ + " cannot be read";
        bool const zeros = !torn_head && head[0] == 0 && head[1] == 0;
        bool const sound = head[1] == length_word(count_in(head[1]), place_seed(set_, number_, end_));
        bool const torn = torn_head || (sound && count_in(head[1]) > (size - end_) / word_bytes - record_head);
        if (!torn && !zeros) {
            if (auto fault = read_record(end_, record); !fault.empty()) return fault;
            continue;
        }
        if (zeros) {
            std::vector<char> rest(size - end_);
            if (file_.read_at(end_, rest).error) return path_ + " cannot be read";
            if (std::ranges::any_of(rest, [](char c) { return c != 0; }))
                return path_ + " is damaged at byte " + std::to_string(end_) + mend(end_);
        }
        std::error_code error;
        std::filesystem::resize_file(path_, end_, error);
        return error ? path_ + " cannot be truncated at its incomplete end: " + error.message() : "";
    }
    return {};
}

/// A power failure or a faulty disk may lose unsynced pages, so the operator decides.
std::string SetLog::mend(Bytes at) const {
    return "; after a power failure run: truncate -s " + std::to_string(at) + " " + path_ +
           " (the URLs after this byte are lost and count as new)";
}

std::string SetLog::read_record(Bytes at, std::vector<std::uint64_t>& record) const {
    record.resize(record_head);
    if (file_.read_at(at, chars_of(record.data(), record_head)).error) return path_ + " cannot be read";
    auto const damage = path_ + " is damaged at byte " + std::to_string(at) + mend(at);
    auto const count = count_in(record[1]);
    if (record[1] != length_word(count, place_seed(set_, number_, at))) return damage;
    record.resize(record_head + count);
    auto const done = file_.read_at(at, chars_of(record.data(), record.size()));
    if (done.error) return path_ + " cannot be read: " + io::text_of_error(done.error);
    return checksum_of(record, place_seed(set_, number_, at)) == record[0] ? "" : damage;
}

std::string SetLog::append(std::span<Fingerprint const> urls) {
    if (urls.empty()) return {};
    auto const place = place_seed(set_, number_, end_);
    record_.assign({0, length_word(urls.size(), place)});
    record_.insert(record_.end(), urls.begin(), urls.end());
    record_[0] = checksum_of(record_, place);
    auto const bytes = chars_of(record_.data(), record_.size());
    synced_ = false;
    int const error = write_all(file_, end_, {bytes.data(), bytes.size()});
    if (!error) {
        end_ += bytes.size();
        return {};
    }
    std::error_code left;
    std::filesystem::resize_file(path_, end_, left);
    broken_ = bool(left);
    return path_ + " cannot be written: " + io::text_of_error(error);
}

std::string SetLog::sync() {
    auto lost = lost_file(file_, path_);
    broken_ = broken_ || !lost.empty();
    if (!lost.empty()) return lost;
    if (synced_) return {};
    int const error = file_.sync();
    synced_ = error == 0;
    // The system may have dropped unwritten pages, and reports that only once.
    if (error) broken_ = true;
    return error ? path_ + " cannot be written: " + io::text_of_error(error) : "";
}

}   // namespace garner::crawl
