// Which URLs `garner cache purge` and `garner cache ls` mean.
#pragma once
#include <string>
#include <string_view>

namespace garner::admin {

/// A URL that others begin with, or, with "*" in it, how they look from end to end: "*" stands for anything.
class UrlPattern {
public:
    /// An empty one fits every URL. A URL is brought into its normal form: "HTTP://Example.com" is
    /// "http://example.com/".
    explicit UrlPattern(std::string_view written);
    /// `url` is in its normal form.
    bool fits(std::string_view url) const;

private:
    std::string text_;
    bool whole_;
};

}  // namespace garner::admin
