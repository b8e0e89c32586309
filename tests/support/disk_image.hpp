// The file of a disk store, read by docs/reference/disk-store-format.md alone: the place and validity of each record.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace garner::test {

/// Shares no code with the program. Holds the whole file in memory.
class DiskImage {
public:
    /// A range of bytes in the file.
    struct Place {
        std::uint64_t at = 0;
        std::uint64_t bytes = 0;
    };
    struct Header {
        std::uint64_t at = 0;
        std::uint64_t id = 0, seed = 0, epoch = 0, least_generation = 0;
        std::uint32_t version = 0, segment_bytes = 0, segments = 0, alignment = 0;
    };
    enum class Kind : std::uint8_t { object = 1, piece = 2, tombstone = 3 };
    struct Record {
        Kind kind = Kind::object;
        std::uint8_t freshness = 0;
        bool in_pieces = false;
        std::uint64_t generation = 0, hash = 0, sequence = 0, first = 0;
        std::string key;
        Place head, key_place, meta, sums, body, padding;
        bool good_body = false;   // only records with a valid head are listed

        std::uint64_t at() const { return head.at; }
        std::uint64_t bytes() const { return padding.at + padding.bytes - head.at; }
    };
    struct Entry {
        std::uint64_t hash = 0;
        std::uint64_t at = 0;   // offset of the record in the file
        std::uint32_t bytes = 0;
        Kind kind = Kind::object;
        std::uint8_t freshness = 0;
        bool in_pieces = false;
    };
    struct Footer {
        std::uint64_t generation = 0;
        Place entries_place, tail;
        std::vector<Entry> entries;
    };
    struct Segment {
        std::uint32_t number = 0;
        Place place, head;
        std::uint64_t generation = 0;   // 0: the head is invalid, or has generation 0
        std::uint64_t wiped = 0;        // from a valid head
        std::vector<Record> records;    // valid heads of its generation, in file order
        std::vector<Record> left;       // records of earlier generations
        std::optional<Footer> footer;   // a valid one of any generation
    };

    /// Throws Trouble if there is no valid header.
    static DiskImage read(std::filesystem::path const& file);
    static DiskImage of(std::string bytes);

    std::string const& bytes() const { return bytes_; }
    std::vector<Header> const& headers() const { return headers_; }   // the valid copies
    Header const& header() const;                                     // the copy in use
    std::vector<Segment> const& segments() const { return segments_; }
    /// Records of all segments, of the segment's own generation, in log order.
    std::vector<Record> records() const;

    /// A kind of structure that can be damaged: its name, and all its places in the file.
    struct Kinds {
        std::string name;
        std::vector<Place> places;
    };
    std::vector<Kinds> structures() const;

private:
    std::optional<Header> header_at(std::uint64_t at) const;
    Segment segment_at(std::uint32_t number) const;
    std::optional<Record> record_at(std::uint64_t at, std::uint64_t end) const;
    std::optional<Footer> footer_before(std::uint64_t end) const;
    template <class T>
    T get(std::uint64_t at) const;
    std::string_view view(Place place) const { return std::string_view(bytes_).substr(place.at, place.bytes); }
    std::uint64_t seed_of(std::uint64_t generation, std::uint64_t at) const;

    std::string bytes_;
    std::vector<Header> headers_;
    std::vector<Segment> segments_;
};

}   // namespace garner::test
