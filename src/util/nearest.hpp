// Spelling suggestions for mistyped words.
#pragma once
#include <span>
#include <string_view>

namespace garner {

/// The candidate that `word` was probably meant to be: at most a third of its letters wrong, missing or swapped; empty
/// if there is none.
std::string_view nearest(std::string_view word, std::span<std::string_view const> candidates);

}   // namespace garner
