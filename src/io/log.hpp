// spdlog, for files that log.
#pragma once
#include <spdlog/spdlog.h>

// fmt 9 does not declare this instantiation: each unit that logs would compile it again, 1 MB with AddressSanitizer, in 2 s with
// clang and 5 s with g++. clang's name of it is not that in libfmt, so log.cpp instantiates it.
#if defined(FMT_VERSION) && FMT_VERSION < 100000
extern template void fmt::detail::vformat_to(fmt::detail::buffer<char>&, fmt::string_view,
                                             fmt::basic_format_args<FMT_BUFFER_CONTEXT(char)>, fmt::detail::locale_ref);
#endif
