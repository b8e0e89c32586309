#include "icp/purge_result.hpp"

#include <algorithm>

namespace garner::icp {

std::string_view words_of(PurgeResult const& result) {
    if (!result.told) return "not told (peers[].https)";
    switch (result.reply) {
    case ReplyKind::hit: return "purged";
    case ReplyKind::miss: return "had nothing";
    case ReplyKind::nothing: return "did not answer";
    case ReplyKind::miss_nofetch:
    case ReplyKind::denied:
    case ReplyKind::error: break;
    }
    return "refused";
}

bool any_gone(std::span<PurgeResult const> all) {
    return std::any_of(all.begin(), all.end(), [](PurgeResult const& one) { return one.reply == ReplyKind::hit; });
}

std::string text_of(std::span<PurgeResult const> all) {
    std::string text;
    for (auto const& one : all) {
        text.append("peer ").append(one.name).append(": ").append(words_of(one));
        text.append(*one.why ? ": " : "").append(one.why).append("\n");
    }
    return text;
}

}   // namespace garner::icp
