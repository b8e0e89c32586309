// The file of a disk store: opens or creates it, sets its size, and writes its header.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "io/file.hpp"
#include "store/disk_format.hpp"
#include "store/disk_options.hpp"

namespace garner::store::disk {

/// The path of the store for disk.path: a file in a directory, or the block device itself.
std::string file_of(std::string const& path);

/// An open and locked file with room for all its segments. Only one thread at a time may write the header.
class StoreFile {
public:
    /// `later`: the process has run without the store until now. Purges and replacements meanwhile are unknown, so
    /// all its contents are invalidated. `as_it_is`: nothing is created, and the store keeps its size, whatever the
    /// options say.
    enum class When : std::uint8_t { at_start, later, as_it_is };
    struct Opened;
    /// Facts that a running process knows when it opens a store.
    struct Known {
        io::File const* held = nullptr;   // the file, open and locked by a closed store of this process: the lock is shared
        std::uint64_t epoch = 0;          // the header gets at least this epoch
    };
    /// Makes the next start discard the store at options.path, which cannot be opened now: its contents may be
    /// outdated. False if this cannot be recorded: on a device, or in a directory that is not writable.
    static bool give_up(DiskOptions const& options);
    /// Opens the store at options.path, extended or recreated if options.size requires it, or creates one.
    static Opened open(DiskOptions const& options, When when, Known const& known);
    static Opened open(DiskOptions const& options, When when);

    std::string const& name() const { return name_; }
    io::File const& file() const { return file_; }
    StoreHeader const& header() const { return header_; }

    /// Empty, or how the file at name() has changed: "was removed or replaced".
    std::string mishap() const;
    bool is_cut_short() const { return file_.size() < header_.bytes(); }
    /// Writes both copies of the header, which tests that the disk is writable. Empty, or the error.
    std::string write_header();
    /// Writes the header so that, from the next start on, segments up to this generation are empty.
    std::string make_void(std::uint64_t generation);
    /// Writes the header so that the next start finds nothing, whatever is written to the segments until then.
    std::string discard();

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
    io::File for_header_;   // a separate open file: its sync reports its own errors only, and the log's errors remain for
                            // the log
    StoreHeader header_;
    unsigned good_copy_ = 1;   // the copy to preserve while the other one is written
};

struct StoreFile::Opened {
    std::optional<StoreFile> store;
    bool in_use = false;   // by another process
    std::string trouble;   // why it is not open, if there is another reason
};

}   // namespace garner::store::disk
