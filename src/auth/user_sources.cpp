#include "auth/user_sources.hpp"

#include <algorithm>
#include <utility>

#include "auth/htpasswd_source.hpp"
#include "auth/jwt_source.hpp"
#include "auth/ldap_source.hpp"
#include "auth/negotiate_source.hpp"
#include "util/text.hpp"

namespace garner::auth {
namespace {

/// `key`: that of the only file. Empty: Fault::where has the key.
template <class T>
Result<std::unique_ptr<Source>> as_source(Result<std::unique_ptr<T>> loaded, std::string const& key) {
    if (loaded) return std::unique_ptr<Source>(*std::move(loaded));
    auto const& fault = loaded.fault();
    if (key.empty()) return fault;
    return Fault{(fault.where.empty() ? "" : fault.where + ": ") + fault.what, fault.mend, key};
}

}   // namespace

Result<void> Sources::add(SourceOptions const& options, std::vector<Fault>& notices) {
    auto take = [&](auto loaded, std::string const& key) -> Result<void> {
        auto source = as_source(std::move(loaded), key);
        if (!source) return source.fault();
        this->take(*std::move(source));
        return {};
    };
    if (auto const* const one = std::get_if<HtpasswdOptions>(&options)) return take(HtpasswdSource::load(*one, notices), "file");
    if (auto const* const one = std::get_if<LdapOptions>(&options))
        return take(LdapSource::load(*one, groups_->ldap_groups(), options_.timeout), "");
    if (auto const* const one = std::get_if<NegotiateOptions>(&options)) return take(NegotiateSource::load(*one), "keytab");
    if (auto const* const one = std::get_if<JwtOptions>(&options)) return take(JwtSource::load(*one, notices), "keys");
    if (auto const* const one = std::get_if<AddressOptions>(&options))
        for (auto const& [address, user] : one->users) users_by_address_.emplace(address, lower_case(user));
    if (std::holds_alternative<CertificateOptions>(options)) takes_certificates_ = true;
    return {};
}

void Sources::take(std::unique_ptr<Source> source) {
    if (source->is_directory()) directories_.push_back(source.get());
    sources_.push_back(std::move(source));
}

Sources::Loaded Sources::load(Options const& options) {
    Loaded loaded;
    auto sources = std::make_shared<Sources>();
    sources->options_ = options;
    if (auto groups = Groups::load(options.groups))
        sources->groups_ = *std::move(groups);
    else
        loaded.faults.push_back(groups.fault().at("groups." + groups.fault().where));
    for (std::size_t i = 0; i < options.sources.size(); ++i)
        if (auto const added = sources->add(options.sources[i], loaded.notices); !added)
            loaded.faults.push_back(added.fault().at("auth.sources[" + std::to_string(i) + "]." + added.fault().where));
    if (loaded.faults.empty()) loaded.sources = std::move(sources);
    return loaded;
}

std::shared_ptr<Sources const> Sources::of(Options options, std::vector<std::unique_ptr<Source>> list) {
    auto sources = std::make_shared<Sources>();
    sources->groups_ = *Groups::load(options.groups);
    sources->options_ = std::move(options);
    for (auto& source : list) sources->take(std::move(source));
    return sources;
}

bool Sources::takes(Scheme scheme) const {
    return std::ranges::any_of(sources_, [&](auto const& source) { return source->takes(scheme); });
}

Verdict Sources::check(Credentials const& credentials, WallTime now) const {
    using Kind = Verdict::Kind;
    Verdict last{.kind = Kind::not_known, .reason = "no source takes this scheme"};
    std::string reasons;   // each source that does not know the user adds one
    for (auto const& source : sources_) {
        if (!source->takes(credentials.scheme)) continue;
        auto verdict = source->check(credentials, now);
        auto const name = std::string(source->name());
        if (verdict.kind == Kind::accepted)
            verdict.facts.source = name;
        else
            verdict.reason = name + ": " + verdict.reason;
        if (verdict.kind == Kind::accepted || verdict.kind == Kind::wrong) return verdict;
        if (verdict.kind == Kind::not_known) reasons.append(reasons.empty() ? "" : "; ").append(verdict.reason);
        // A source that is silent might have known the user: the client must not hear that the password is wrong.
        if (last.kind != Kind::unavailable) last = std::move(verdict);
    }
    if (last.kind == Kind::not_known && !reasons.empty()) last.reason = std::move(reasons);
    return last;
}

Facts Sources::facts_of(IpAddress const& client, std::span<std::string const> certificate) const {
    if (takes_certificates_ && !certificate.empty()) return {.user = lower_case(certificate.front()), .source = "certificate"};
    auto const found = users_by_address_.find(client);
    if (found == users_by_address_.end()) return {};
    return {.user = found->second, .source = "address"};
}

std::shared_ptr<http::Identity const> Sources::identity(Facts const& facts, WallTime until) const {
    http::Identity identity{facts.user, groups_->of(facts), facts.source, std::min(until, facts.until)};
    identity.unknown_groups = groups_->unknown_of(facts);
    if (!identity.unknown_groups.empty()) identity.why_unknown = facts.groups_unknown;
    identity.groups_until = facts.groups_until;
    return std::make_shared<http::Identity const>(std::move(identity));
}

bool Sources::wants_groups(Facts& facts, WallTime now) const {
    bool const is_told = std::ranges::any_of(directories_, [&](auto const* one) { return one->name() == facts.source; });
    if (is_told || groups_->ldap_groups().empty() || facts.user.empty()) return false;
    if (directories_.empty()) {
        facts.groups_unknown = "no source of users is a directory";
        return false;
    }
    return !directory_groups_->add_remembered(facts, now);
}

void Sources::find_groups(Facts& facts, WallTime now) const { directory_groups_->look_up(facts, directories_, options_, now); }

Changes Sources::refresh_users() const {
    Changes all;
    for (auto const& source : sources_) {
        auto changes = source->refresh();
        all.all = all.all || changes.all;
        std::ranges::move(changes.users, std::back_inserter(all.users));
        std::ranges::move(changes.notices, std::back_inserter(all.notices));
    }
    return all;
}

std::vector<Trouble> Sources::troubles() const {
    auto all = groups_->troubles();
    for (auto const& source : sources_) std::ranges::move(source->troubles(), std::back_inserter(all));
    return all;
}

std::vector<Source*> Sources::unprobed() const {
    std::vector<Source*> all;
    for (auto const& source : sources_)
        if (source->wants_probe()) all.push_back(source.get());
    return all;
}

}   // namespace garner::auth
