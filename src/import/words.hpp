// The words of a directive, and values from files.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "import/import_report.hpp"
#include "util/result.hpp"

namespace garner::importing {

struct Files;

inline constexpr std::string_view white_space = " \t\n\v\f\r";

std::string trimmed(std::string_view text);
std::string without_quotes(std::string_view word);

/// The words up to a comment.
std::vector<std::string> split(std::string_view text);

/// Values may be in files; in regular expressions a backslash keeps the white space behind it.
enum class Values : std::uint8_t { words, expressions };

struct ValueList {
    std::vector<std::string> values;
    std::string file;      // has all the values, and Garner finds the same ones in it; empty: no file does
    std::string trouble;   // a file that cannot be read: values are missing
};

/// The values in `text`, a part of the line. A quoted word names a file with a value in each line, and the words behind it do not
/// count, as in Squid. With Line::quoted, quotes enclose a value and parameters("FILE") names a file.
ValueList values_of(Line const& line, std::string_view text, Values kind, Files const& files);

}   // namespace garner::importing
