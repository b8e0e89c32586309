// The URLs that `garner cache purge` and `garner cache ls` select.
#pragma once
#include <string>
#include <string_view>

namespace garner::admin {

/// A prefix of URLs, or, with "*" in it, a pattern for the whole URL: "*" matches any text.
class UrlPattern {
public:
    /// An empty pattern fits every URL. A URL is converted to its normal form: "HTTP://Example.com" becomes
    /// "http://example.com/".
    explicit UrlPattern(std::string_view written);
    /// `url` is in its normal form.
    bool fits(std::string_view url) const;

private:
    std::string text_;
    bool whole_;
};

}   // namespace garner::admin
