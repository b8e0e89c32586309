// The host parser of the URL Standard, for schemes whose hosts are domains and addresses.
#pragma once
#include <string>
#include <string_view>

#include "crawl/url_fault.hpp"

namespace garner::crawl {

/// Appends the canonical form of a non-empty host: lower-case ASCII, Punycode, dotted decimal, or IPv6 in brackets.
/// After an error the appended bytes are meaningless. Allocates only for names that are percent-encoded or not ASCII.
UrlFault append_host(std::string_view host, std::string& to);

}   // namespace garner::crawl
