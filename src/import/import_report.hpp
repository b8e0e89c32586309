// The result of each line: translated, dropped, or left to the operator.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace garner::importing {

/// A directive of squid.conf or of an included file.
struct Line {
    std::string file = {};
    unsigned number = 0;     // its first line, from 1
    std::string name = {};   // "http_access"
    std::string rest = {};   // behind the name
    std::size_t index = 0;   // among all directives
    bool quoted = false;     // configuration_includes_quoted_values is on: quotes enclose a value, not a file's name
    bool missing = false;    // an include of a file that cannot be read: unknown directives belong here
};

class Report {
public:
    void drop(Line const& line, std::string const& reason) { add(line, Kind::dropped, line.name, reason); }
    void needs_you(Line const& line, std::string const& reason) { add(line, Kind::needs_you, line.name, reason); }

    /// The number of lines that need the operator.
    std::size_t needing() const { return count(Kind::needs_you); }
    /// "FILE:LINE: dropped: DIRECTIVE: reason" in the order of the lines, then the totals of `lines` directives. Each line
    /// counts once. It needs the operator if any part of it does. Otherwise it is dropped if any part of it was.
    std::string text(std::size_t lines) const;

private:
    enum class Kind { dropped, needs_you };
    struct Entry {
        std::size_t index;
        Kind kind;
        std::string text;
    };
    void add(Line const&, Kind, std::string const& directive, std::string const& reason);
    std::size_t count(Kind) const;

    std::vector<Entry> entries_;
};

/// Without control characters, and at most 100 bytes long.
std::string printable(std::string_view text);

}   // namespace garner::importing
