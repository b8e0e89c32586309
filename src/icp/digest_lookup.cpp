// Looks up peers in the digests that they publish, without a query.
#include "icp/agent.hpp"
#include "icp/digest.hpp"
#include "icp/peer.hpp"
#include "icp/peer_lookup.hpp"

namespace garner::icp {
namespace {

/// Reaches peers whose digest is wanted and present. A MISS may be wrong for URLs that the peer has stored since.
class DigestLookup final : public PeerLookup {
public:
    explicit DigestLookup(Agent& agent) : agent_(agent) {}

    bool reaches(Peer const& peer) const override { return peer.options.digest && peer.digest(); }
    void ask(Query const& query, Peers peers) override {
        auto const key = digest_key(query.url);
        for (auto const& peer : peers) {
            auto const digest = peer->digest();
            auto const kind = digest && digest->may_have(key) ? ReplyKind::hit : ReplyKind::miss;
            agent_.heard({.number = query.number, .peer = peer, .kind = kind, .protocol = Protocol::digest});
        }
    }

private:
    Agent& agent_;
};

}   // namespace

std::unique_ptr<PeerLookup> make_digest_lookup(LookupServices const& services) {
    return std::make_unique<DigestLookup>(services.agent);
}

}   // namespace garner::icp
