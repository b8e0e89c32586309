// Text in HTML.
#pragma once
#include <string>
#include <string_view>

namespace garner::admin {

/// Escaped for elements and for attributes in double quotes. Control characters become '?'.
std::string in_html(std::string_view text);

/// ` name="value"`
std::string attribute(std::string_view name, std::string_view value);

/// The link to the explanation of a text that an operator could write into the page's field.
std::string link_to_why(std::string_view text);

}   // namespace garner::admin
