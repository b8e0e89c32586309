#include "net/certificate_text.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>

#include "util/check.hpp"
#include "util/ip.hpp"
#include "util/text.hpp"

namespace garner::net {
namespace {

std::string bytes_of(ASN1_STRING const* text) {
    return {reinterpret_cast<char const*>(ASN1_STRING_get0_data(text)), static_cast<std::size_t>(ASN1_STRING_length(text))};
}

bool is_printable(std::string_view text) {
    return !text.empty() && std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

/// The most specific CN, which the last one is (RFC 6125 1.8); empty without one.
std::string common_name(X509* certificate) {
    auto* const subject = X509_get_subject_name(certificate);
    int last = -1;
    for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0;) last = at;
    if (last < 0) return {};
    unsigned char* utf8 = nullptr;
    int const size = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, last)));
    if (size < 0) return {};
    std::string const name(reinterpret_cast<char const*>(utf8), static_cast<std::size_t>(size));
    OPENSSL_free(utf8);
    return name;
}

std::string address_of(ASN1_OCTET_STRING const* octets) {
    auto const bytes = bytes_of(octets);
    IpAddress address = IpAddress::v4(0);
    if (bytes.size() != 4 && bytes.size() != 16) return {};
    std::ranges::copy(bytes, address.bytes.end() - static_cast<std::ptrdiff_t>(bytes.size()));
    return address.text();
}

std::string server_name_of(GENERAL_NAME const& name) {
    if (name.type == GEN_DNS) return lower_case(bytes_of(name.d.dNSName));
    return name.type == GEN_IPADD ? address_of(name.d.iPAddress) : std::string();
}

// A URI has a colon and an e-mail address an @, so that neither can be mistaken for a DNS name.
std::string identity_name_of(GENERAL_NAME const& name) {
    if (name.type == GEN_DNS) return lower_case(bytes_of(name.d.dNSName));
    bool const is_uri = name.type == GEN_URI;
    if (!is_uri && name.type != GEN_EMAIL) return {};
    auto text = bytes_of(is_uri ? name.d.uniformResourceIdentifier : name.d.rfc822Name);
    return text.find(is_uri ? ':' : '@') == npos ? std::string() : text;
}

std::vector<std::string> names_of(X509* certificate, std::string (*text_of)(GENERAL_NAME const&)) {
    std::vector<std::string> names;
    std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> const all(
        static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)), &GENERAL_NAMES_free);
    for (int i = 0; all && i < sk_GENERAL_NAME_num(all.get()); ++i) names.push_back(text_of(*sk_GENERAL_NAME_value(all.get(), i)));
    std::erase_if(names, [](auto const& name) { return !is_printable(name); });
    if (!names.empty()) return names;
    if (auto name = common_name(certificate); is_printable(name)) names.push_back(std::move(name));
    return names;
}

std::string counted(std::int64_t count, char const* unit) { return std::to_string(count) + " " + unit + (count == 1 ? "" : "s"); }

}   // namespace

std::string date_text(WallTime time) {
    std::chrono::year_month_day const date{std::chrono::floor<std::chrono::days>(time)};
    char text[32];
    int const size = std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(date.year()),
                                   static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
    return {text, static_cast<std::size_t>(size)};
}

std::vector<std::string> server_names(X509* certificate) {
    auto names = names_of(certificate, &server_name_of);
    for (auto& name : names) name = lower_case(name);
    return names;
}

std::vector<std::string> identity_names(X509* certificate) { return names_of(certificate, &identity_name_of); }

std::string subject_of(X509* certificate) {
    std::unique_ptr<BIO, decltype(&BIO_free_all)> const bio(BIO_new(BIO_s_mem()), &BIO_free_all);
    check(bio != nullptr);
    X509_NAME_print_ex(bio.get(), X509_get_subject_name(certificate), 0, XN_FLAG_ONELINE & ~ASN1_STRFLGS_ESC_MSB);
    char* text = nullptr;
    auto const size = BIO_get_mem_data(bio.get(), &text);
    if (size > 0) return {text, static_cast<std::size_t>(size)};
    auto const names = server_names(certificate);
    return names.empty() ? "without names" : "without subject, " + names.front();
}

WallTime not_after(X509* certificate) {
    std::tm parts{};
    if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts) != 1) return {};
    return from_unix_seconds(::timegm(&parts));
}

std::string fingerprint_of(X509* certificate) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    check(X509_digest(certificate, EVP_sha256(), digest, &length) == 1);
    return {reinterpret_cast<char const*>(digest), length};
}

std::optional<std::string> expiry_notice(WallTime not_after, WallTime now) {
    auto const left = not_after - now;
    if (left > expiry_notice_time) return std::nullopt;
    auto const date = date_text(not_after);
    if (left <= milliseconds{0}) return "expired on " + date;
    auto const hours = std::chrono::floor<std::chrono::hours>(left).count();
    if (hours < 1) return "expires in less than an hour, on " + date;
    return "expires in " + (hours < 24 ? counted(hours, "hour") : counted(hours / 24, "day")) + ", on " + date;
}

}   // namespace garner::net
