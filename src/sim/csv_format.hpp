// Traces as comma-separated values.
#pragma once
#include <array>
#include <string_view>

#include "sim/trace_record.hpp"

namespace garner::sim {

/// Lines of time,key,size or key,size. With a header (key, size, or common other names) the columns may be in any order and
/// among other columns. Separated by commas, tabs, semicolons or single spaces, whichever fits the first line. A field may
/// be in double quotes. Times are not read.
class CsvFormat {
public:
    Record operator()(std::string_view line);

private:
    static constexpr std::size_t columns_max = 64;
    struct Columns {
        char separator = ',';
        std::size_t count = 0, key = 0, size = 0;   // count of columns; indexes of key and size
    };
    struct Fields {
        std::array<std::string_view, columns_max> at;
        std::size_t count = 0;
        std::string_view fault;
    };

    Record learn(std::string_view line);
    bool learn_header(char separator);
    Record row(Columns const& columns) const;
    void split(std::string_view line, char separator);

    Columns columns_;   // count 0: still unknown
    Fields fields_;     // fields of the current line
};

}   // namespace garner::sim
