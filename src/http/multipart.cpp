#include "http/multipart.hpp"

namespace garner::http {
namespace {

std::string boundary_of(Multipart::Random const& random) {
    std::string boundary;
    for (auto word : random)
        for (int shift = 60; shift >= 0; shift -= 4) boundary += "0123456789abcdef"[word >> shift & 15];
    return boundary;
}

}  // namespace

Multipart::Multipart(std::vector<ByteRange> ranges, std::uint64_t length, std::string_view content_type, Random random)
    : ranges_(std::move(ranges)) {
    auto const boundary = boundary_of(random);
    content_type_ = "multipart/byteranges; boundary=" + boundary;
    for (auto const& range : ranges_) {
        // RFC 2046 5.1.1: the line break before a boundary belongs to it; the first one needs none.
        std::string head(heads_.empty() ? "--" : "\r\n--");
        head.append(boundary).append("\r\n");
        if (!content_type.empty()) head.append("Content-Type: ").append(content_type).append("\r\n");
        ContentRange where;
        where.range = range;
        where.length = length;
        head.append("Content-Range: ").append(format_content_range(where)).append("\r\n\r\n");
        size_ += head.size() + range.size();
        heads_.push_back(std::move(head));
    }
    end_ = "\r\n--" + boundary + "--\r\n";
    size_ += end_.size();
}

}  // namespace garner::http
