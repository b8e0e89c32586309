// The file of memory.save: the objects in memory between two runs.
#pragma once
#include <atomic>
#include <string>
#include <utility>

#include "cache/memory_tier.hpp"

namespace garner::app {

/// Without a path it does nothing. Errors are logged.
class MemoryFile {
public:
    explicit MemoryFile(std::string path) : path_(std::move(path)) {}

    /// Removes the file, and returns it open. -1: there is none, or it cannot be removed: a later start must not find objects that
    /// this process will have removed.
    int take() const;
    void discard() const;

    /// Writes the most valuable objects, in 10 s and in memory.size bytes, and replaces the file once all is written. Nothing may
    /// change in memory any more. `hurry`: no file.
    void save(cache::MemoryTier& memory, std::atomic<bool> const& hurry) const;

private:
    std::string unfinished() const { return path_ + ".new"; }
    std::string write(cache::MemoryTier& memory, std::atomic<bool> const& hurry) const;
    std::string put_in_place() const;
    void sync_directory() const;

    std::string path_;
};

}   // namespace garner::app
