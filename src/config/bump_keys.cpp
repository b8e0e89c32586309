// The keys of interception.
#include <algorithm>

#include "bump/splice_list.hpp"
#include "config/key_parts.hpp"
#include "config/matcher_form.hpp"

namespace garner::config {
namespace {

struct Verb {
    std::string_view name;
    bump::Action action;
    char const* what;
};
constexpr Verb verbs[]{
    {"splice", bump::Action::splice, "Tunnels that match are relayed without inspection."},
    {"bump", bump::Action::bump,
     "Tunnels that match are decrypted if the ClientHello names the host of the CONNECT request and offers HTTP; "
     "`bump.otherwise` decides about others."},
    {"terminate", bump::Action::terminate, "The connections of tunnels that match are closed."},
};
constexpr char const* rule_mend = R"(write { "splice": … }, { "bump": … } or { "terminate": … })";

/// Matchers of the CONNECT request; the other ones would match a part of it that has another meaning, or none.
bool check_matchers(Reader& reader, http::Matcher const& match) {
    using enum http::Matcher::Member;
    struct Row {
        char const* name;
        bool is_given;
    };
    constexpr char const* mend = "use host, host_matches, port, source, listener, certificate or time";
    for (auto const& row : {Row{"destination", !match.destination.empty()}, Row{"method", !match.method.empty()},
                            Row{"url_contains", !match.url_contains.empty()}, Row{"url_matches", !match.url_matches.empty()}})
        if (row.is_given) return reader.fault({row.name}, "is not for tunnels", mend);
    if (match.has(destination) || match.has(request))
        return reader.fault("matchers of destination, URL and fields are not for tunnels", mend);
    return check_without_users(reader, match);
}

bool read_rule(Reader& reader, Json const& value, bump::Rule& into, Form<http::Matcher> const& match) {
    if (!value.is_object()) return reader.fault("expects a rule, not " + kind_of(value), rule_mend);
    std::vector<std::string_view> names;
    for (auto const& verb : verbs) names.push_back(verb.name);
    bool good = true;
    for (auto const& [name, matchers] : value.items()) {
        Reader::Step const step(reader, std::string_view(name));
        auto const* const verb = std::ranges::find(verbs, std::string_view(name), &Verb::name);
        if (verb == std::end(verbs)) {
            reader.unknown_key(names);
            good = false;
            continue;
        }
        good = match.read(reader, matchers, into.match) && check_matchers(reader, into.match) && good;
        into.action = verb->action;
        if (into.action == bump::Action::bump && into.match.host.has_lists())
            good = reader.fault("hosts from a file are not for bump: the CA's constraints name each host", "write the hosts here");
        into.name = reader.path().substr(0, reader.path().rfind('.')) + ": " + name;
        into.matchers = text_of_matchers(matchers);
    }
    if (good && value.size() != 1) return reader.fault("a rule has one of splice, bump and terminate", rule_mend);
    return good;
}

Form<bump::Rule> bump_rule() {
    auto const match = matcher_form();
    auto read = [match](Reader& reader, Json const& value, bump::Rule& into) { return read_rule(reader, value, into, match); };
    auto describe = [match]() -> Description {
        Schema properties;
        std::vector<KeyNote> notes;
        for (auto const& verb : verbs) {
            properties.object(std::string(verb.name), match.describe().schema);
            notes.push_back({std::string(verb.name), match.written, "", verb.what});
        }
        auto schema = type_schema("object").json("additionalProperties", "false");
        schema.number("minProperties", 1).number("maxProperties", 1).object("properties", properties);
        return {std::move(schema), std::move(notes)};
    };
    return {"rules", std::move(describe), read, nullptr, true};
}

void notice_listed(Reader& reader, std::size_t rule, http::Matcher const& match) {
    for (std::size_t i = 0; i < match.host.size(); ++i) {
        std::string_view host = match.host[i].text();
        if (host.starts_with('.')) host.remove_prefix(1);
        if (bump::is_on_splice_list(host))
            reader.notice({"rules", rule, "bump", "host", i},
                          in_quotes(match.host[i].text()) + " is on the shipped splice list and is not bumped",
                          "remove it, or set bump.splice_list to false");
    }
}

void check_rules(Reader& reader, Json const&, bump::Options& options) {
    auto const& rules = options.rules.all;
    for (std::size_t i = 0; i < rules.size(); ++i)
        if (rules[i].action == bump::Action::bump && options.rules.splice_list) notice_listed(reader, i, rules[i].match);
    if (options.rules.any_bumps() && options.rules.otherwise == bump::Otherwise::splice)
        reader.notice(
            {"otherwise"},
            "lets each client avoid the rules that bump: a tunnel whose ClientHello names another host than CONNECT, or that is "
            "no TLS, is relayed without inspection",
            R"(remove it: the default is "refuse"; or write a rule { "splice": … } for the hosts that need it)");
    auto const all = std::ranges::find_if(rules, [](auto const& rule) { return rule.match.matches_all(); });
    if (all == rules.end() || all + 1 == rules.end()) return;
    auto const index = static_cast<std::size_t>(all - rules.begin());
    reader.notice({"rules", index + 1}, "is never reached: bump.rules[" + std::to_string(index) + "] matches every tunnel",
                  "move it before that rule, or remove it");
}

}   // namespace

Form<bump::Options> interception() {
    using T = bump::Options;
    using bump::Invalid;
    using bump::Learn;
    using bump::Otherwise;
    return object_of<T>(
        {
            key<T>("ca_chain", &T::ca_chain, text(),
                   "File with the certificates of the CA that signs minted certificates (PEM): the signing certificate first, then "
                   "each issuer, the root last. `garner ca init` makes it. Empty: none."),
            key<T>("ca_key", &T::ca_key, text(),
                   "File with the private key of the signing certificate (PEM, RSA or EC). Only its owner may have access (mode "
                   "0600)."),
            key<T>(
                "rules", [](T & o) -> auto& { return o.rules.all; }, list_of(bump_rule()),
                "Rules for tunnels (CONNECT) with the matchers `source`, `host`, `host_matches`, `port`, `listener`, "
                "`certificate`, "
                "`time`, `is` and `not`; the first rule that matches decides. If none matches, the tunnel is spliced. Without a "
                "rule that bumps or terminates, no tunnel is inspected."),
            key<T>(
                "splice_list", [](T & o) -> auto& { return o.rules.splice_list; }, flag(),
                "`true`: the hosts of etc/bump-splice-list.txt are spliced where a rule would bump them: banks, health services, "
                "identity providers, updates of operating systems, password managers."),
            key<T>(
                "otherwise", [](T & o) -> auto& { return o.rules.otherwise; },
                one_of<Otherwise>({{"refuse", Otherwise::refuse}, {"splice", Otherwise::splice}}),
                "Treatment of a tunnel that a rule bumps, but whose first bytes do not allow that: a ClientHello that names "
                "another host than CONNECT or none, offers no HTTP (ALPN), is malformed, or does not end within 3 s or 64 KiB, "
                "and bytes that are no TLS. `refuse`: the client gets the TLS alert access_denied, or the end of the tunnel, and "
                "the origin is not connected to. `splice`: the tunnel is relayed without inspection, so that each client can "
                "avoid the rule."),
            key<T>("invalid", &T::invalid,
                   one_of<Invalid>({{"mimic", Invalid::mimic}, {"page", Invalid::page}, {"terminate", Invalid::terminate}}),
                   "Answer to a client if the certificate of the origin is invalid. `mimic`: a certificate with the same error. "
                   "`page`: a page with status 502 and the reason. `terminate`: the connection is closed."),
            key<T>(
                "learn", &T::learn, one_of<Learn>({{"off", Learn::off}, {"client", Learn::client}, {"all", Learn::all}}),
                "Treatment of clients that accept only certain certificates (pinning). `client`: after a client has refused the "
                "minted certificate of a host twice within 10 minutes, the host is spliced for this client for 24 hours, and up "
                "to 7 days if that repeats. `all`: also for all clients while it is for three of them. The default is `off` if a "
                "rule of `access` looks at URLs, methods or fields of hosts that a rule of `bump` decrypts: such a client would "
                "avoid it."),
            key<T>("certificates", &T::certificates, count(1, million),
                   "Maximum number of minted certificates in memory, about 6 KiB each with those of the origins."),
        },
        check_rules);
}

}   // namespace garner::config
