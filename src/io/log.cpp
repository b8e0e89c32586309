#include "io/log.hpp"

#if defined(FMT_VERSION) && FMT_VERSION < 100000
template void fmt::detail::vformat_to(fmt::detail::buffer<char>&, fmt::string_view,
                                      fmt::basic_format_args<FMT_BUFFER_CONTEXT(char)>, fmt::detail::locale_ref);
#endif
