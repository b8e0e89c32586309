#include "proxy/rule_question.hpp"

#include <algorithm>

#include "auth/groups.hpp"
#include "net/name_cache.hpp"
#include "net/resolver.hpp"
#include "proxy/decision.hpp"
#include "proxy/internal.hpp"

namespace garner::proxy {
namespace {

std::unique_ptr<FixedOrigin> origin_of(Listen const& listen) {
    if (!listen.origin) return nullptr;
    auto origin = std::make_unique<FixedOrigin>();
    origin->text = *listen.origin;
    http::UriError error;
    if (auto const uri = http::parse_absolute(origin->text, error)) origin->uri = *uri;
    return origin;
}

/// "host:443" for "https://host/path".
std::string authority_of(std::string const& url) {
    http::UriError error;
    auto const uri = http::parse_absolute(url, error);
    if (!uri) return url;
    std::string text;
    http::append_host(uri->authority, text);
    return text + ":" + std::to_string(uri->authority.port);
}

}   // namespace

std::string_view name_of(http::Decision::Verdict verdict) {
    using enum http::Decision::Verdict;
    switch (verdict) {
    case allow: return "allow";
    case deny: return "deny";
    case needs_destination: return "undecided";
    case needs_identity: return "login";
    }
    return "";
}

RuleInquiry::RuleInquiry(Options const& options, http::OwnAddresses own, auth::Groups const* groups)
    : options_(options), own_(std::move(own)), groups_(groups) {
    for (auto const& listen : options_.listen) origins_.push_back(origin_of(listen));
}

FixedOrigin const* RuleInquiry::choose_listener(std::uint16_t port) {
    auto const& all = options_.listen;
    auto const is_meant = [&](Listen const& listen) { return port == 0 ? !listen.origin : listen.port == port; };
    auto const found = std::ranges::find_if(all, is_meant);
    client_.listener = found == all.end() ? port : found->port;
    return found == all.end() ? nullptr : origins_[static_cast<std::size_t>(found - all.begin())].get();
}

std::string RuleInquiry::read_fields() {
    head_.fields.clear();
    for (auto const& line : question_.fields) {
        http::Field field;
        if (auto const* refusal = http::parse_field_line(line, field))
            return "\"" + line + "\" is not a field like \"Accept: text/html\": " + refusal;
        if (field.id != http::Name::host) head_.fields.add(field);
    }
    return {};
}

std::string RuleInquiry::ask(RuleQuestion const& question) {
    question_ = question;
    if (groups_ && question_.identity) groups_->add_listed(*question_.identity);
    auto const* origin = choose_listener(question_.listener);
    bool const is_https = question_.url.starts_with("https://");
    head_.version = http::Version::http_1_0;   // Host may be missing
    head_.method_text = question_.method;
    if (question_.method.empty()) head_.method_text = is_https && !origin ? "CONNECT" : "GET";
    if (!http::is_token(head_.method_text)) return "the method is not valid";
    head_.method = http::method_of(head_.method_text);
    bool const names_url = head_.method == http::Method::connect && question.url.find("://") != npos;
    target_text_ = names_url ? authority_of(question.url) : question.url;
    head_.target = target_text_;
    if (auto fault = read_fields(); !fault.empty()) return fault;
    if (auto const* refusal = read_target(head_, origin, target_)) return std::string("the URL is rejected: ") + refusal;
    client_.peer.address = question.source;
    facts_ = rule_request(head_, target_, client_, question.at);
    facts_.identity = question_.identity ? &*question_.identity : nullptr;
    destination_ = question.destination ? question.destination : destination_without_dns();
    return {};
}

/// The address of a host that needs no DNS. localhost has two: a request is refused only if both are.
std::optional<IpAddress> RuleInquiry::destination_without_dns() const {
    std::string name;
    net::write_cached_form(target_.uri.authority.host, name);
    if (auto const literal = parse_ip(name)) return literal;
    if (!net::is_localhost(name)) return std::nullopt;
    auto const v4 = IpAddress::v4(127, 0, 0, 1), v6 = *parse_ip("::1");
    auto const is_allowed = [&](IpAddress const& one) { return permits(options_, own_, target_, facts_, one).allowed(); };
    return !is_allowed(v4) && is_allowed(v6) ? v6 : v4;
}

bool RuleInquiry::is_own_page() const {
    if (is_refusals_page(target_, head_.method, options_)) return true;
    auto const& uri = target_.uri;
    // Logs have the host of a request in origin-form as the client wrote it: any name may lead to the proxy.
    auto const is_there = [&](Listen const& one) { return !one.origin && one.port == uri.authority.port; };
    return uri.scheme == http::Scheme::http && head_.method != http::Method::connect && !target_.accelerated &&
           is_internal_path(uri.path_and_query) && std::ranges::any_of(options_.listen, is_there);
}

http::Decision RuleInquiry::decide() const {
    if (destination_) return permits(options_, own_, target_, facts_, *destination_);
    return options_.access.decide(facts_, std::nullopt);
}

}   // namespace garner::proxy
