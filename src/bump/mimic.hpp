// The answer to a client whose origin has an invalid certificate. Pure.
#pragma once
#include <cstdint>
#include <string_view>

#include "bump/authority.hpp"
#include "bump/likeness.hpp"
#include "bump/name_constraints.hpp"
#include "bump/options.hpp"
#include "util/clock.hpp"

namespace garner::bump {

/// The errors of an origin's certificate that a minted one can show.
enum class OriginError : std::uint8_t {
    outside_dates,   // expired or not yet valid
    wrong_name,      // the certificate is for other hosts
    untrusted        // unknown issuer, self-signed, revoked, and all other errors
};

/// `verify_result`: X509_V_ERR_..., not X509_V_OK.
OriginError origin_error(long verify_result);

/// A response of Garner must not be stored, and its connection to the origin must not be pooled or used.
struct InvalidAnswer {
    enum class Kind : std::uint8_t {
        certificate,   // a certificate with the same error; requests are forwarded if the client accepts it
        page,          // a valid certificate and a page with status 502 and the reason
        terminate      // the connection ends without a handshake
    };
    Kind kind = Kind::terminate;
    Signer signer = Signer::throwaway;
    Likeness likeness = {};   // contents of the certificate; unused: terminate
};

/// With `mimic` the CA signs only a certificate that clients refuse because of its dates or its names. In all other cases a
/// throwaway key signs: an origin with an invalid certificate never gets one that clients accept.
InvalidAnswer answer_invalid(Invalid setting, OriginError, Likeness const& origin, std::string_view host, NameConstraints const&,
                             WallTime now);

}   // namespace garner::bump
