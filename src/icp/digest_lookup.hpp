// Peers looked up in the digests that they publish: known at once, without asking anybody.
#pragma once
#include "icp/peer_lookup.hpp"

namespace garner::icp {

/// Reaches peers whose digest is wanted and here; a MISS of it may be wrong by what has changed since it was made.
class DigestLookup final : public PeerLookup {
public:
    static std::unique_ptr<PeerLookup> make(LookupServices const&) { return std::make_unique<DigestLookup>(); }

    bool open(std::string&) override { return true; }
    bool reaches(Peer const&) const override;
    void ask(Query const&, std::span<std::shared_ptr<Peer> const>, ReplySink&) override;
};

}  // namespace garner::icp
