#include "icp/reply.hpp"

#include <array>

namespace garner::icp {
namespace {

constexpr std::array<std::string_view, 6> reply_kind_names{"no answer", "HIT", "MISS", "MISS_NOFETCH", "DENIED", "ERR"};

}   // namespace

std::string_view name_of(ReplyKind kind) { return reply_kind_names[static_cast<std::size_t>(kind)]; }

}   // namespace garner::icp
