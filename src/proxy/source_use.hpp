// One fetch from one source, measured: what the mesh learns from it.
#pragma once
#include <string>
#include <utility>

#include "icp/mesh.hpp"
#include "icp/source.hpp"

namespace garner::proxy {

/// From the request out to the last byte in. Holds one of the peer's connections meanwhile. Move-only; an empty one
/// measures nothing.
class SourceUse {
public:
    SourceUse() = default;
    /// `mesh`: who learns from it; null: nobody, which costs nothing. False when the peer has all the connections it may have.
    bool begin(icp::Mesh* mesh, icp::Source const& source, std::string_view host) {
        end();
        if (!mesh) return true;   // nobody wants to know
        if (source.peer && !source.peer->enter()) return false;
        mesh_ = mesh;
        source_ = source;
        host_ = host;
        began_ = steady_now();
        return true;
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

    /// A new connection was made, and this is its round trip.
    void connected(microseconds rtt) {
        if (source_.peer)
            source_.peer->connected(rtt, steady_now());
        else if (mesh_)
            mesh_->origins().connected(host_, rtt, steady_now());
    }
    /// The head is there: from here on the time is the body's.
    void head_came() {
        if (mesh_) began_ = steady_now();
    }
    /// The answer was whole, with so many bytes.
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

}  // namespace garner::proxy
