#include "bump/splice_list.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "util/text.hpp"

namespace garner::bump {
namespace {

constexpr std::string_view banks[]{
    "abnamro.nl",
    "americanexpress.com",
    "anz.com",
    "bankofamerica.com",
    "barclays.co.uk",
    "bbva.es",
    "bnpparibas",
    "bnpparibas.com",
    "capitalone.com",
    "chase.com",
    "citi.com",
    "comdirect.de",
    "commbank.com.au",
    "commerzbank.de",
    "credit-agricole.fr",
    "danskebank.dk",
    "deutsche-bank.de",
    "dkb.de",
    "fidelity.com",
    "hsbc.co.uk",
    "hsbc.com",
    "ing.com",
    "ing.de",
    "intesasanpaolo.com",
    "klarna.com",
    "labanquepostale.fr",
    "lloydsbank.co.uk",
    "mastercard.com",
    "n26.com",
    "natwest.com",
    "nordea.com",
    "paypal.com",
    "postbank.de",
    "postfinance.ch",
    "rabobank.nl",
    "raiffeisen.ch",
    "rbcroyalbank.com",
    "revolut.com",
    "santander.com",
    "schwab.com",
    "societegenerale.fr",
    "sparkasse.de",
    "stripe.com",
    "td.com",
    "ubs.com",
    "unicredit.it",
    "usbank.com",
    "vanguard.com",
    "visa.com",
    "vr.de",
    "wellsfargo.com",
    "westpac.com.au",
    "wise.com",
};

constexpr std::string_view health[]{
    "1177.se",        "ameli.fr",    "aok.de",       "barmer.de",   "doctolib.de", "doctolib.fr", "elga.gv.at",
    "healthcare.gov", "kp.org",      "medicare.gov", "mychart.com", "mychart.org", "nhs.uk",      "patientaccess.com",
    "sundhed.dk",     "teladoc.com", "tk.de",        "va.gov",      "zocdoc.com",
};

constexpr std::string_view identity[]{
    "account.gov.uk",
    "account.live.com",
    "accounts.firefox.com",
    "accounts.google.com",
    "auth0.com",
    "bankid.com",
    "bankid.no",
    "digid.nl",
    "duosecurity.com",
    "franceconnect.gouv.fr",
    "id.bund.de",
    "id.me",
    "itsme-id.com",
    "login.gov",
    "login.live.com",
    "login.microsoft.com",
    "login.microsoftonline.com",
    "login.salesforce.com",
    "login.windows.net",
    "login.yahoo.com",
    "mitid.dk",
    "msauth.net",
    "okta.com",
    "oktacdn.com",
    "onelogin.com",
    "pingidentity.com",
    "pingone.com",
    "signin.service.gov.uk",
};

constexpr std::string_view updates[]{
    "addons.mozilla.org",      "android.clients.google.com", "apple.com",     "aus5.mozilla.org",
    "cdn-apple.com",           "delivery.mp.microsoft.com",  "dl.google.com", "icloud.com",
    "officecdn.microsoft.com", "play.googleapis.com",        "snapcraft.io",  "update.googleapis.com",
    "update.microsoft.com",    "windowsupdate.com",
};

constexpr std::string_view passwords[]{
    "1password.ca",       "1password.com",     "1password.eu", "bitwarden.com", "bitwarden.eu", "dashlane.com", "enpass.io",
    "keepersecurity.com", "keepersecurity.eu", "lastpass.com", "nordpass.com",  "passbolt.com", "proton.me",    "roboform.com",
};

constexpr SpliceGroup groups[]{
    {"Banks and payments", banks},
    {"Health", health},
    {"Identity providers: passwords, second factors and tokens", identity},
    {"Updates and services of operating systems and browsers, which accept only their own certificates", updates},
    {"Password managers", passwords},
};

std::vector<std::string_view> const& sorted_domains() {
    static std::vector<std::string_view> const domains = [] {
        std::vector<std::string_view> all;
        for (auto const& group : groups) all.insert(all.end(), group.domains.begin(), group.domains.end());
        std::ranges::sort(all);
        return all;
    }();
    return domains;
}

}   // namespace

std::span<SpliceGroup const> splice_list() { return groups; }

bool is_on_splice_list(std::string_view host) {
    if (host.ends_with('.')) host.remove_suffix(1);
    std::array<char, 253> lower;   // the longest name of a host (RFC 1035 2.3.4)
    if (host.size() > lower.size()) return false;
    std::ranges::transform(host, lower.begin(), to_lower);
    std::string_view domain(lower.data(), host.size());
    for (;;) {
        if (std::ranges::binary_search(sorted_domains(), domain)) return true;
        auto const dot = domain.find('.');
        if (dot == domain.npos) return false;
        domain.remove_prefix(dot + 1);
    }
}

std::string splice_list_text() {
    std::string text =
        "# Hosts that Garner does not bump: tunnels to them are spliced where a rule of bump.rules would bump them.\n"
        "# A line is a domain and includes all names below it. The list is part of the program, and this file shows it.\n"
        "# To add hosts, write a rule before the others: { \"splice\": { \"host\": [\".example.com\"] } }\n"
        "# To replace the list, set \"bump\": { \"splice_list\": false } and write such a rule with the hosts you choose.\n";
    for (auto const& group : groups) {
        text.append("\n# ").append(group.reason).append("\n");
        for (auto const& domain : group.domains) text.append(domain).append("\n");
    }
    return text;
}

}   // namespace garner::bump
