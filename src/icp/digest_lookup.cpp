#include "icp/digest_lookup.hpp"

#include "icp/digest.hpp"
#include "icp/peer.hpp"

namespace garner::icp {

bool DigestLookup::reaches(Peer const& peer) const { return peer.options.digest && peer.digest(); }

void DigestLookup::ask(Query const& query, std::span<std::shared_ptr<Peer> const> peers, ReplySink& sink) {
    auto const key = digest_key(query.url);
    for (auto const& peer : peers) {
        auto const digest = peer->digest();
        bool const has = digest && digest->may_have(key);
        sink.heard({.number = query.number, .peer = peer, .said = has ? ReplyKind::hit : ReplyKind::miss, .protocol = Protocol::digest});
    }
}

}  // namespace garner::icp
