// check(): an invariant of our own that does not hold stops the process, with the place.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <source_location>

namespace garner {

/// For our own bugs only; trouble from outside is a value.
inline void check(bool holds, std::source_location where = std::source_location::current()) {
    if (holds) [[likely]]
        return;
    std::fprintf(stderr, "garner: broken invariant at %s:%u in %s\n", where.file_name(), where.line(),
                 where.function_name());
    std::abort();
}

}  // namespace garner
