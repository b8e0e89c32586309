// The directory of a set on disk: its lock, the form of the set, and durable renames.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "crawl/set_bytes.hpp"

namespace garner::crawl {

/// Recorded to reject an open with another kind or other layers, which would give wrong answers.
struct SetForm {
    std::string kind;                         // name in url_sets()
    std::optional<std::string> layers = {};   // the result of UrlLayers::names(); nothing: those recorded, in a new
                                              // directory none
};

struct OwnDirectory {
    io::File lock;            // locks the directory against other processes until it is closed
    std::string fault = {};   // one line when the directory is unavailable
};
/// Creates the directory and its parents if missing; records the form in a new one.
OwnDirectory own_directory(std::filesystem::path const&, SetForm const&);

/// One line when the file's name no longer refers to it, so that its contents are not durable. Otherwise empty.
std::string lost_file(io::File const&, std::string const& path);

/// An existing file of a set, with its head. `what` names its kind: "run".
struct OpenedFile {
    io::File file;
    FileHead head;
    std::string fault = {};   // one line when it is missing or damaged
};
OpenedFile open_file(std::string const& path, io::File::Mode, io::Faults*, std::string_view magic, std::string const& what);

/// Atomically replaces the file by these bytes. Empty, or the error.
std::string replace_file(std::string const& path, std::string_view bytes, io::Faults*);

/// Makes the names in the directory durable. Empty, or the error.
std::string sync_directory(std::filesystem::path const&, io::Faults* faults = nullptr);

}   // namespace garner::crawl
