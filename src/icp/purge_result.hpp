// The results of a purge at the other caches, as text.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "icp/reply.hpp"

namespace garner::icp {

/// The result of a purge at one peer.
struct PurgeResult {
    std::string name;                       // the peer's name, or its address
    ReplyKind reply = ReplyKind::nothing;   // hit: removed; miss: not stored; nothing: no acknowledgement
    char const* why = "";                   // the reason for a refusal, a literal; empty: not known
    bool told = true;                       // false: the message must not name the URL to this peer (icp/https)
};

/// "purged", "had nothing", "refused", "did not answer", "not told (peers[].https)".
std::string_view words_of(PurgeResult const&);

/// True if at least one peer had the URL and has removed it.
bool any_gone(std::span<PurgeResult const>);

/// One line each: "peer campus: purged\n", "peer campus: refused: its htcp.secret differs\n".
std::string text_of(std::span<PurgeResult const>);

}   // namespace garner::icp
