// The memory of running requests, kept for reuse by one worker: a connection that waits for a request holds none of it.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "proxy/known_admissions.hpp"
#include "proxy/transaction.hpp"
#include "util/counted.hpp"

namespace garner::proxy {

/// Memory for one request at a time, of any connection.
struct RequestPlace : Counted<RequestPlace> {
    Scratch scratch;
    std::optional<Transaction> transaction;
};

/// Not thread-safe: one for each worker. Outlives its leases.
class RequestPlaces {
public:
    RequestPlaces() { kept_.reserve(kept_max); }
    RequestPlaces(RequestPlaces const&) = delete;

    struct GiveBack {
        RequestPlaces* places = nullptr;
        void operator()(RequestPlace* place) const { places->keep(std::unique_ptr<RequestPlace>(place)); }
    };
    /// Its end destroys the transaction.
    using Lease = std::unique_ptr<RequestPlace, GiveBack>;

    /// The place used last, which the processor's cache probably holds.
    Lease take() {
        if (kept_.empty()) return make();
        Lease taken(kept_.back().release(), GiveBack{this});
        kept_.pop_back();
        return taken;
    }

private:
    static constexpr std::size_t kept_max = 256;
    Lease make() {
        Lease made(new RequestPlace, GiveBack{this});
        made->scratch.target.known = &origins_;
        made->scratch.admissions = &admissions_;
        return made;
    }
    void keep(std::unique_ptr<RequestPlace> place) {
        place->transaction.reset();
        place->scratch.drop_large();
        if (kept_.size() < kept_max) kept_.push_back(std::move(place));
    }
    std::vector<std::unique_ptr<RequestPlace>> kept_;
    KnownOrigins origins_;
    KnownAdmissions admissions_;
};

}   // namespace garner::proxy
