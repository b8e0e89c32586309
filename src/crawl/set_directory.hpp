// The directory that a set on disk has for itself: its lock, what it says of the set, and how its names come to last.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "crawl/set_bytes.hpp"

namespace garner::crawl {

/// Who opens a directory as another kind of set, or puts URLs into it that were made otherwise, would be told nonsense.
struct SetForm {
    std::string kind;                          // of url_sets()
    std::optional<std::string> layers = {};    // as UrlLayers::names() has them; nothing: as is there, in a new one none
};

struct OwnDirectory {
    io::File lock;                             // no other process can have the directory until it is closed
    std::string fault = {};                    // one line when it cannot be had
};
/// Makes it where it is not there, with its parents; notes the form in a new one.
OwnDirectory own_directory(std::filesystem::path const&, SetForm const&);

/// One line when nobody can open the file by its name any more: what it has does not last, whatever the disk says. Else empty.
std::string lost_file(io::File const&, std::string const& path);

/// A file of a set that is there, with its head. `what` names its kind: "run".
struct OpenedFile {
    io::File file;
    FileHead head;
    std::string fault = {};                    // one line when it is none, or damaged
};
OpenedFile open_file(std::string const& path, io::File::Mode, io::Faults*, std::string_view magic, std::string const& what);

/// Puts these bytes in the place of the file, whole or not at all. Empty, or what went wrong.
std::string replace_file(std::string const& path, std::string_view bytes, io::Faults*);

/// Returns when the names in it would survive a power failure. Empty, or what went wrong.
std::string sync_directory(std::filesystem::path const&, io::Faults* faults = nullptr);

}  // namespace garner::crawl
