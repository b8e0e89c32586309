// The certificates of files: those that this proxy shows, and those by which it verifies others.
#pragma once
#include <memory>
#include <vector>

#include "icp/options.hpp"
#include "proxy/certificate_watch.hpp"
#include "proxy/options.hpp"
#include "util/result.hpp"

namespace garner::proxy {

class Server;
struct ServerOptions;

struct UsedCertificates {
    std::vector<UsedCertificate> shown;     // to clients and peers, and the CA of `bump`
    std::vector<UsedCertificate> trusted;   // `client_ca`, and `ca_file` of peers and of `tls`
};

/// Those shown now, on any thread.
std::vector<UsedCertificate> shown_certificates(Server&);

/// Those in use now. By the thread that reloads.
UsedCertificates certificates_in_use(Server&);

/// Those after a reload with these options: reads their files, and changes nothing. The fault names the key. By the thread that
/// reloads.
Result<UsedCertificates> certificates_after(Server&, ServerOptions const&, Options const&);

}   // namespace garner::proxy
