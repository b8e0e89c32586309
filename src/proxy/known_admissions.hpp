// Decisions of the access rules about recent requests: most requests are like an earlier one for the rules.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "proxy/decision.hpp"
#include "util/hash.hpp"

namespace garner::proxy {

struct Request;

/// Keeps decisions while the rules are about clients and origins alone. All are forgotten when the options or the own addresses
/// change. Not thread-safe: one for each worker.
class KnownAdmissions {
public:
    /// Like admission_of(), but finds equal requests.
    Admission admit(Request const& request);

private:
    struct Known {
        std::string origin;   // empty: none
        IpAddress client;
        std::uint16_t listener = 0;
        Admission admission;
    };
    static bool may_be_known(Request const& request);
    void keep_only_for(Request const& request);

    static constexpr std::size_t places = 64;   // a new decision takes the place of another one
    std::array<Known, places> places_;
    KeyedHash hash_;
    // All decisions are for these; the texts in them belong to the options.
    std::shared_ptr<Options const> options_;
    std::shared_ptr<http::OwnAddresses const> own_;
};

/// The result of admit() for the request. The views in it live as long as the request's options.
Admission admission_of(Request const& request);

}   // namespace garner::proxy
