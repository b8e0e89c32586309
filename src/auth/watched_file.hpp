// A file that is read again when it changes.
#pragma once
#include <sys/stat.h>

#include <optional>
#include <string>

#include "auth/trouble.hpp"
#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/result.hpp"

namespace garner::auth {

/// Not thread-safe.
class WatchedFile {
public:
    /// Files of more than `size_max` bytes are refused.
    explicit WatchedFile(std::string path, Bytes size_max = 256 * MiB) : path_(std::move(path)), size_max_(size_max) {}
    std::string const& path() const { return path_; }

    /// The text if the file is new or has changed since the last call, else nothing. Each fault is reported once, until it has
    /// another reason or the file can be read again. Fault::where is the path.
    std::optional<Result<std::string>> read_if_changed(WallTime now = wall_now());
    /// The text that was read last cannot be used, so that the facts of the time before are in use.
    void reject(std::string why, std::string mend);
    /// While the file cannot be read, or its text was rejected. `effect`: Trouble::effect.
    std::optional<Trouble> trouble(std::string effect) const;

private:
    struct State {
        dev_t device = 0;
        ino_t inode = 0;
        off_t size = -1;
        std::int64_t modified = 0, changed = 0;   // nanoseconds since 1970
        friend bool operator==(State const&, State const&) = default;
    };
    std::optional<Result<std::string>> failed(std::string what, std::string mend);

    std::string path_;
    Bytes size_max_;
    std::optional<State> read_;           // at the last reading
    std::string fault_;                   // the last one reported; empty: the last reading was right
    std::string mend_;                    // for `fault_`
    WallTime right_{}, former_right_{};   // when the file was as the facts in use
    bool is_rejected_ = false;            // its text: `fault_` stays until the file changes
};

}   // namespace garner::auth
