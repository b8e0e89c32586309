// What a crawler may do to canonical URLs beyond the standard, to call more of them the same: a layer each, off unless
// named. A layer is a guess that two pages are one. The target of a redirect has been named by its server and gets
// none: who canonicalises it must leave the layers out.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "crawl/canonical_url.hpp"

namespace garner::crawl {

class UrlLayers {
public:
    struct Read;

    /// "query-sort,www-strip", in any order; nothing: no layers.
    static Read read(std::string_view names);

    /// With commas, in the order in which they apply, however they were written.
    std::string names() const;

    /// In an order of its own. All but surt leave a canonical URL, and applied once more they change nothing; surt,
    /// which comes last, leaves a text to sort by, whose host() is what stands in the parentheses. Any thread.
    void apply(CanonicalUrl& url) const;

private:
    std::uint32_t chosen_ = 0;   // a bit for each row of the table
};

struct UrlLayers::Read {
    UrlLayers layers;
    std::string fault;   // one line that names what is wrong and the mend
};

struct UrlLayerName {
    std::string_view name, what;
};
/// In the order in which they apply.
std::vector<UrlLayerName> url_layer_names();

}  // namespace garner::crawl
