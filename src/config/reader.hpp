// Where a reader stands in a configuration, and what it has found wrong so far.
#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/document.hpp"

namespace garner::config {

class Reader {
public:
    /// `known_paths` gives every key there is; it is called to tell where a misplaced key belongs.
    Reader(Document const& document, std::vector<std::string> (*known_paths)()) : document_(document), known_paths_(known_paths) {}
    Reader(Reader const&) = delete;

    /// Stands at a key inside the present one for as long as it lives.
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

    /// Notes a fault at the present key; returns false, so that `return reader.fault(…)` says "not read".
    bool fault(std::string text, std::string mend);
    void notice(std::string text, std::string mend);
    /// A key below the present one: {"listen", 0, "address"}.
    using Below = std::initializer_list<std::variant<std::string_view, std::size_t>>;
    bool fault(Below key, std::string text, std::string mend);
    void notice(Below key, std::string text, std::string mend);
    /// Notes that the present key is called `now` (by its last part) and is read as that. A fault if that is given, too.
    bool former_name(std::string_view now, bool both);
    /// A fault for a key nobody knows, with the nearest of its siblings, or the place where it belongs.
    void unknown_key(std::span<std::string_view const> siblings);

    std::string const& path() const { return path_; }
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
    std::vector<std::string> (*known_paths_)();
    std::string path_;
    std::vector<Fault> faults_;
    std::vector<Fault> notices_;
    std::vector<Renamed> renamed_;
};

}  // namespace garner::config
