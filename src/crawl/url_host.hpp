// The host parser of the URL Standard, for schemes whose hosts are domains and addresses.
#pragma once
#include <string>
#include <string_view>

#include "crawl/url_fault.hpp"

namespace garner::crawl {

/// Bytes of an international name, whose tables are those of the installed ICU. Punycode takes time with the square of a label's
/// length; DNS has 255 bytes.
inline constexpr std::size_t idna_bytes_max = 2048;

/// Appends the canonical form of a host that is not empty: lower-case ASCII, Punycode, dotted decimal, or IPv6 in
/// brackets. On a fault what was appended means nothing. Allocates only for names that are percent-encoded or not
/// ASCII.
UrlFault append_host(std::string_view host, std::string& to);

}  // namespace garner::crawl
