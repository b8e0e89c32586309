// Optional normalisation of canonical URLs beyond the standard. Each layer is off unless named. A layer assumes that
// two URLs are one page. Do not apply layers to a redirect target, because its server has named that exact URL.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "crawl/canonical_url.hpp"
#include "util/result.hpp"

namespace garner::crawl {

class UrlLayers {
public:
    /// "query-sort,www-strip", in any order; nothing: no layers.
    static Result<UrlLayers> read(std::string_view names);

    /// Comma-separated, in the order of application, whatever the order in read().
    std::string names() const;

    /// Applies the layers in a fixed order. All but surt produce a canonical URL and are idempotent. surt is applied
    /// last and produces a sort key; its host() is the text in the parentheses. Any thread.
    void apply(CanonicalUrl& url) const;

private:
    std::uint32_t chosen_ = 0;   // a bit for each row of the table
};

struct UrlLayerName {
    std::string_view name, what;
};
/// In the order of application.
std::vector<UrlLayerName> url_layer_names();

}   // namespace garner::crawl
