#include "app/reload_report.hpp"

#include <span>

#include "util/exit_code.hpp"

namespace garner::app {
namespace {

constexpr std::size_t changes_shown = 1'000;

std::string counted(std::size_t count, std::string const& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string keys(std::size_t count) { return counted(count, "key"); }

std::string joined(std::vector<std::string> const& names) {
    constexpr std::size_t most = 20;
    std::string all;
    for (std::size_t i = 0; i < names.size() && i < most; ++i) all += (i ? ", " : "") + names[i];
    return names.size() > most ? all + " and " + std::to_string(names.size() - most) + " more" : all;
}

}   // namespace

void ReloadReport::note_certificates(proxy::UsedCertificates const& before, proxy::UsedCertificates const& after) {
    auto const add = [](std::vector<std::string>& to, std::span<proxy::UsedCertificate const> from,
                        std::span<proxy::UsedCertificate const> than) {
        for (auto& text : proxy::new_certificates(from, than)) to.push_back(std::move(text));
    };
    for (auto const part : {&proxy::UsedCertificates::shown, &proxy::UsedCertificates::trusted}) {
        add(new_certificates, before.*part, after.*part);
        add(removed_certificates, after.*part, before.*part);
    }
}

void ReloadReport::note_disk(store::DiskOptions const& before, store::DiskOptions const& after) {
    if (before.path.empty() || before.path != after.path || after.size >= before.size) return;
    notices.push_back({.file = {},
                       .line = 0,
                       .key = "disk.size",
                       .text = "a smaller store begins empty: all objects on disk are discarded",
                       .mend = "keep the size, or name another disk.path to keep this store"});
}

std::vector<std::string> ReloadReport::certificate_lines() const {
    std::vector<std::string> lines;
    for (auto const& one : new_certificates) lines.push_back("new certificate: " + one);
    for (auto const& one : removed_certificates) lines.push_back("removed certificate: " + one);
    return lines;
}

std::vector<std::string> ReloadReport::pending() const {
    std::vector<std::string> names;
    for (auto const& change : changes)
        if (change.waits) names.push_back(change.key);
    return names;
}

std::string ReloadReport::summary(bool shown_only) const {
    auto const waiting = pending();
    auto const now = changes.size() - waiting.size();
    std::string text = shown_only ? "a reload would change " : "configuration reloaded: ";
    auto const added = new_certificates.size(), removed = removed_certificates.size();
    text += now > 0 ? keys(now) : added + removed == 0 ? "nothing" : "no key";
    if (!shown_only) text += " changed";
    if (added > 0) text += "; " + counted(added, "new certificate");
    if (removed > 0) text += "; " + counted(removed, "removed certificate");
    if (waiting.empty()) return text;
    return text + "; " + keys(waiting.size()) + (waiting.size() == 1 ? " waits" : " wait") + " for a takeover: " + joined(waiting);
}

int ReloadReport::exit_code() const {
    if (refused()) return exit_failed;
    return pending().empty() ? exit_done : exit_pending;
}

std::vector<std::string> ReloadReport::lines(bool shown_only) const {
    std::vector<std::string> lines;
    for (auto const& fault : faults) lines.push_back(text_of(fault));
    for (auto const& notice : notices) lines.push_back(notice_text_of(notice));
    if (refused()) {
        lines.push_back("configuration not reloaded: it has errors; the running configuration stays in use");
        return lines;
    }
    for (std::size_t i = 0; i < changes.size() && i < changes_shown; ++i) lines.push_back(changes[i].text());
    if (changes.size() > changes_shown) lines.push_back("... and " + std::to_string(changes.size() - changes_shown) + " more");
    for (auto& line : certificate_lines()) lines.push_back(std::move(line));
    lines.push_back(summary(shown_only));
    return lines;
}

}   // namespace garner::app
