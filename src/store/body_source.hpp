// Where the bytes of a body lie that memory does not hold.
#pragma once
#include <memory>
#include <string_view>

#include "net/asio.hpp"
#include "util/bytes.hpp"

namespace garner::store {

/// Verified bytes, as long as `owner` lives.
struct Loaded {
    std::shared_ptr<void const> owner;
    std::string_view bytes;            // empty: they cannot be had: damaged, gone, or the disk is too slow
};

/// Thread-safe.
class BodySource {
public:
    virtual ~BodySource() = default;
    /// What lies from `offset` on, at most one piece of the body. Resumes on the caller's executor.
    virtual net::awaitable<Loaded> load(Bytes offset, net::Executor executor) = 0;
    /// Before this offset everything can be loaded; it grows with a body that grows.
    virtual Bytes until() const = 0;
};

}  // namespace garner::store
