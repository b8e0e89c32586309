// The keys of TLS at listening addresses.
#include "config/key_parts.hpp"

namespace garner::config {
namespace {

Form<std::string> file_name() {
    auto const accept = [](std::string const& text, std::string&) { return !text.empty(); };
    return checked("text", "a file name", "name a PEM file", accept);
}

Form<net::CertificateFiles> certificate_files() {
    using T = net::CertificateFiles;
    return object_of<T>({
        required(key<T>("chain", &T::chain, file_name(),
                        "PEM file of the server's certificate, followed by each intermediate after the certificate it issued.")),
        required(key<T>(
            "key", &T::key, file_name(),
            "PEM file of the certificate's private key, not encrypted. Reloads read it as `user`. `garner check` notices a file "
            "that every user of the machine may read.")),
    });
}

}   // namespace

Form<net::ListenTls> listen_tls() {
    using T = net::ListenTls;
    using enum net::ListenTls::MinVersion;
    auto const check = [](Reader& reader, Json const& value, T& tls) {
        if (value.contains("certificates") && value["certificates"].is_array() && value["certificates"].empty())
            reader.fault({"certificates"}, "no certificate", R"(add { "chain": "FILE", "key": "FILE" })");
        if (value.contains("client_required") && tls.client_ca.empty())
            reader.notice({"client_required"}, "has no effect without client_ca",
                          "name the CA file of the clients, or remove this key");
    };
    return object_of<T>(
        {
            required(
                key<T>("certificates", &T::certificates, list_of(certificate_files()),
                       "Certificates of this address. The server name (SNI) of a client selects one by its DNS names; an exact "
                       "name precedes a wildcard. If no name matches or the client sends none, the first one is used.")),
            key<T>("client_ca", &T::client_ca, text(),
                   "PEM file of the certificates that issue client certificates; each is a trust anchor. Empty: clients are not "
                   "asked for a certificate."),
            key<T>(
                "client_required", &T::client_required, flag(),
                "With `client_ca`: `true` rejects clients without a certificate. `false` accepts them; an invalid certificate is "
                "always rejected."),
            key<T>("min_version", &T::min_version, one_of<net::ListenTls::MinVersion>({{"1.2", tls_1_2}, {"1.3", tls_1_3}}),
                   "Minimum version of TLS."),
        },
        check);
}

}   // namespace garner::config
