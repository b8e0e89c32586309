// The file of a disk store as a whole: found or made, as large as it is to be, with its header.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "io/file.hpp"
#include "store/disk_format.hpp"
#include "store/disk_options.hpp"

namespace garner::store::disk {

/// Where the store is that disk.path names: a file in a directory, or the block device itself.
std::string file_of(std::string const& path);

/// Open and locked, with room for all its segments. The header is written by one thread at a time.
class StoreFile {
public:
    /// `later`: the process has gone on without it until now. What was purged and replaced meanwhile is not known any
    /// more, so that all that it holds is void. `as_it_is`: nothing is made, and the store keeps its size, whatever the
    /// options say.
    enum class When : std::uint8_t { at_start, later, as_it_is };
    struct Opened;
    /// The next start begins anew what is at options.path, and cannot be opened now: what it has may have been replaced or
    /// purged since. False where that cannot be written down: on a device, or in a directory that takes nothing.
    static bool give_up(DiskOptions const& options);
    /// Opens the store at options.path, grown or begun anew where options.size says so, or makes one.
    static Opened open(DiskOptions const& options, When when);

    std::string const& name() const { return name_; }
    io::File const& file() const { return file_; }
    StoreHeader const& header() const { return header_; }

    /// Empty, or what has become of the file that name() leads to: "was removed or replaced".
    std::string mishap() const;
    bool is_cut_short() const { return file_.size() < header_.bytes(); }
    /// Writes both copies of the header: whether the disk can be written. Empty, or what is wrong.
    std::string write_header();
    /// The same, and from the next start on segments up to this generation hold nothing.
    std::string make_void(std::uint64_t generation);

private:
    explicit StoreFile(std::string name) : name_(std::move(name)) {}
    std::string lay_out(DiskOptions const& options, When when);
    std::string find_as_it_is();
    bool is_blank() const;
    std::string read_header();
    void take_shape(StoreHeader const& wanted, Bytes size, When when);
    std::string make_room(Bytes was) const;
    bool is_device() const;

    std::string name_;
    io::File file_;
    io::File for_header_;         // its syncs tell of faults of its own, and leave the others to those of the log
    StoreHeader header_;
    unsigned good_copy_ = 1;      // the one that is not to be lost while the other is written
};

struct StoreFile::Opened {
    std::optional<StoreFile> store;
    bool in_use = false;      // by another process
    std::string trouble;      // why it is not open, when that is not all
};

}  // namespace garner::store::disk
