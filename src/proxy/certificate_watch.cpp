#include "proxy/certificate_watch.hpp"

#include <algorithm>
#include <array>

#include "http/dates.hpp"
#include "net/certificate_text.hpp"

namespace garner::proxy {

namespace {

constexpr std::array warning_days{0, 1, 3, 7, 14, 30};

std::string end_of(UsedCertificate const& certificate) { return http::format_http_date(unix_seconds(certificate.not_after)); }

std::string text_of(UsedCertificate const& certificate, WallTime now) {
    auto const left = std::chrono::floor<std::chrono::days>(certificate.not_after - now).count();
    auto const when = left < 0 ? "expired on " : "expires in " + std::to_string(left) + (left == 1 ? " day, on " : " days, on ");
    return "the certificate " + certificate.name() + " " + when + end_of(certificate) +
           "; put a new one in its file and send SIGHUP";
}

}   // namespace

UsedCertificate used_certificate(X509* certificate, std::string place) {
    return {net::subject_of(certificate), std::move(place), net::not_after(certificate), net::fingerprint_of(certificate)};
}

std::vector<UsedCertificate> with_all_places(std::vector<UsedCertificate> certificates) {
    std::vector<UsedCertificate> all;
    for (auto& one : certificates) {
        auto const is_same = [&](auto const& known) {
            return known.subject == one.subject && known.not_after == one.not_after && known.fingerprint == one.fingerprint;
        };
        auto const known = std::ranges::find_if(all, is_same);
        if (known == all.end())
            all.push_back(std::move(one));
        else
            known->place += ", " + one.place;
    }
    return all;
}

std::vector<std::string> new_certificates(std::span<UsedCertificate const> before, std::span<UsedCertificate const> after) {
    std::vector<std::string> texts;
    for (auto const& one : after) {
        auto const is_same = [&](auto const& known) { return known.fingerprint == one.fingerprint && known.place == one.place; };
        if (std::ranges::none_of(before, is_same)) texts.push_back(one.name() + ", valid until " + end_of(one));
    }
    return texts;
}

std::vector<std::string> CertificateWatch::due(std::span<UsedCertificate const> certificates, WallTime now) {
    std::vector<std::string> warnings;
    for (auto const& certificate : certificates) {
        auto const left = std::chrono::floor<std::chrono::days>(certificate.not_after - now).count();
        auto const* step = std::ranges::find_if(warning_days, [left](int days) { return left < days; });
        if (step == warning_days.end()) continue;
        auto const key = certificate.subject + std::to_string(certificate.not_after.time_since_epoch().count());
        auto const [known, is_new] = told_.try_emplace(key, *step);
        if (!is_new && known->second <= *step) continue;
        known->second = *step;
        warnings.push_back(text_of(certificate, now));
    }
    return warnings;
}

}   // namespace garner::proxy
