// Matches the names in a client's certificate.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace garner::http {

/// A name as it stands in the certificate (a DNS name, a URI, an e-mail address, or the CN), a domain with a leading dot, or
/// "any". ".example.org" is example.org and every DNS name below it. Case is ignored. An international host, also of an e-mail address,
/// matches its ASCII form, too, which certificates have.
class CertificatePattern {
public:
    /// Nothing when `text` is empty, only a dot, or has a control character or a space at an end.
    static std::optional<CertificatePattern> parse(std::string_view text);
    /// True when one of the names matches; `any` matches every certificate. A client without one has no names.
    bool matches(std::span<std::string const> names) const;
    friend bool operator==(CertificatePattern const&, CertificatePattern const&) = default;

private:
    std::string text_;    // in lower case
    std::string ascii_;   // with its host in ASCII; empty if that is the same
};

}   // namespace garner::http
