#include "net/tls_server.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>

namespace garner::net {

namespace {

void must(bool done) {
    if (!done) throw std::runtime_error("OpenSSL refuses");
}

void extend(X509* certificate, int nid, std::string const& value) {
    auto* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
    must(extension && X509_add_ext(certificate, extension, -1));
    X509_EXTENSION_free(extension);
}

/// Signed by `issuer`, or self-signed without one.
Identity make(CertificateWish const& wish, Identity const* issuer, bool is_authority) {
    static std::atomic<long> serial = 1;
    Identity made{{X509_new(), X509_free}, {EVP_EC_gen("P-256"), EVP_PKEY_free}};
    auto* certificate = made.certificate.get();
    X509_set_version(certificate, 2);
    auto number = serial++;
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), number);
    X509_gmtime_adj(X509_getm_notBefore(certificate), wish.valid_from);
    X509_gmtime_adj(X509_getm_notAfter(certificate), wish.valid_until);
    auto name = (is_authority ? "Authority " : "Origin ") + std::to_string(number);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                               reinterpret_cast<unsigned char const*>(name.c_str()), -1, -1, 0);
    auto* signer = issuer ? issuer->certificate.get() : certificate;
    X509_set_issuer_name(certificate, X509_get_subject_name(signer));
    X509_set_pubkey(certificate, made.key.get());
    extend(certificate, NID_basic_constraints, is_authority ? "critical,CA:TRUE" : "CA:FALSE");
    if (!is_authority) extend(certificate, NID_subject_alt_name, wish.alternative_names);
    must(X509_sign(certificate, (issuer ? issuer->key : made.key).get(), EVP_sha256()) > 0);
    return made;
}

std::string common_name(X509* certificate) {
    char name[256] = "";
    if (certificate) X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof name);
    return name;
}

}   // namespace

Authority::Authority() : own_(make({}, nullptr, true)) {
    static std::atomic<int> next = 0;
    auto path = std::filesystem::temp_directory_path() /
                ("garner-ca-" + std::to_string(::getpid()) + "-" + std::to_string(next++) + ".pem");
    file_ = path.string();
    auto* file = std::fopen(file_.c_str(), "w");
    must(file && PEM_write_X509(file, own_.certificate.get()));
    std::fclose(file);
}

Authority::~Authority() { std::filesystem::remove(file_); }

Identity Authority::sign(CertificateWish const& wish) const { return make(wish, &own_, false); }

Identity self_signed(CertificateWish const& wish) { return make(wish, nullptr, false); }

TlsServer::TlsServer(Identity const& identity, Script script, Options const& options)
    : listener_(options.address), script_(std::move(script)), context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free) {
    auto* context = context_.get();
    must(SSL_CTX_use_certificate(context, identity.certificate.get()) && SSL_CTX_use_PrivateKey(context, identity.key.get()));
    SSL_CTX_set_max_proto_version(context, options.max_version);
    if (!options.client_ca.empty()) {
        must(SSL_CTX_load_verify_locations(context, options.client_ca.c_str(), nullptr));
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    }
    unsigned char const name[] = "scene";
    if (options.session_context) SSL_CTX_set_session_id_context(context, name, sizeof name);
    auto choose = [](SSL*, unsigned char const** chosen, unsigned char* length, unsigned char const* offered,
                     unsigned int offered_length, void*) {
        static unsigned char const known[] = "\x02h2\x08http/1.1";
        auto** out = const_cast<unsigned char**>(chosen);
        auto status = SSL_select_next_proto(out, length, known, sizeof known - 1, offered, offered_length);
        return status == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
    };
    SSL_CTX_set_alpn_select_cb(context, choose, nullptr);
    thread_ = std::thread([this] { serve(); });
}

TlsServer::~TlsServer() {
    stopping_ = true;
    ::shutdown(listener_.descriptor(), SHUT_RDWR);
    thread_.join();
}

void TlsServer::serve() {
    while (!stopping_) {
        int fd = listener_.accept();
        if (fd < 0) continue;
        std::unique_ptr<SSL, void (*)(SSL*)> ssl(SSL_new(context_.get()), SSL_free);
        SSL_set_fd(ssl.get(), fd);
        if (SSL_accept(ssl.get()) == 1) {
            ++handshakes;
            if (SSL_session_reused(ssl.get())) ++resumed;
            {
                std::lock_guard lock(mutex_);
                auto const* name = SSL_get_servername(ssl.get(), TLSEXT_NAMETYPE_host_name);
                server_name_ = name ? name : "";
                unsigned char const* protocol = nullptr;
                unsigned int length = 0;
                SSL_get0_alpn_selected(ssl.get(), &protocol, &length);
                protocol_.assign(reinterpret_cast<char const*>(protocol), length);
                client_name_ = common_name(SSL_get0_peer_certificate(ssl.get()));
            }
            script_(ssl.get());
        } else {
            ++failures;
        }
        ::close(fd);
    }
}

std::string TlsServer::server_name() {
    std::lock_guard lock(mutex_);
    return server_name_;
}

std::string TlsServer::protocol() {
    std::lock_guard lock(mutex_);
    return protocol_;
}

std::string TlsServer::client_name() {
    std::lock_guard lock(mutex_);
    return client_name_;
}

std::string receive(SSL* ssl, std::size_t count) {
    std::string got(count, '\0');
    std::size_t size = 0;
    while (size < count) {
        int n = SSL_read(ssl, got.data() + size, static_cast<int>(count - size));
        if (n <= 0) break;
        size += static_cast<std::size_t>(n);
    }
    got.resize(size);
    return got;
}

void send(SSL* ssl, std::string_view bytes) { SSL_write(ssl, bytes.data(), static_cast<int>(bytes.size())); }

}   // namespace garner::net
