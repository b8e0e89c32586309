// The quick way for what most links are already: canonical, but for a fragment or the slash after a bare host.
#pragma once
#include <string_view>

#include "crawl/canonical_url.hpp"

namespace garner::crawl {

/// False, with nothing said about the text, unless it is an http or https URL whose canonical form is plain to see:
/// `into` then is what canonicalise() would make of it.
bool copy_plain_url(std::string_view text, CanonicalUrl& into);

}  // namespace garner::crawl
