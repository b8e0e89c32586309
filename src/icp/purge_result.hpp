// What became of a purge at the other caches, in words.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "icp/reply.hpp"

namespace garner::icp {

/// What became of a purge at one peer.
struct PurgeResult {
    std::string name;                 // of the peer, or its address
    ReplyKind reply = ReplyKind::nothing;        // hit: gone; miss: not had; nothing: no acknowledgement
};

/// "purged", "had nothing", "refused", "did not answer".
std::string_view words_of(PurgeResult const&);

/// Somebody had it, and has it no more.
bool any_gone(std::span<PurgeResult const>);

/// One line each: "peer campus: purged\n".
std::string text_of(std::span<PurgeResult const>);

}  // namespace garner::icp
