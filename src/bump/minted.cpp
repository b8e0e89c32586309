#include "bump/minted.hpp"

#include <string>
#include <utility>
#include <vector>

#include "net/certificate_text.hpp"
#include "util/hash.hpp"

namespace garner::bump {

bool MintedCertificates::Entry::is_good(WallTime now) const {
    return certificate && day == std::chrono::floor<std::chrono::days>(now) && now < certificate->not_after();
}

MintedCertificates::Pointer MintedCertificates::find(std::string_view origin, WallTime now) {
    MutexLock const lock(mutex_);
    auto const* const entry = entries_.use(origin);
    return entry && entry->is_good(now) && now < entry->verified + verified_for ? entry->certificate : nullptr;
}

void MintedCertificates::note_verified(std::string_view origin, VerifiedOrigin noted) {
    MutexLock const lock(mutex_);
    entries_.get(origin, most_).noted = std::move(noted);
}

VerifiedOrigin MintedCertificates::take_verified(std::string_view origin, WallTime now) {
    MutexLock const lock(mutex_);
    auto* const entry = entries_.use(origin);
    if (!entry || !entry->noted.certificate) return {};
    auto noted = std::exchange(entry->noted, {});
    bool const is_good = now < noted.at + verified_for && now < net::not_after(noted.certificate.get());
    return is_good ? noted : VerifiedOrigin{};
}

MintedCertificates::Pointer MintedCertificates::renew(std::string_view origin, Likeness const& likeness, WallTime verified,
                                                      WallTime now) {
    MutexLock const lock(mutex_);
    auto* const entry = entries_.use(origin);
    if (!entry || !entry->is_good(now) || entry->likeness != hash_of(likeness)) return nullptr;
    entry->verified = verified;
    return entry->certificate;
}

void MintedCertificates::add(std::string_view origin, Likeness const& likeness, Pointer certificate, WallTime verified,
                             WallTime now) {
    MutexLock const lock(mutex_);
    auto& entry = entries_.get(origin, most_);
    entry.certificate = std::move(certificate);
    entry.likeness = hash_of(likeness);
    entry.day = std::chrono::floor<std::chrono::days>(now);
    entry.verified = verified;
}

void MintedCertificates::resize(std::size_t most) {
    MutexLock const lock(mutex_);
    most_ = most;
}

void MintedCertificates::clear() {
    MutexLock const lock(mutex_);
    std::vector<std::string> origins;
    entries_.for_each([&](std::string const& origin, Entry const&) { origins.push_back(origin); });
    for (auto const& origin : origins) entries_.erase(origin);
}

std::size_t MintedCertificates::size() {
    MutexLock const lock(mutex_);
    return entries_.size();
}

std::uint64_t MintedCertificates::hash_of(Likeness const& likeness) const {
    std::string text = std::to_string(unix_seconds(likeness.begin)) + " " + std::to_string(unix_seconds(likeness.end));
    for (auto const& name : likeness.names) text.append(" ").append(name);
    return fingerprint(text, seed_);
}

}   // namespace garner::bump
