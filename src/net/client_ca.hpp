// The authorities that issue client certificates.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "util/result.hpp"

typedef struct x509_st X509;

namespace garner::net {

struct ClientCa {
    std::vector<std::shared_ptr<X509>> certificates;   // trust anchors, at least one
    std::array<std::uint8_t, 32> digest;               // SHA-256 of the file
};

/// Reads a PEM file of CA certificates; Fault::where is its path.
Result<ClientCa> read_client_ca(std::string const& file);

}   // namespace garner::net
