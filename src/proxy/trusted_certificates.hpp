// The certificates of files by which this proxy verifies others.
#pragma once
#include <vector>

#include "proxy/certificate_watch.hpp"

namespace garner::proxy {

class Server;

/// Those of `client_ca`, and of `ca_file` of peers and of `tls`. By the thread that reloads.
std::vector<UsedCertificate> trusted_certificates(Server&);

}   // namespace garner::proxy
