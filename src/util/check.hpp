// check(): a violated internal invariant stops the process and reports the source location.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <source_location>

namespace garner {

/// For bugs in this program only; external errors are values.
inline void check(bool holds, std::source_location where = std::source_location::current()) {
    if (holds) [[likely]]
        return;
    std::fprintf(stderr, "garner: broken invariant at %s:%u in %s\n", where.file_name(), where.line(), where.function_name());
    std::abort();
}

}   // namespace garner
