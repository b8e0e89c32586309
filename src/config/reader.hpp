// The current position in a configuration, and the faults found so far.
#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "config/document.hpp"

namespace garner::config {

struct RuleContext;

class Reader {
public:
    /// `known_paths` returns the paths of all keys; it is called to find where a misplaced key belongs.
    Reader(Document const& document, std::vector<std::string> const& (*known_paths)(), RuleContext& rules)
        : document_(document), known_paths_(known_paths), rules_(rules) {}
    Reader(Reader const&) = delete;

    /// Moves to a key inside the current one during its lifetime.
    class Step {
    public:
        /// `part`: the name of a member, or the index of an item.
        Step(Reader& reader, auto part) : reader_(reader), length_(reader.path_.size()) { reader.append(part); }
        Step(Step const&) = delete;
        ~Step() { reader_.path_.resize(length_); }

    private:
        Reader& reader_;
        std::size_t length_;
    };

    /// Moves to a key of the root during its lifetime.
    class Elsewhere {
    public:
        Elsewhere(Reader& reader, std::string_view key) : reader_(reader), former_(std::move(reader.path_)) { reader.path_ = key; }
        Elsewhere(Elsewhere const&) = delete;
        ~Elsewhere() { reader_.path_ = std::move(former_); }

    private:
        Reader& reader_;
        std::string former_;
    };

    /// Faults are those of a line of a file during its lifetime: their text begins with "PATH:LINE: ".
    class InFile {
    public:
        InFile(Reader& reader, std::string const& path, unsigned line) : reader_(reader) {
            reader.in_file_ = path + ":" + std::to_string(line) + ": ";
        }
        InFile(InFile const&) = delete;
        ~InFile() { reader_.in_file_.clear(); }

    private:
        Reader& reader_;
    };

    /// Notes a fault at the current key; returns false, so that `return reader.fault(…)` means "not read".
    bool fault(std::string text, std::string mend);
    void notice(std::string text, std::string mend);
    /// A key below the current one: {"listen", 0, "address"}.
    using Below = std::initializer_list<std::variant<std::string_view, std::size_t>>;
    bool fault(Below key, std::string text, std::string mend);
    void notice(Below key, std::string text, std::string mend);
    /// Notes that the current key was renamed to `now` (its last part) and is read under that name. `both`: a fault,
    /// because both exist.
    bool former_name(std::string_view now, bool both);
    /// A fault for an unknown key, with its nearest sibling as a suggestion, or the place where it belongs.
    void unknown_key(std::span<std::string_view const> siblings);

    std::string const& path() const { return path_; }
    Json const& root() const { return document_.root(); }
    /// root() with the present names of the keys that former_name() was told of.
    Json root_in_present_names() const;
    RuleContext& rules() { return rules_; }
    std::vector<Fault>& faults() { return faults_; }
    std::vector<Fault>& notices() { return notices_; }

private:
    struct Renamed {
        std::string written;
        std::string now;
    };
    std::string written_path() const;
    void append(std::string_view name);
    void append(std::size_t index);
    void append(Below key);

    Document const& document_;
    std::vector<std::string> const& (*known_paths_)();
    RuleContext& rules_;
    std::string path_;
    std::string in_file_;
    std::vector<Fault> faults_;
    std::vector<Fault> notices_;
    std::vector<Renamed> renamed_;
};

}   // namespace garner::config
