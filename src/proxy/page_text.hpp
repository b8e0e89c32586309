// Text that the pages for clients share. Pure.
#pragma once
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

}   // namespace garner::proxy
