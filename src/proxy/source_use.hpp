// Measures one fetch from one source, for the mesh.
#pragma once
#include <string>
#include <utility>

#include "icp/mesh.hpp"
#include "icp/source.hpp"
#include "proxy/counters.hpp"

namespace garner::proxy {

/// Measures from the request's first byte to the response's last one. Holds one of the peer's connections meanwhile.
/// Move-only; an empty one measures nothing.
class SourceUse {
public:
    SourceUse() = default;
    /// `mesh`: receives the measurements; null: none are taken. False when the peer has reached its connection limit.
    bool begin(icp::Mesh* mesh, icp::Source const& source, std::string_view host) {
        end();
        if (!mesh) return true;   // no measurements are wanted
        if (source.peer && !source.peer->enter()) return false;
        mesh_ = mesh;
        source_ = source;
        host_ = host;
        began_ = steady_now();
        return true;
    }
    /// Goes on with a connection to this peer that a former process has opened; null: measures nothing.
    void go_on(std::shared_ptr<icp::Peer> peer) {
        end();
        if (peer) peer->enter_at_any_number();
        source_.peer = std::move(peer);
    }
    SourceUse(SourceUse&& other) noexcept { *this = std::move(other); }
    SourceUse& operator=(SourceUse&& other) noexcept {
        end();
        mesh_ = std::exchange(other.mesh_, nullptr);
        source_ = std::exchange(other.source_, {});
        host_ = std::move(other.host_);
        began_ = other.began_;
        return *this;
    }
    ~SourceUse() { end(); }

    bool of_peer() const { return source_.peer != nullptr; }
    bool of_sibling() const { return of_peer() && source_.peer->options.type == icp::PeerOptions::Type::sibling; }

    ReplicationSource replication_source() const {
        if (!of_peer()) return ReplicationSource::origin;
        return of_sibling() ? ReplicationSource::sibling : ReplicationSource::parent;
    }

    /// A new connection was opened with this round-trip time.
    void connected(microseconds rtt) {
        if (source_.peer)
            source_.peer->connected(rtt, steady_now());
        else if (mesh_)
            mesh_->origins().connected(host_, rtt, steady_now());
    }
    /// The head has arrived: from here on the time is the body's.
    void head_came() {
        if (mesh_) began_ = steady_now();
    }
    /// This many bytes of the response have arrived since the last call.
    void received(Bytes bytes) {
        if (source_.peer && bytes > 0) source_.peer->received(bytes);
    }
    /// The response was complete, with this many bytes, which received() has counted.
    void fetched(Bytes bytes) {
        if (!mesh_) return;
        auto const now = steady_now();
        auto const took = std::chrono::duration_cast<microseconds>(now - began_);
        if (source_.peer)
            source_.peer->fetched(source_, bytes, took);
        else if (mesh_)
            mesh_->origins().fetched(host_, bytes, took, now);
    }
    void end() {
        if (source_.peer) source_.peer->leave();
        source_ = {};
        mesh_ = nullptr;
    }

private:
    icp::Mesh* mesh_ = nullptr;
    icp::Source source_;
    std::string host_;
    SteadyTime began_{};
};

}   // namespace garner::proxy
