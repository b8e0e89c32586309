// Several ranges of one representation in one response: multipart/byteranges (RFC 9110 14.6, 15.3.7.2).
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/range.hpp"

namespace garner::http {

/// The bytes around the ranges. The response's body is, for each range in order, head() and its bytes, then end().
class Multipart {
public:
    /// 128 unpredictable bits: no body contains a boundary made of them, even a body crafted for that.
    using Random = std::array<std::uint64_t, 2>;

    /// `ranges` must lie within `length`, the size of the whole representation; `content_type` is its media type, or empty.
    Multipart(std::vector<ByteRange> ranges, std::uint64_t length, std::string_view content_type, Random random);

    std::vector<ByteRange> const& ranges() const { return ranges_; }
    /// The value of the response's own Content-Type.
    std::string const& content_type() const { return content_type_; }
    std::string_view head(std::size_t range) const { return heads_[range]; }
    std::string_view end() const { return end_; }
    /// The total size of the response's body.
    std::uint64_t size() const { return size_; }

private:
    std::vector<ByteRange> ranges_;
    std::string content_type_;
    std::vector<std::string> heads_;
    std::string end_;
    std::uint64_t size_ = 0;
};

}   // namespace garner::http
