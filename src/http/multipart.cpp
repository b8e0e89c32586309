#include "http/multipart.hpp"

#include "util/text.hpp"

namespace garner::http {

Multipart::Multipart(std::vector<ByteRange> ranges, std::uint64_t length, std::string_view content_type, Random random)
    : ranges_(std::move(ranges)) {
    std::string boundary;
    for (auto const word : random) append_hex(word, boundary);
    content_type_ = "multipart/byteranges; boundary=" + boundary;
    for (auto const& range : ranges_) {
        // RFC 2046 5.1.1: the line break before a boundary belongs to the boundary; the first one needs none.
        std::string head(heads_.empty() ? "--" : "\r\n--");
        head.append(boundary).append("\r\n");
        if (!content_type.empty()) head.append("Content-Type: ").append(content_type).append("\r\n");
        head.append("Content-Range: ").append(format_content_range({range, length})).append("\r\n\r\n");
        size_ += head.size() + range.size();
        heads_.push_back(std::move(head));
    }
    end_ = "\r\n--" + boundary + "--\r\n";
    size_ += end_.size();
}

}   // namespace garner::http
