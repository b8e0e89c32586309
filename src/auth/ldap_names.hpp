// Names of a directory (RFC 4514) and search filters (RFC 4515). Pure.
#pragma once
#include <string>
#include <string_view>

namespace garner::auth {

/// A DN in one spelling: attribute types and values in lower case, without optional spaces. Empty: `dn` is malformed or empty.
std::string normal_dn(std::string const& dn);

/// `value` as a part of a filter: `*`, `(`, `)`, `\`, NUL and bytes outside of ASCII are escaped (RFC 4515 3).
std::string escape_filter(std::string_view value);

/// The filter with each {user} replaced by the escaped name.
std::string filter_for(std::string_view filter, std::string_view user);

/// The attribute that the filter compares with {user}, such as "uid" of "(uid={user})". Empty: none alone is.
std::string user_attribute(std::string_view filter);

}   // namespace garner::auth
