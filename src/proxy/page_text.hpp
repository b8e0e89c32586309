// Text that the pages for clients share. Pure.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

#include "proxy/error_page.hpp"

namespace garner::proxy {

/// The begin of an HTML page, for light and dark screens, without scripts; a title follows.
std::string_view head_of_page();

/// Appends with the escapes of the format. Text from outside: cut to 512 bytes, and other bytes than printable ASCII become '?'.
void append_escaped(std::string& out, std::string_view text, ErrorFormat format);
/// For text from the configuration: keeps characters that are valid UTF-8.
void append_own_text(std::string& out, std::string_view text, ErrorFormat format);
/// append_own_text(); in HTML, words that are http or https URLs become links.
void append_with_links(std::string& out, std::string_view text, ErrorFormat format);

/// A named value of a page, and the function that appends the value.
struct PageRow {
    std::string_view name, value;
    void (*append)(std::string&, std::string_view, ErrorFormat) = append_escaped;
};

/// Appends the rows that have a value: terms and descriptions in HTML, lines in text, members of the object that `out` ends with in
/// JSON.
void append_rows(std::string& out, std::initializer_list<PageRow> rows, ErrorFormat format);

}   // namespace garner::proxy
