// The keys of logins and groups.
#include <algorithm>

#include "config/address_form.hpp"
#include "config/key_parts.hpp"
#include "util/text.hpp"

namespace garner::config {
namespace {

using auth::SourceOptions;

// ---- forms ----

/// Text that is not empty.
Form<std::string> name_form(std::string what_it_is, std::string mend) {
    auto const accept = [](std::string const& value, std::string& why) {
        auto const control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
        why = value.empty() ? "is empty" : "has a control character";
        return !value.empty() && std::ranges::none_of(value, control);
    };
    return checked("text", std::move(what_it_is), std::move(mend), accept);
}

/// True without a port, and with one between 1 and 65535.
bool has_usable_port(std::string_view authority) {
    auto const colon = authority.rfind(':');
    if (colon == npos || authority.find(']', colon) != npos) return true;
    auto const port = parse_decimal(authority.substr(colon + 1));
    return port && *port > 0 && *port <= 65'535;
}

Form<std::string> directory_url() {
    auto const accept = [](std::string const& url, std::string& why) {
        auto const scheme = url.find("://");
        if (!url.starts_with("ldap://") && !url.starts_with("ldaps://")) return false;
        auto const rest = url.substr(scheme + 3);
        why = "has no host, or more than a host and a port";
        if (rest.empty() || rest.find_first_of("/? \t") != rest.npos) return false;
        why = "has no port between 1 and 65535";
        return has_usable_port(rest);
    };
    return checked("URL", "the URL of a directory", R"(write it like "ldaps://ldap.example" or "ldap://127.0.0.1:389")", accept);
}

/// RFC 4515 in part: the directory checks the rest.
Form<std::string> filter_form() {
    auto const accept = [](std::string const& filter, std::string& why) {
        int depth = 0;
        for (char const c : filter) {
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (depth < 0) break;
        }
        if (depth != 0 || !filter.starts_with('(')) return false;
        why = "does not have {user}";
        return filter.find("{user}") != filter.npos;
    };
    auto form = checked("filter", "a search filter", "write it like \"(uid={user})\"", accept);
    form.show_by(in_quotes);
    return form;
}

/// The challenges have it in quotes (RFC 9110 11.5).
Form<std::string> realm_form() {
    auto const accept = [](std::string const& realm, std::string& why) {
        why = "has a quote, a backslash or a control character, or more than 200 bytes";
        auto const bad = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f || c == '"' || c == '\\'; };
        return realm.size() <= 200 && std::ranges::none_of(realm, bad);
    };
    auto form = checked("text", "a realm", R"(write it like "Uni")", accept);
    form.show_by(in_quotes);
    return form;
}

using AddressUsers = std::vector<std::pair<IpAddress, std::string>>;

Form<AddressUsers> users_by_address() {
    auto const user = name_form("the name of a user", R"(write it like "kiosk")");
    auto read = [user](Reader& reader, Json const& value, AddressUsers& into) {
        std::string const mend = R"(write it like { "10.3.0.7": "kiosk" })";
        if (!value.is_object()) return reader.fault("expects an object, not " + kind_of(value), mend);
        into.clear();
        bool good = true;
        for (auto const& [text, name] : value.items()) {
            Reader::Step const step(reader, std::string_view(text));
            auto const address = parse_ip(text);
            std::string held;
            if (!address) reader.fault(in_quotes(text) + " is not an address", mend);
            good = user.read(reader, name, held) && address && good;
            if (good) into.emplace_back(*address, held);
        }
        return good;
    };
    auto describe = []() -> Description { return type_schema("object").object("additionalProperties", type_schema("string")); };
    return {"users by address", describe, std::move(read), nullptr};
}

// ---- sources ----

/// The key that chose the form.
template <class T>
Row<T> type_row(std::string const& type) {
    auto read = [](Reader&, Json const&, T&) { return true; };
    auto describe = [type]() -> Description { return Schema().text("const", type); };
    Row<T> row("type", read, std::move(describe));
    row.required = true;
    return row;
}

template <class T>
Form<SourceOptions> source_form(std::string const& type, Table<T> table, Afterwards<T> afterwards = nullptr) {
    table.rows.insert(table.rows.begin(), type_row<T>(type));
    auto form = object_of<T>(std::move(table), std::move(afterwards));
    auto read = [read = std::move(form.read_any)](Reader& reader, Json const& value, SourceOptions& into) {
        T options;
        if (!read(reader, value, &options)) return false;
        into = std::move(options);
        return true;
    };
    auto describe = [inner = std::move(form.describe), type] {
        auto description = inner();
        for (auto& note : description.notes) note.what.insert(0, "`" + type + "`: ");
        return description;
    };
    return {type, std::move(describe), std::move(read), nullptr, true};
}

Form<SourceOptions> htpasswd() {
    using T = auth::HtpasswdOptions;
    return source_form<T>(
        "htpasswd", {required(key<T>("file", &T::file, text(),
                                     "file of users as `htpasswd` writes it: bcrypt, SHA-crypt, yescrypt, MD5-crypt or {SHA}; "
                                     "passwords in plain text are refused. A changed file is read again within 2 s."))});
}

void check_directory(Reader& reader, Json const&, auth::LdapOptions& options) {
    if (!options.bind_dn.empty() && options.bind_password_file.empty())
        reader.fault({"bind_dn"}, "has no password", "add bind_password_file, or remove bind_dn for anonymous searches");
    auto const host = std::string_view(options.url).substr(std::min(options.url.find("://") + 3, options.url.size()));
    bool const here = host.starts_with("127.") || host.starts_with("localhost") || host.starts_with("[::1]");
    if (options.url.starts_with("ldap://") && !here)
        reader.notice({"url"}, "passwords reach the directory unencrypted", "write ldaps://");
}

Form<SourceOptions> ldap() {
    using T = auth::LdapOptions;
    return source_form<T>(
        "ldap",
        {required(key<T>("url", &T::url, directory_url(),
                         "directory: `ldaps://HOST[:PORT]`, or `ldap://` without encryption. Referrals are not followed.")),
         required(key<T>("base", &T::base, name_form("a DN", R"(write it like "dc=uni")"),
                         "DN below which users and groups are searched.")),
         key<T>("filter", &T::filter, filter_form(), "filter that finds the user; `{user}` stands for the escaped name."),
         key<T>("bind_dn", &T::bind_dn, text(), "DN for searches. Empty: anonymous."),
         key<T>("bind_password_file", &T::bind_password_file, text(),
                "file whose first line is the password of `bind_dn`. It is read for each new connection."),
         key<T>("ca_file", &T::ca_file, text(),
                "file with the CA certificates of the directory (PEM). Empty: those of the system.")},
        check_directory);
}

Form<SourceOptions> negotiate() {
    using T = auth::NegotiateOptions;
    return source_form<T>(
        "negotiate", {required(key<T>("keytab", &T::keytab, text(), "keytab with the key of HTTP/HOST@REALM for Kerberos.")),
                      key<T>("realm", &T::realm, text(),
                             "realm that is left out of names: alice@UNI.EXAMPLE is `alice`. Users of other realms keep theirs.")});
}

Form<SourceOptions> jwt() {
    using T = auth::JwtOptions;
    auto const check = [](Reader& reader, Json const&, T& options) {
        if (options.audience.empty())
            reader.notice("has no audience: tokens of the issuer for other services log in here, too", "add audience");
    };
    return source_form<T>(
        "jwt",
        {required(key<T>("keys", &T::keys, text(),
                         "file with the keys (JWK set, RFC 7517) of RS, PS, ES and HS signatures. A changed file is read again "
                         "within 2 s. Tokens are sent as Bearer, or as the password of Basic.")),
         key<T>("issuer", &T::issuer, text(), "claim `iss` that tokens must have. Empty: any."),
         key<T>("audience", &T::audience, text(), "value that the claim `aud` must have. Empty: any."),
         key<T>("user", &T::user, name_form("a claim", R"(write it like "sub")"), "claim with the name of the user.")},
        check);
}

Form<SourceOptions> address() {
    using T = auth::AddressOptions;
    return source_form<T>("address", {required(key<T>("users", &T::users, users_by_address(),
                                                      "users of requests without credentials by the client's address: "
                                                      "`{ \"10.3.0.7\": \"kiosk\" }`."))});
}

Description description_of_sources(std::vector<Form<SourceOptions>> const& forms, std::string const& types) {
    std::vector<KeyNote> notes{{"type", types, "",
                                "Kind of the source. `certificate`: the first name in the client's certificate that "
                                "`listen[].tls.client_ca` verified is the user."}};
    for (auto const& form : forms) {
        auto const inner = form.describe().notes;
        notes.insert(notes.end(), inner.begin(), inner.end());
    }
    auto schema = forms.back().describe().schema;
    for (auto form = forms.rbegin() + 1; form != forms.rend(); ++form) schema = either_schema(form->describe().schema, schema);
    return {std::move(schema), std::move(notes)};
}

/// Dispatches by `type`.
Form<SourceOptions> source() {
    std::vector<Form<SourceOptions>> const forms{htpasswd(), ldap(),    negotiate(),
                                                 jwt(),      address(), source_form<auth::CertificateOptions>("certificate", {})};
    std::vector<std::string> types;
    for (auto const& form : forms) types.push_back(form.written);
    auto const type = choice(types);
    auto read = [forms, type](Reader& reader, Json const& value, SourceOptions& into) {
        if (!value.is_object()) return reader.fault("expects an object, not " + kind_of(value), R"(write { "type": … })");
        if (!value.contains("type")) return reader.fault("has no type", "add it: " + type.written);
        std::string chosen;
        {
            Reader::Step const step(reader, std::string_view("type"));
            if (!type.read(reader, value["type"], chosen)) return false;
        }
        auto const form = std::ranges::find(forms, chosen, &Form<SourceOptions>::written);
        return form->read(reader, value, into);
    };
    return {"sources", [forms, type] { return description_of_sources(forms, type.written); }, std::move(read), nullptr, true};
}

// ---- groups ----

using Claims = std::vector<auth::ClaimPatterns>;

Form<Claims> claims() {
    auto const patterns = list_of(name_form("a pattern", R"(write it like "uni/*")"));
    auto read = [patterns](Reader& reader, Json const& value, Claims& into) {
        if (!value.is_object())
            return reader.fault("expects an object, not " + kind_of(value), R"(write it like { "repository": "uni/*" })");
        bool good = true;
        for (auto const& [claim, wanted] : value.items()) {
            Reader::Step const step(reader, std::string_view(claim));
            auto& one = into.emplace_back(auth::ClaimPatterns{claim});
            good = patterns.read(reader, wanted, one.patterns) && good;
        }
        return good;
    };
    auto describe = [patterns]() -> Description {
        return type_schema("object").object("additionalProperties", patterns.describe().schema);
    };
    return {"claims", std::move(describe), std::move(read), nullptr};
}

Form<auth::GroupOptions> group_of_users() {
    using T = auth::GroupOptions;
    auto const names = list_of(name_form("the name of a user", R"(write it like "alice" or "file:/etc/garner/staff")"));
    auto const check = [](Reader& reader, Json const&, T& group) {
        if (group.users.empty() && group.ldap.empty() && group.claims.empty())
            reader.notice("has no members", "add user, ldap or claim");
    };
    return object_of<T>(
        {key<T>(
             "user", &T::users, names,
             "Members by name; the case of letters is ignored. `file:PATH`: a file with a name a line and `#` comments, which is "
             "read again within 2 s after a change. A relative path is relative to the working directory of the process."),
         key<T>("ldap", &T::ldap, list_of(name_form("a DN", R"(write it like "cn=staff,dc=uni")")),
                "DNs of groups of the directory, whose members, also those of nested groups, are members. This holds for the users "
                "of each source: the directory is asked for their names. While it cannot tell, a deny by the group matches, and an "
                "allow does not."),
         key<T>(
             "claim", &T::claims, claims(),
             "Claims of a token: `{ \"repository\": \"uni/*\" }`. `*` stands for any text. All claims must match, each by one of "
             "its patterns.")},
        check);
}

}   // namespace

Form<auth::Options> logins() {
    using T = auth::Options;
    return object_of<T>({
        key<T>("realm", &T::realm, realm_form(), "Name that browsers show when they ask for a password."),
        key<T>("remember", &T::remember, time(milliseconds{0}, day),
               "How long a login is valid without another check; tokens at most until they expire."),
        key<T>("remember_failures", &T::remember_failures, time(milliseconds{0}, hour),
               "How long rejected credentials are rejected without another check."),
        key<T>("entries_max", &T::entries_max, count(1, 10 * million), "Maximum number of remembered results."),
        key<T>("threads", &T::threads, count(1, 64),
               "Threads that check passwords and wait for directories. Kerberos tickets have one more."),
        key<T>("timeout", &T::timeout, time(milliseconds{100}, std::chrono::minutes(1)),
               "How long a request waits for the check of its credentials, and at most 2500ms of it for a directory. Then it gets "
               "503."),
        key<T>("grace", &T::grace, time(milliseconds{0}, 30 * day),
               "How long after their last check known users are accepted while the directory does not answer. Others get 503."),
        key<T>("failures_per_minute", &T::failures_per_minute, count(0, million),
               "Failed logins of a client address (or of a /64 of IPv6) after which it gets 429 for the rest of the minute. Users "
               "whose login is remembered are not affected. 0: no limit."),
        key<T>("sources", &T::sources, list_of(source()),
               "Sources of users, asked in this order until one knows the user. Without sources no client must log in."),
    });
}

Form<std::vector<auth::GroupOptions>> groups() {
    using T = std::vector<auth::GroupOptions>;
    auto const one = group_of_users();
    auto read = [one](Reader& reader, Json const& value, T& into) {
        if (!value.is_object()) return reader.fault("expects an object, not " + kind_of(value), R"(write { "staff": { … } })");
        into.clear();
        bool good = true;
        for (auto const& [name, members] : value.items()) {
            Reader::Step const step(reader, std::string_view(name));
            auto& added = into.emplace_back(auth::GroupOptions{name});
            good = one.read(reader, members, added) && good;
        }
        return good;
    };
    auto describe = [one]() -> Description {
        auto [schema, notes] = one.describe();
        for (auto& note : notes) note.path.insert(0, "NAME.");
        return {type_schema("object").object("additionalProperties", std::move(schema)), std::move(notes)};
    };
    return {"groups", std::move(describe), std::move(read), nullptr};
}

}   // namespace garner::config
