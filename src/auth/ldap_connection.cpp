#include "auth/ldap_connection.hpp"

#include <ldap.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <utility>

#include "auth/ldap_deadline.hpp"

namespace garner::auth {
namespace {

constexpr char const* system_ca_file = "/etc/ssl/certs/ca-certificates.crt";

bool has_certificate(std::string const& file) {
    std::unique_ptr<BIO, decltype(&BIO_free)> const bytes(BIO_new_file(file.c_str(), "r"), &BIO_free);
    std::unique_ptr<X509, decltype(&X509_free)> const certificate(
        bytes ? PEM_read_bio_X509(bytes.get(), nullptr, nullptr, nullptr) : nullptr, &X509_free);
    ERR_clear_error();
    return certificate != nullptr;
}

std::string take_text(char* text) {
    std::string out = text ? text : "";
    ldap_memfree(text);
    return out;
}

void add_entry(LDAP* ldap, LDAPMessage* message, std::string const& attribute, std::vector<LdapEntry>& into) {
    auto& entry = into.emplace_back(LdapEntry{take_text(ldap_get_dn(ldap, message))});
    if (attribute.empty()) return;
    berval** const values = ldap_get_values_len(ldap, message, attribute.c_str());
    for (auto** value = values; value && *value; ++value) entry.values.emplace_back((*value)->bv_val, (*value)->bv_len);
    ldap_value_free_len(values);
}

}   // namespace

struct LdapConnection::Message {
    LDAPMessage* message = nullptr;
    Message() = default;
    Message(Message const&) = delete;
    Message& operator=(Message const&) = delete;
    ~Message() { ldap_msgfree(message); }
};

bool LdapStatus::refused() const {
    switch (code) {
    case LDAP_INVALID_CREDENTIALS:
    case LDAP_INAPPROPRIATE_AUTH:
    case LDAP_NO_SUCH_OBJECT:
    case LDAP_INVALID_DN_SYNTAX:
    case LDAP_CONSTRAINT_VIOLATION:   // locked or expired
    case LDAP_INSUFFICIENT_ACCESS:
    case LDAP_UNWILLING_TO_PERFORM: return true;
    default: return false;
    }
}

Result<std::unique_ptr<LdapConnection>> LdapConnection::make(std::string const& url, std::string const& ca_file) {
    LDAP* ldap = nullptr;
    if (auto const code = ldap_initialize(&ldap, url.c_str()); code != LDAP_SUCCESS)
        return Fault{"\"" + url + "\" cannot be used: " + ldap_err2string(code), R"(write it like "ldaps://ldap.example")", "url"};
    std::unique_ptr<LdapConnection> connection(new LdapConnection(ldap));
    connection->deadline_->use_in(ldap);
    int const version = LDAP_VERSION3, demand = LDAP_OPT_X_TLS_HARD, for_client = 0;
    ldap_set_option(ldap, LDAP_OPT_PROTOCOL_VERSION, &version);
    ldap_set_option(ldap, LDAP_OPT_REFERRALS, LDAP_OPT_OFF);
    ldap_set_option(ldap, LDAP_OPT_RESTART, LDAP_OPT_ON);
    if (!url.starts_with("ldaps:")) return connection;
    // GnuTLS takes a file without certificates for an empty list.
    Fault const unusable{ca_file + " has no CA certificates in PEM, or cannot be read", "name a file with the CA of the directory",
                         "ca_file"};
    if (!ca_file.empty() && !has_certificate(ca_file)) return unusable;
    ldap_set_option(ldap, LDAP_OPT_X_TLS_REQUIRE_CERT, &demand);
    ldap_set_option(ldap, LDAP_OPT_X_TLS_CACERTFILE, ca_file.empty() ? system_ca_file : ca_file.c_str());
    if (ldap_set_option(ldap, LDAP_OPT_X_TLS_NEWCTX, &for_client) != LDAP_OPT_SUCCESS) return unusable;
    return connection;
}

LdapConnection::LdapConnection(LDAP* ldap) : deadline_(std::make_unique<LdapDeadline>()), ldap_(ldap) {}

/// The unbind request must not wait for a directory that does not read.
LdapConnection::~LdapConnection() {
    deadline_->set(steady_now());
    ldap_unbind_ext_s(ldap_, nullptr, nullptr);
}

LdapStatus LdapConnection::status(int code) const {
    if (code == LDAP_SUCCESS) return {};
    char* detail = nullptr;
    ldap_get_option(ldap_, LDAP_OPT_DIAGNOSTIC_MESSAGE, &detail);
    auto const more = take_text(detail);
    return {code, ldap_err2string(code) + (more.empty() ? "" : ": " + more)};
}

void LdapConnection::limit(SteadyTime deadline) {
    deadline_->set(deadline);
    auto const time = time_until(deadline);
    ldap_set_option(ldap_, LDAP_OPT_NETWORK_TIMEOUT, &time);
}

LdapStatus LdapConnection::wait(int message, SteadyTime deadline, Message& into) {
    auto time = time_until(deadline);
    auto const kind = ldap_result(ldap_, message, LDAP_MSG_ALL, &time, &into.message);
    if (kind == 0) return {LDAP_TIMEOUT, "no answer in time"};
    int code = LDAP_SUCCESS;
    if (kind < 0) {
        ldap_get_option(ldap_, LDAP_OPT_RESULT_CODE, &code);
        return status(code == LDAP_SUCCESS ? LDAP_SERVER_DOWN : code);
    }
    char* detail = nullptr;
    if (auto const parsed = ldap_parse_result(ldap_, into.message, &code, nullptr, &detail, nullptr, nullptr, 0);
        parsed != LDAP_SUCCESS)
        return status(parsed);
    auto const more = take_text(detail);
    return {code, code == LDAP_SUCCESS ? "" : ldap_err2string(code) + (more.empty() ? "" : ": " + more)};
}

LdapStatus LdapConnection::bind(std::string const& dn, std::string_view password, SteadyTime deadline) {
    if (!dn.empty() && password.empty()) return {LDAP_INVALID_CREDENTIALS, "the password is empty"};
    limit(deadline);
    // libldap reads it only.
    berval secret{password.size(), const_cast<char*>(password.data())};
    int message = 0;
    auto const code = ldap_sasl_bind(ldap_, dn.c_str(), LDAP_SASL_SIMPLE, &secret, nullptr, nullptr, &message);
    if (code != LDAP_SUCCESS) return status(code);
    Message answer;
    return wait(message, deadline, answer);
}

LdapStatus LdapConnection::search(Search const& search, SteadyTime deadline, std::vector<LdapEntry>& into) {
    limit(deadline);
    auto attribute = search.attribute.empty() ? std::string(LDAP_NO_ATTRS) : search.attribute;
    char* attributes[]{attribute.data(), nullptr};
    int message = 0;
    auto const code =
        ldap_search_ext(ldap_, search.base.c_str(), search.whole_tree ? LDAP_SCOPE_SUBTREE : LDAP_SCOPE_BASE, search.filter.c_str(),
                        attributes, 0, nullptr, nullptr, nullptr, search.entries_max, &message);
    if (code != LDAP_SUCCESS) return status(code);
    Message answer;
    auto result = wait(message, deadline, answer);
    if (!answer.message) return result;
    for (auto* entry = ldap_first_entry(ldap_, answer.message); entry; entry = ldap_next_entry(ldap_, entry))
        add_entry(ldap_, entry, search.attribute, into);
    return result;
}

}   // namespace garner::auth
