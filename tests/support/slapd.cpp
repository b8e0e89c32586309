#include "support/slapd.hpp"

#include <signal.h>

#include <thread>

#include "support/certificate.hpp"

namespace garner::test {
namespace {

std::string configuration(TempDir const& dir) {
    std::string text;
    for (auto const* schema : {"core", "cosine", "inetorgperson", "nis"})
        text += "include /etc/ldap/schema/" + std::string(schema) + ".schema\n";
    text += "pidfile " + dir.path("slapd.pid").string() + "\nmodulepath /usr/lib/ldap\nmoduleload back_mdb\nloglevel stats\n";
    text +=
        "TLSCertificateFile " + dir.path("cert.pem").string() + "\nTLSCertificateKeyFile " + dir.path("key.pem").string() + "\n";
    text += "database mdb\nsuffix dc=uni\nrootdn cn=admin,dc=uni\nrootpw admin\ndirectory " + dir.path("data").string() + "\n";
    return text + "maxsize 16777216\n";
}

constexpr char const* root = "dn: dc=uni\nobjectClass: dcObject\nobjectClass: organization\ndc: uni\no: Uni\n\n";

}   // namespace

Slapd::Slapd(std::string const& ldif) : port_(free_port()), tls_port_(free_port()) {
    Certificate const certificate;
    dir_.write("cert.pem", certificate.pem());
    dir_.write("key.pem", certificate.key_pem());
    dir_.write("slapd.conf", configuration(dir_));
    std::filesystem::create_directory(dir_.path("data"));
    auto const entries = dir_.write("entries.ldif", root + ldif);
    auto const added = run({"/usr/sbin/slapadd", "-f", dir_.path("slapd.conf"), "-l", entries});
    if (added.code != 0) throw Trouble("slapadd: " + added.errors);
    start();
}

Slapd::~Slapd() { stop(); }

void Slapd::start() {
    auto const urls = "ldap://127.0.0.1:" + std::to_string(port_) + "/ ldaps://127.0.0.1:" + std::to_string(tls_port_) + "/";
    child_ = std::make_unique<Child>(
        std::vector<std::string>{"/usr/sbin/slapd", "-d", "256", "-f", dir_.path("slapd.conf"), "-h", urls});
    for (int i = 0; i < 200; ++i) {
        if (!child_->running()) throw Trouble("slapd: " + child_->errors());
        try {
            Wire::connect("127.0.0.1", port_);
            return;
        } catch (Trouble const&) {
            std::this_thread::sleep_for(Millis(50));
        }
    }
    throw Trouble("slapd does not listen");
}

void Slapd::stop() {
    if (!child_) return;
    child_->signal(SIGCONT);
    child_->signal(SIGTERM);
    child_->exit_code();
    child_.reset();
}

std::size_t Slapd::binds(std::string const& dn) const {
    auto const text = child_->errors();
    auto const line = "BIND dn=\"" + dn + "\" method=128";
    std::size_t count = 0;
    for (auto at = text.find(line); at != text.npos; at = text.find(line, at + 1)) ++count;
    return count;
}

}   // namespace garner::test
