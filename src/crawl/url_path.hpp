// Paths of URLs: segments encoded, dots resolved (URL Standard, "path state").
#pragma once
#include <string>
#include <string_view>

namespace garner::crawl {

/// 1 for a segment that means the current folder ("." or "%2e"), 2 for the parent folder, otherwise 0.
int dots_of(std::string_view segment);

/// The end of the path that begins at the slash `text[begin]`, at a '?' or '#' or the end of the text, if it is
/// canonical; otherwise npos.
std::size_t end_of_plain_path(std::string_view text, std::size_t begin);

/// Appends each segment of `path`, which contains no ? and #, with a slash before it. The path in `to` begins at
/// `path_begin`: ".." removes nothing before it.
void append_path(std::string_view path, std::size_t path_begin, std::string& to);

}   // namespace garner::crawl
