// A certificate in files, for the listeners of these scenes.
#pragma once
#include <string>

#include "story/scene.hpp"
#include "support/programs.hpp"

namespace garner::test {

struct CertificateFiles {
    explicit CertificateFiles(std::string const& name = "proxy.test") : certificate(name) { write(certificate); }

    /// Replaces the files' content.
    void write(Certificate const& one) {
        dir.write("chain.pem", one.pem());
        dir.write("key.pem", one.key_pem());
    }
    std::string chain() const { return dir.path("chain.pem").string(); }
    std::string key() const { return dir.path("key.pem").string(); }
    /// An item of `certificates`.
    std::string item() const { return R"({"chain": ")" + chain() + R"(", "key": ")" + key() + R"("})"; }
    /// The `tls` part of a listener; `more`: further members, each after a comma.
    std::string tls(std::string const& more = {}) const { return R"({"certificates": [)" + item() + "]" + more + "}"; }

    Certificate certificate;
    TempDir dir;
};

/// A client of the proxy's TLS listener, after its handshake.
inline Client secure_client(Proxy const& proxy, std::string const& server_name = "proxy.test") {
    Client client("127.0.0.1", proxy.secure());
    client.start_tls(server_name);
    return client;
}

}   // namespace garner::test
