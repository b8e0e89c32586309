// The certificate authority of interception: mints a certificate for each origin.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "bump/leaf_key.hpp"
#include "bump/likeness.hpp"
#include "bump/name_constraints.hpp"
#include "net/certificate.hpp"
#include "util/clock.hpp"
#include "util/mutex.hpp"

typedef struct evp_pkey_st EVP_PKEY;
typedef struct x509_st X509;

namespace garner::bump {

/// The signer of a minted certificate.
enum class Signer : std::uint8_t {
    ca,         // clients that trust the root accept the certificate
    throwaway   // a key that no client trusts
};

/// Thread-safe. The leaf key of all minted certificates is new each day (UTC) and is only in memory.
class Authority {
public:
    /// `chain`: the signing certificate first, each followed by its issuer; `key`: the key of the first. Checks nothing:
    /// read_ca() in ca_files.hpp does. `make_key`: makes the leaf keys.
    Authority(std::vector<std::shared_ptr<X509>> chain, std::shared_ptr<EVP_PKEY> key,
              std::shared_ptr<EVP_PKEY> (*make_key)() = make_leaf_key);
    ~Authority();
    Authority(Authority const&) = delete;
    Authority& operator=(Authority const&) = delete;

    /// A new certificate, with the CA's certificates other than the root as its chain. Ends before the CA's certificates do.
    std::shared_ptr<net::Certificate const> mint(Likeness const&, Signer, WallTime now) EXCLUDES(mutex_);

    NameConstraints const& constraints() const { return constraints_; }
    /// The certificates as loaded: the signing certificate first.
    std::vector<std::shared_ptr<X509>> const& chain() const { return chain_; }

private:
    struct Issuer;
    struct Tools {
        std::shared_ptr<EVP_PKEY> leaf_key;
        std::shared_ptr<Issuer const> issuer;
    };
    Tools tools(Signer, WallTime now) EXCLUDES(mutex_);
    std::array<std::uint8_t, 16> next_serial();

    std::vector<std::shared_ptr<X509>> const chain_;
    NameConstraints const constraints_;
    WallTime end_ = WallTime::max();   // the earliest end of a certificate of the chain
    std::shared_ptr<Issuer const> ca_;
    std::shared_ptr<EVP_PKEY> (*const make_key_)();
    std::array<std::uint8_t, 32> secret_;   // HMAC key of serial numbers
    std::atomic<std::uint64_t> minted_{0};

    Mutex mutex_;
    std::shared_ptr<EVP_PKEY> leaf_key_ GUARDED_BY(mutex_);
    std::chrono::sys_days leaf_day_ GUARDED_BY(mutex_);
    std::shared_ptr<Issuer const> throwaway_ GUARDED_BY(mutex_);   // made at its first use
};

}   // namespace garner::bump
