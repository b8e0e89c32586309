// Paths of URLs: segments encoded, dots resolved (URL Standard, "path state").
#pragma once
#include <string>
#include <string_view>

namespace garner::crawl {

/// 1 for a segment that means this folder ("." or "%2e"), 2 for one that means the folder above, else 0.
int dots_of(std::string_view segment);

/// Where the path that begins at the slash `text[begin]` ends, at a '?' or '#' or the end of the text, if it is
/// canonical; else npos.
std::size_t end_of_plain_path(std::string_view text, std::size_t begin);

/// Appends each segment of `path`, which holds no ? and #, with a slash before it. `path_begin` is where the path
/// begins in `to`: ".." takes nothing before it.
void append_path(std::string_view path, std::size_t path_begin, std::string& to);

}  // namespace garner::crawl
