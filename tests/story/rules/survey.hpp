// Helpers of the scenes from public surveys of HTTP caches.
#pragma once
#include <string>
#include <utility>

#include "story/scene.hpp"

namespace garner::test {

inline Fields with(Fields fields, Fields const& more) {
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
}

/// A 200 that is stale on arrival.
inline Answer stale(Fields more, std::string const& control = "max-age=2") {
    return {.fields = with({{"Cache-Control", control}, {"Age", "5"}}, more), .body = "body"};
}

/// The origin answers `path` with `first`, and from then on with `later`.
inline void then(Origin& origin, std::string const& path, Answer first, Answer later) {
    origin.answer(path, {std::move(first), std::move(later)});
}

inline std::string numbered(std::string const& what, std::size_t row) { return "/" + what + "/" + std::to_string(row); }

}   // namespace garner::test
