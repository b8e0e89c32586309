// Makes the certificate authority of interception.
#pragma once
#include <string>
#include <vector>

#include "http/host_pattern.hpp"
#include "util/clock.hpp"
#include "util/result.hpp"

namespace garner::bump {

/// The files of a CA in a directory.
struct CaPaths {
    explicit CaPaths(std::string const& directory);
    std::string root, root_key;   // the root certificate, which clients trust, and its key, which the proxy never needs
    std::string chain, key;       // the signing certificate with the root after it, and its key: bump.ca_chain, bump.ca_key
};

/// Makes the directory if it is missing, a root, and a signing certificate that the root issues, each with a P-256 key. The
/// signing certificate may sign only for `hosts` and names below them (RFC 5280 4.2.1.10), or for any name if `hosts` is empty,
/// and only certificates of servers. If the directory has a root and its key, but neither of the other files, this root issues
/// the signing certificate. Fault: one of the files to be made exists, or a file cannot be written; no file is overwritten.
Result<void> init_ca(std::string const& directory, std::vector<http::HostPattern> const& hosts, WallTime now);

}   // namespace garner::bump
