// Users: logins by file, directory, Kerberos and address, and refusals that help.
#include <signal.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "story/scene.hpp"
#include "story/tls/secure_listener.hpp"
#include "support/certificate.hpp"
#include "support/credentials.hpp"
#include "support/kdc.hpp"
#include "support/programs.hpp"
#include "support/slapd.hpp"

namespace garner::test {

namespace {

using nlohmann::json;

struct Logins : ::testing::Test {
    TempDir dir;
    std::string const users = dir.write("users", std::string(alice) + bob);
    Origin origin;

    /// Users of the file, and these rules.
    json patch(json access, json more = json::object()) const {
        json all{{"workers", 1},
                 {"log", {{"format", "json"}}},
                 {"auth", {{"realm", "Uni"}, {"sources", {{{"type", "htpasswd"}, {"file", users}}}}}},
                 {"groups", {{"staff", {{"user", {"bob"}}}}}},
                 {"access", std::move(access)}};
        all.merge_patch(more);
        return all;
    }
    json const known_users{{{"allow", {{"user", "*"}, {"destination", "127.0.0.0/8"}, {"port", "1-65535"}}}}, {{"deny", "all"}}};
};

}   // namespace

TEST_F(Logins, are_asked_for_and_share_what_is_stored) {
    origin.answer("/page", fresh("page"));
    Proxy proxy(patch(known_users).dump());
    Client client(proxy, origin);
    auto const asked = client.get("/page");
    EXPECT_EQ(asked.status(), 407);
    EXPECT_EQ(asked.field("Proxy-Authenticate"), R"(Basic realm="Uni", charset="UTF-8")");
    EXPECT_EQ(client.get("/page", login("alice:wrong")).status(), 407);
    EXPECT_EQ(origin.connections(), 0u);
    EXPECT_EQ(client.get("/page", login("alice:wonder")).body(), "page");
    EXPECT_EQ(client.get("/page", login("Alice:wonder")).body(), "page");
    EXPECT_TRUE(client.get("/page", login("bob:builder")).hit());
    EXPECT_EQ(proxy.logged("/page", 5).all["user"], "bob");
    EXPECT_EQ(client.get("/page").status(), 407);   // each request logs in
    EXPECT_EQ(client.connections(), 1);
    EXPECT_EQ(origin.requests("/page"), 1u);
    EXPECT_FALSE(origin.last("/page").head.has("Proxy-Authorization"));
    EXPECT_THAT(read_file(proxy.log_file()), Not(HasSubstr("wonder")));
}

TEST_F(Logins, are_not_asked_for_by_rules_that_need_none) {
    origin.answer("/open", fresh("open"));
    origin.answer("/closed", fresh("closed"));
    Proxy proxy(patch({{{"deny", {{"url_contains", "/closed"}}}},
                       {{"allow", {{"url_contains", "/open"}, {"destination", "127.0.0.0/8"}}}},
                       {{"allow", {{"group", "staff"}, {"destination", "127.0.0.0/8"}}}}})
                    .dump());
    EXPECT_EQ(get(proxy, origin, "/open").body(), "open");
    EXPECT_EQ(get(proxy, origin, "/closed").status(), 403);
    EXPECT_EQ(get(proxy, origin, "/other").status(), 407);
    EXPECT_EQ(get(proxy, origin, "/other", login("alice:wonder")).status(), 403);   // known, but no member
    EXPECT_EQ(get(proxy, origin, "/other", login("bob:builder")).status(), 404);
}

TEST_F(Logins, malformed_credentials_are_refused_without_a_check) {
    Proxy proxy(patch(known_users).dump());
    Client client(proxy, origin);
    for (auto const* value : {"Basic !!!", "Basic YWxpY2U=", "Digest a=b", "Basic", "Basic AAA6AA=="})
        EXPECT_EQ(client.get("/page", {{"Proxy-Authorization", value}}).status(), 407) << value;
    EXPECT_EQ(client.get("/page", {{"Proxy-Authorization", "Basic " + std::string(60'000, 'A')}}).status(), 407);
    EXPECT_EQ(client.connections(), 1);
    EXPECT_EQ(origin.requests("/page"), 0u);
}

TEST_F(Logins, two_lines_are_no_login) {
    origin.answer("/open", fresh("open"));
    origin.answer("/page", fresh("page"));
    auto rules = known_users;
    rules.insert(rules.begin(), json{{"allow", {{"url_contains", "/open"}, {"destination", "127.0.0.0/8"}, {"port", "1-65535"}}}});
    Proxy proxy(patch(rules).dump());
    Client client(proxy, origin);
    auto two = login("alice:wonder");
    two.push_back(two.front());
    auto const asked = client.get("/page", two);
    EXPECT_EQ(asked.status(), 407);
    EXPECT_THAT(asked.field("Proxy-Authenticate"), StartsWith("Basic"));
    EXPECT_THAT(std::string(proxy.logged("/page").all["reason"]), HasSubstr("more than one line of Proxy-Authorization"));
    EXPECT_EQ(origin.requests("/page"), 0u);
    EXPECT_EQ(client.get("/open", two).body(), "open");   // no rule asks
    EXPECT_EQ(proxy.logged("/open").all.value("reason", ""), "");
    EXPECT_EQ(client.connections(), 1);
}

TEST_F(Logins, a_token_beyond_the_largest_head_gets_407) {
    Proxy proxy(patch(known_users).dump());
    auto const token = "Negotiate " + std::string(std::size_t{64} * 1024, 'A');
    Client client(proxy, origin);
    auto const asked = client.get("/page", {{"User-Agent", "test"}, {"Proxy-Authorization", token}, {"Accept", "*/*"}});
    EXPECT_EQ(asked.status(), 407);
    EXPECT_THAT(asked.field("Proxy-Authenticate"), StartsWith("Basic"));
    EXPECT_TRUE(client.closed_by_proxy());
    EXPECT_EQ(get(proxy, origin, "/page", {{"Cookie", token}}).status(), 431);
    EXPECT_EQ(origin.requests("/page"), 0u);
    Proxy without_users;
    EXPECT_EQ(get(without_users, origin, "/page", {{"Proxy-Authorization", token}}).status(), 431);
}

TEST_F(Logins, curl_hears_407_for_a_token_beyond_the_largest_head) {
    NEEDS("curl");
    CertificateFiles const files("localhost");
    Proxy proxy(Proxy::Setup{.patch = patch(known_users).dump(), .tls = files.tls()});
    auto const header = dir.write("header", "Proxy-Authorization: Negotiate " + std::string(std::size_t{64} * 1024, 'A') + "\n");
    auto const curl = [&](std::vector<std::string> const& more) {
        std::vector<std::string> command{
            "curl",           "-sS",       "--max-time", "20", "-o", "/dev/null", "-w", "%{http_code} %{http_connect}",
            "--proxy-header", "@" + header};
        command.insert(command.end(), more.begin(), more.end());
        return run(command, 30s).output;
    };
    EXPECT_EQ(curl({"-x", proxy.url(), origin.url("/page")}), "407 000");
    EXPECT_EQ(curl({"-x", proxy.url(), "-p", origin.url("/page")}), "000 407");
    auto const secure = "https://localhost:" + std::to_string(proxy.secure());
    EXPECT_EQ(curl({"-x", secure, "--proxy-cacert", files.chain(), origin.url("/page")}), "407 000");
    EXPECT_EQ(origin.requests("/page"), 0u);
}

TEST_F(Logins, failures_of_one_address_do_not_lock_out_another) {
    origin.answer("/page", fresh("page"));
    Proxy proxy(patch(known_users, {{"auth", {{"failures_per_minute", 3}}}}).dump());
    Client guesser(proxy, origin);
    guesser.from("127.0.0.9");
    int limited = 0;
    for (int i = 0; i < 6; ++i) limited += guesser.get("/page", login("alice:" + std::to_string(i))).status() == 429;
    EXPECT_EQ(limited, 3);
    Client client(proxy, origin);
    EXPECT_EQ(client.get("/page", login("alice:wonder")).body(), "page");
}

TEST_F(Logins, follow_the_users_file_within_two_seconds) {
    origin.answer("/page", fresh("page"));
    Proxy proxy(patch(known_users).dump());
    Client client(proxy, origin);
    EXPECT_EQ(client.get("/page", login("alice:wonder")).status(), 200);
    dir.write("users", bob);
    EXPECT_TRUE(eventually([&] { return client.get("/page", login("alice:wonder")).status() == 407; }));
    EXPECT_EQ(client.get("/page", login("bob:builder")).status(), 200);
}

TEST_F(Logins, whose_file_vanishes_go_on_and_the_health_is_in_trouble) {
    origin.answer("/page", fresh("page"));
    Proxy proxy(patch(known_users).dump());
    auto const health = [&](std::vector<std::string> more) {
        std::vector<std::string> words{garner_binary(), "health", "--config", proxy.dir().path("garner.json").string()};
        words.insert(words.end(), more.begin(), more.end());
        return run(words);
    };
    EXPECT_EQ(health({"--level", "attention"}).code, 0);
    std::filesystem::remove(users);
    ASSERT_TRUE(eventually([&] { return health({"--level", "trouble"}).code == 1; })) << proxy.stats()["health"];
    auto const said = health({});
    EXPECT_EQ(said.code, 0) << "it serves";
    EXPECT_THAT(said.output,
                StartsWith("serving\nTrouble: " + users + " cannot be read: No such file or directory; its last users stay"));
    EXPECT_EQ(get(proxy, origin, "/page", login("alice:wonder")).status(), 200);
    auto const scrape = Client("127.0.0.1", proxy.admin()).get("/metrics").body();
    EXPECT_THAT(scrape, HasSubstr("garner_health{check=\"user_files\"} 2\n"));
    dir.write("users", alice);
    EXPECT_TRUE(eventually([&] { return health({"--level", "attention"}).code == 0; })) << proxy.stats()["health"];
    EXPECT_TRUE(proxy.says("users: is read again")) << proxy.errors();
    EXPECT_EQ(health({"--level", "bad"}).code, 2);
}

TEST_F(Logins, curl_logs_in_for_GET_POST_and_CONNECT) {
    NEEDS("curl");
    origin.answer("/page", fresh("page"));
    origin.answer("/form", no_store("taken"));
    Certificate const certificate("localhost");
    Origin secure({.certificate = &certificate});
    secure.answer("/page", fresh("secure"));
    Proxy proxy(patch(known_users).dump());
    auto const curl = [&](std::string const& user, std::vector<std::string> const& more) {
        std::vector<std::string> command{"curl",         "-sSk", "--max-time", "20", "-x", proxy.url(), "--proxy-anyauth",
                                         "--proxy-user", user};
        command.insert(command.end(), more.begin(), more.end());
        return run(command, 30s);
    };
    EXPECT_EQ(curl("alice:wonder", {origin.url("/page")}).output, "page");
    EXPECT_EQ(curl("alice:wonder", {"-d", "a=b", origin.url("/form")}).output, "taken");
    EXPECT_EQ(curl("alice:wonder", {"https://localhost:" + std::to_string(secure.port()) + "/page"}).output, "secure");
    EXPECT_EQ(curl("alice:guess", {"https://localhost:" + std::to_string(secure.port()) + "/page"}).code, 56);
    auto const is_alices = [](Logged const& line) { return line.method == "CONNECT" && line.all["user"] == "alice"; };
    EXPECT_TRUE(eventually([&] { return std::ranges::any_of(proxy.log(), is_alices); }));
}

TEST_F(Logins, a_directory_knows_users_and_groups) {
    NEEDS("slapd");
    Slapd directory(
        "dn: uid=carol,dc=uni\nobjectClass: account\nobjectClass: simpleSecurityObject\nuid: carol\nuserPassword: secret\n");
    origin.answer("/page", fresh("page"));
    auto const more = json{{"auth", {{"sources", {{{"type", "ldap"}, {"url", directory.url()}, {"base", "dc=uni"}}}}}}};
    Proxy proxy(patch(known_users, more).dump());
    Client client(proxy, origin);
    EXPECT_EQ(client.get("/page", login("carol:secret")).body(), "page");
    EXPECT_EQ(client.get("/page", login("carol:secret")).body(), "page");
    EXPECT_EQ(directory.binds("uid=carol,dc=uni"), 1u);
    EXPECT_EQ(client.get("/page", login("carol:")).status(), 407);
    directory.stop();
    EXPECT_EQ(client.get("/page", login("carol:secret")).body(), "page");   // remembered
    auto const unknown = client.get("/page", login("dave:x"));
    EXPECT_EQ(unknown.status(), 503);
    EXPECT_NE(unknown.field("Retry-After"), "");
}

/// A campus: students by the directory, who may log in by password, ticket, users' file or address.
struct Campus : Logins {
    static constexpr char const* people =
        "dn: uid=carol,dc=uni\nobjectClass: account\nobjectClass: simpleSecurityObject\nuid: carol\nuserPassword: secret\n\n"
        "dn: uid=alice,dc=uni\nobjectClass: account\nuid: alice\n\n"
        "dn: cn=students,dc=uni\nobjectClass: groupOfNames\ncn: students\nmember: uid=carol,dc=uni\n"
        "member: uid=alice,dc=uni\nmember: uid=kiosk,dc=uni\n\n"
        "dn: uid=kiosk,dc=uni\nobjectClass: account\nuid: kiosk\n";
    json const exams{{{"name", "exams"}, {"deny", {{"group", "students"}, {"url_contains", "/exam"}}}},
                     {{"allow", {{"user", "*"}, {"destination", "127.0.0.0/8"}, {"port", "1-65535"}}}},
                     {{"deny", "all"}}};

    json with_sources(json sources) const {
        return json{{"auth", {{"sources", std::move(sources)}}}, {"groups", {{"students", {{"ldap", "cn=students,dc=uni"}}}}}};
    }
    json ldap(Slapd const& directory) const { return {{"type", "ldap"}, {"url", directory.url()}, {"base", "dc=uni"}}; }
};

TEST_F(Campus, a_group_of_the_directory_holds_for_the_users_of_each_source) {
    NEEDS("slapd");
    NEEDS("krb5kdc");
    NEEDS("curl");
    Slapd directory(people);
    Kdc kdc;
    kdc.add_user("carol", "secret");
    auto const keytab = kdc.add_service("HTTP/localhost");
    auto const as_carol = kdc.log_in("carol", "secret");
    origin.answer("/page", fresh("page"));
    origin.answer("/exam", fresh("exam"));
    auto const sources = json::array({{{"type", "address"}, {"users", {{"127.0.0.7", "kiosk"}}}},
                                      {{"type", "negotiate"}, {"keytab", keytab}, {"realm", Kdc::realm}},
                                      {{"type", "htpasswd"}, {"file", users}},
                                      ldap(directory)});
    Proxy proxy({.patch = patch(exams, with_sources(sources)).dump(), .environment = kdc.environment()});
    auto const by_ticket = [&](std::string const& path) {
        std::vector<std::string> command{"env"};
        command.insert(command.end(), as_carol.begin(), as_carol.end());
        for (std::string const word : {"curl", "-sS", "--max-time", "20", "--proxy-negotiate", "--proxy-user", ":", "-o",
                                       "/dev/null", "-w", "%{http_code}", "-x"})
            command.push_back(word);
        command.push_back("http://localhost:" + std::to_string(proxy.port()));
        command.push_back(origin.url(path));
        return run(command, 30s).output;
    };
    EXPECT_EQ(get(proxy, origin, "/exam", login("carol:secret")).status(), 403) << "the directory's own user";
    EXPECT_EQ(by_ticket("/exam"), "403");
    EXPECT_EQ(by_ticket("/page"), "200");
    EXPECT_EQ(get(proxy, origin, "/exam", login("alice:wonder")).status(), 403) << "a user of the file, who is a student";
    EXPECT_EQ(get(proxy, origin, "/page", login("alice:wonder")).status(), 200);
    EXPECT_EQ(get(proxy, origin, "/exam", login("bob:builder")).status(), 200) << "no student";
    Client kiosk(proxy, origin);
    kiosk.from("127.0.0.7");
    EXPECT_EQ(kiosk.get("/page").status(), 200);
    EXPECT_EQ(kiosk.get("/exam").status(), 403);
}

TEST_F(Campus, a_connection_that_a_ticket_has_opened_has_its_groups_looked_up_again_without_a_login) {
    NEEDS("slapd");
    NEEDS("krb5kdc");
    NEEDS("curl");
    Slapd directory(people);
    Kdc kdc;
    kdc.add_user("carol", "secret");
    auto const keytab = kdc.add_service("HTTP/localhost");
    auto const as_carol = kdc.log_in("carol", "secret");
    origin.answer("/page", fresh("page"));
    origin.answer("/exam", fresh("exam"));
    origin.answer("/ticket", no_store("taken"));
    auto more = with_sources(json::array({{{"type", "negotiate"}, {"keytab", keytab}, {"realm", Kdc::realm}},
                                          {{"type", "htpasswd"}, {"file", users}},
                                          ldap(directory)}));
    more["auth"]["remember"] = "1s";
    Proxy proxy({.patch = patch(exams, more).dump(), .environment = kdc.environment()});
    std::vector<std::string> command{"env"};
    command.insert(command.end(), as_carol.begin(), as_carol.end());
    for (std::string const word : {"curl", "-sS", "--max-time", "20", "--proxy-negotiate", "--proxy-user", ":", "-x"})
        command.push_back(word);
    command.push_back("http://localhost:" + std::to_string(origin.port()));
    command.push_back("http://localhost/ticket");
    run(command, 30s);   // for its ticket
    Client user(proxy, origin);
    auto const ticket = origin.last("/ticket").head.field("Proxy-Authorization");
    EXPECT_EQ(user.get("/page", {{"Proxy-Authorization", ticket}}).status(), 200);
    for (int i = 0; i < 2; ++i) {
        std::this_thread::sleep_for(1100ms);   // auth.remember
        EXPECT_EQ(user.get("/page").status(), 200);
    }
    EXPECT_EQ(user.connections(), 1);
    EXPECT_EQ(user.get("/exam").status(), 403);
}

TEST_F(Campus, while_the_directory_is_silent_a_deny_by_group_matches_and_the_log_says_so) {
    NEEDS("slapd");
    Slapd directory(people);
    origin.answer("/page", fresh("page"));
    origin.answer("/exam", fresh("exam"));
    auto const sources = json::array({{{"type", "htpasswd"}, {"file", users}}, ldap(directory)});
    Proxy proxy(patch(exams, with_sources(sources)).dump());
    directory.stop();
    EXPECT_EQ(get(proxy, origin, "/page", login("bob:builder")).status(), 200);
    EXPECT_EQ(get(proxy, origin, "/exam", login("bob:builder")).status(), 403);
    EXPECT_THAT(std::string(proxy.logged("/exam").all["reason"]), StartsWith("The groups of bob are unknown (ldap: "));
    directory.start();
    EXPECT_TRUE(eventually([&] { return get(proxy, origin, "/exam", login("bob:builder")).status() == 200; }));
}

TEST_F(Campus, a_directory_that_is_down_is_trouble_before_a_login_shows_it) {
    NEEDS("slapd");
    Slapd directory(people);
    directory.stop();
    Proxy proxy(patch(exams, with_sources(json::array({ldap(directory)}))).dump());
    ASSERT_TRUE(proxy.says(directory.url() + ": the directory cannot be asked: ")) << proxy.errors();
    auto const health = proxy.stats()["health"];
    EXPECT_EQ(health["state"], "trouble");
    EXPECT_THAT(std::string(health["sentence"]), StartsWith("Trouble: the directory " + directory.url() + " cannot be asked"));
    EXPECT_EQ(health["checks"]["directory"], 2);
    directory.start();
    auto const answers_again = [&] { return proxy.errors().find(directory.url() + ": answers again") != std::string::npos; };
    EXPECT_TRUE(eventually(answers_again, Millis{30'000})) << proxy.errors();
    EXPECT_EQ(proxy.stats()["health"]["checks"]["directory"], 0);
}

TEST_F(Campus, explain_and_rules_why_ask_the_directory_or_say_that_nothing_did) {
    NEEDS("slapd");
    Slapd directory(people);
    origin.answer("/exam", fresh("exam"));
    auto const sources = json::array({{{"type", "htpasswd"}, {"file", users}}, ldap(directory)});
    Proxy proxy(patch(exams, with_sources(sources)).dump());
    auto const file = proxy.dir().path("garner.json").string();
    auto const asked = [&](std::vector<std::string> words) {
        words.insert(words.begin(), garner_binary());
        for (auto const& word : {origin.url("/exam"), std::string("--config"), file}) words.push_back(word);
        return run(words);
    };
    EXPECT_THAT(asked({"explain", "--user", "Carol"}).output, HasSubstr("carol, in students"));
    EXPECT_EQ(json::parse(asked({"explain", "--json", "--user", "carol"}).output)["outcome"], "denied");
    EXPECT_EQ(json::parse(asked({"explain", "--json", "--user", "bob"}).output)["outcome"], "miss");
    EXPECT_THAT(asked({"rules", "why", "--user", "carol"}).output, StartsWith("deny by exams"));
    auto const known = asked({"rules", "why", "--user", "bob"});
    EXPECT_THAT(known.output, StartsWith("allow by"));
    EXPECT_EQ(known.errors, "");
    directory.stop();
    auto const silent = asked({"explain", "--user", "dave"}).output;
    EXPECT_THAT(silent, HasSubstr("unknown: students (ldap: "));
    EXPECT_EQ(get(proxy, origin, "/exam", login("alice:wonder")).status(), 403);
    auto const id = std::string(proxy.logged("/exam").all["id"]);
    EXPECT_THAT(run({garner_binary(), "rules", "why", "--id", id, "--config", file}).output, StartsWith("deny by exams"));
    proxy.stop();
    auto const alone = asked({"rules", "why", "--user", "bob"});
    EXPECT_THAT(alone.output, StartsWith("deny by exams"));
    EXPECT_THAT(alone.errors,
                HasSubstr("notice: it is not known whether bob is in students (no running proxy asked the directory"));
}

TEST_F(Logins, a_ticket_opens_the_connection) {
    NEEDS("curl");
    NEEDS("krb5kdc");
    Kdc kdc;
    kdc.add_user("erin", "secret");
    auto const keytab = kdc.add_service("HTTP/localhost");
    auto const as_erin = kdc.log_in("erin", "secret");
    origin.answer("/page", fresh("page"));
    origin.answer("/form", no_store("taken"));
    auto const more = json{{"auth", {{"sources", {{{"type", "negotiate"}, {"keytab", keytab}, {"realm", Kdc::realm}}}}}}};
    auto rules = known_users;
    rules.insert(rules.begin(), json{{"name", "closed"}, {"deny", {{"url_contains", "/closed"}, {"user", "erin"}}}});
    Proxy proxy({.patch = patch(rules, more).dump(), .environment = kdc.environment()});
    auto const curl_through = [&](std::uint16_t port, std::vector<std::string> const& words) {
        std::vector<std::string> command{"env"};
        command.insert(command.end(), as_erin.begin(), as_erin.end());
        for (std::string const word : {"curl", "-sS", "--max-time", "20", "--proxy-negotiate", "--proxy-user", ":", "-x"})
            command.push_back(word);
        command.push_back("http://localhost:" + std::to_string(port));
        command.insert(command.end(), words.begin(), words.end());
        auto const got = run(command, 30s);
        return got.output + got.errors;
    };
    auto const curl = [&](std::vector<std::string> const& words) { return curl_through(proxy.port(), words); };
    EXPECT_EQ(curl({origin.url("/page"), origin.url("/page")}), "pagepage");
    EXPECT_EQ(proxy.logged("/page", 2).all["user"], "erin");
    EXPECT_EQ(curl({"-d", "a=b", origin.url("/form")}), "taken");
    EXPECT_EQ(curl({"-p", origin.url("/page")}), "page");
    Client client(proxy, origin);
    EXPECT_EQ(client.get("/page").field("Proxy-Authenticate"), "Negotiate");

    // NTLM inside Negotiate: no Negotiate is offered again, so that the client does not repeat it.
    auto const ntlm = client.get("/page", {{"Proxy-Authorization", "Negotiate TlRMTVNTUAABAAAA"}});
    EXPECT_EQ(ntlm.status(), 403) << "there is nothing else to ask for";
    EXPECT_FALSE(ntlm.has("Proxy-Authenticate"));

    // curl sends a ticket with each request. Here one logs the connection in, unless another proxy may share it among users.
    origin.answer("/ticket", no_store("taken"));
    auto const ticket = [&] {
        curl_through(origin.port(), {"http://localhost/ticket"});   // not used by the proxy
        return Fields{{"Proxy-Authorization", origin.last("/ticket").head.field("Proxy-Authorization")}};
    };
    Client user(proxy, origin);
    EXPECT_EQ(user.get("/page", ticket()).body(), "page");
    EXPECT_EQ(user.get("/page").body(), "page");
    for (auto const& forwarded : Fields{{"Via", "1.1 child"}, {"X-Forwarded-For", "10.0.0.9"}, {"Forwarded", "for=10.0.0.9"}}) {
        EXPECT_EQ(user.get("/page", {forwarded}).status(), 407) << forwarded.first;
        auto fields = ticket();
        fields.push_back(forwarded);
        Client child(proxy, origin);
        EXPECT_EQ(child.get("/page", fields).body(), "page") << forwarded.first;
        EXPECT_EQ(child.get("/page").status(), 407) << forwarded.first;
    }
    EXPECT_EQ(user.get("/page").body(), "page");
    EXPECT_EQ(user.connections(), 1);

    EXPECT_THAT(curl({origin.url("/closed")}), HasSubstr("closed (access[0]: deny)"));
    Client browser(proxy);
    EXPECT_EQ(browser.get("http://garner.internal/").field("Proxy-Authenticate"), "Negotiate");
    EXPECT_THAT(curl({"http://garner.internal/"}), HasSubstr("user: erin"));   // on a new connection
}

TEST_F(Logins, the_strongest_scheme_is_offered_first) {
    NEEDS("krb5kdc");
    Kdc kdc;
    auto const keys = dir.write("jwks.json", R"({"keys": [{"kty": "oct", "k": "YSBrZXkgb2YgdGhpcnR5LXR3byBieXRlcywgZml4ZWQ"}]})");
    json const sources{{{"type", "htpasswd"}, {"file", users}},
                       {{"type", "jwt"}, {"keys", keys}, {"issuer", "ci"}, {"audience", "garner"}},
                       {{"type", "negotiate"}, {"keytab", kdc.add_service("HTTP/localhost")}, {"realm", Kdc::realm}}};
    Proxy proxy({.patch = patch(known_users, {{"auth", {{"sources", sources}}}}).dump(), .environment = kdc.environment()});
    Client client(proxy, origin);
    auto const asked = client.get("/page");
    std::vector<std::string> const weaker{R"(Bearer realm="Uni")", R"(Basic realm="Uni", charset="UTF-8")"};
    EXPECT_THAT(asked.head().all("Proxy-Authenticate"), testing::ElementsAre("Negotiate", weaker[0], weaker[1]));
    EXPECT_EQ(asked.field("Cache-Control"), "no-store");
    auto const ntlm = client.get("/page", {{"Proxy-Authorization", "Negotiate TlRMTVNTUAABAAAA"}});
    EXPECT_EQ(ntlm.status(), 407);
    EXPECT_EQ(ntlm.head().all("Proxy-Authenticate"), weaker);
    EXPECT_EQ(client.connections(), 1);
}

TEST_F(Logins, visitors_of_an_accelerator_are_not_asked) {
    origin.answer("/page", fresh("page"));
    json const for_users{{{"allow", {{"user", "*"}, {"destination", "127.0.0.0/8"}, {"port", "1-65535"}}}}, {{"deny", "all"}}};
    json const but_bob{{{"deny", {{"user", "bob"}}}}, {{"allow", {{"destination", "127.0.0.0/8"}, {"port", "1-65535"}}}}};
    for (auto const& rules : {for_users, but_bob}) {
        Proxy proxy({.patch = patch(rules).dump(), .accelerates = origin.url()});
        for (auto const& fields : {Fields{}, login("alice:wonder")})
            EXPECT_EQ(Client("127.0.0.1", proxy.accelerator()).get("/page", fields).status(), 403) << rules;
        EXPECT_EQ(get(proxy, origin, "/page").status(), 407) << rules;
        EXPECT_EQ(get(proxy, origin, "/page", login("alice:wonder")).status(), 200) << rules;
    }
}

TEST_F(Logins, the_page_of_refusals_asks_for_the_login_that_shows_them) {
    auto rules = known_users;
    rules.insert(rules.begin(), json{{"name", "closed"}, {"deny", {{"url_contains", "/closed"}, {"user", "alice"}}}});
    Proxy proxy(patch(rules).dump());
    Client client(proxy, origin), browser(proxy);
    auto const page = "http://garner.internal/";
    EXPECT_EQ(browser.get(page).status(), 200);   // nothing is hidden
    EXPECT_EQ(client.get("/closed", login("alice:wonder")).status(), 403);
    auto const asked = browser.get(page);
    EXPECT_EQ(asked.status(), 407);
    EXPECT_NE(asked.field("Proxy-Authenticate"), "");
    EXPECT_THAT(asked.body(), Not(HasSubstr("/closed")));
    EXPECT_EQ(browser.get(page, login("alice:guess")).status(), 407);
    auto const alices = browser.get(page, login("alice:wonder"));
    EXPECT_EQ(alices.status(), 200);
    EXPECT_THAT(alices.body(), HasSubstr("/closed"));
    auto const bobs = browser.get(page, login("bob:builder"));   // his first request
    EXPECT_EQ(bobs.status(), 200);
    EXPECT_THAT(bobs.body(), Not(HasSubstr("/closed")));
    for (auto const& forwarded : Fields{{"Via", "1.1 child"}, {"X-Forwarded-For", "10.0.0.9"}, {"Forwarded", "for=10.0.0.9"}}) {
        EXPECT_EQ(browser.get(page, {forwarded}).status(), 200) << forwarded.first;
        auto headers = login("alice:wonder");
        headers.push_back(forwarded);
        EXPECT_THAT(browser.get(page, headers).body(), Not(HasSubstr("/closed"))) << "other users may share the connection";
    }
}

TEST_F(Logins, curl_with_NTLM_is_asked_for_another_scheme) {
    NEEDS("curl");
    origin.answer("/page", fresh("page"));
    Proxy proxy(patch(known_users).dump());
    auto const curl = [&](char const* option) {
        return run({"curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "20", option, "--proxy-user",
                    "alice:wonder", "-x", proxy.url(), origin.url("/page")},
                   30s)
            .output;
    };
    EXPECT_EQ(curl("--proxy-ntlm"), "407");
    EXPECT_THAT(std::string(proxy.logged("/page").all["reason"]), HasSubstr("the scheme is none of Basic, Bearer and Negotiate"));
    EXPECT_EQ(curl("--proxy-anyauth"), "200");
}

TEST_F(Logins, curl_shows_a_token_for_GET_POST_and_CONNECT) {
    NEEDS("curl");
    // HS256, {"iss":"ci","aud":"garner","sub":"job-7","exp":4102444800}
    auto const keys = dir.write("jwks.json", R"({"keys": [{"kty": "oct", "k": "YSBrZXkgb2YgdGhpcnR5LXR3byBieXRlcywgZml4ZWQ"}]})");
    std::string const token = "eyJhbGciOiJIUzI1NiJ9."
                              "eyJpc3MiOiJjaSIsImF1ZCI6Imdhcm5lciIsInN1YiI6ImpvYi03IiwiZXhwIjo0MTAyNDQ0ODAwfQ."
                              "RaogLtYpTVFVtVJBGXwDuLhFbsCGdwpgXWMQJy1KZAM";
    origin.answer("/page", fresh("page"));
    origin.answer("/form", no_store("taken"));
    json const source{{"type", "jwt"}, {"keys", keys}, {"issuer", "ci"}, {"audience", "garner"}};
    Proxy proxy(patch(known_users, {{"auth", {{"sources", json::array({source})}}}}).dump());
    auto const curl = [&](std::string const& shown, std::vector<std::string> const& more) {
        std::vector<std::string> command{"curl", "-sS",       "--max-time",     "20",
                                         "-x",   proxy.url(), "--proxy-header", "Proxy-Authorization: Bearer " + shown};
        command.insert(command.end(), more.begin(), more.end());
        return run(command, 30s);
    };
    EXPECT_EQ(curl(token, {origin.url("/page")}).output, "page");
    EXPECT_EQ(proxy.logged("/page").all["user"], "job-7");
    EXPECT_EQ(curl(token, {"-d", "a=b", origin.url("/form")}).output, "taken");
    EXPECT_EQ(curl(token, {"-p", origin.url("/page")}).output, "page");
    EXPECT_EQ(curl(token + "x", {"-p", origin.url("/page")}).code, 56);
}

TEST_F(Logins, a_reload_without_its_users_file_tells_what_check_tells) {
    origin.answer("/page", fresh("page"));
    Proxy proxy(patch(known_users).dump());
    auto configuration = proxy.configuration();
    configuration["auth"]["sources"][0]["file"] = users + ".lost";
    proxy.rewrite(configuration.dump(1));
    auto const checked = run({garner_binary(), "check", proxy.dir().path("garner.json").string()});
    EXPECT_THAT(checked.output, testing::ContainsRegex(R"(garner\.json:[0-9]+: auth\.sources\[0\]\.file: .*users\.lost)"));
    auto const line = checked.output.substr(0, checked.output.find('\n'));
    proxy.signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return proxy.errors().find(line + "\n") != std::string::npos; })) << line << proxy.errors();
    EXPECT_TRUE(proxy.says("configuration not reloaded: it has errors; the running configuration stays in use:\n"))
        << proxy.errors();
    EXPECT_EQ(Client(proxy, origin).get("/page", login("alice:wonder")).status(), 200);
}

TEST_F(Logins, explain_tells_where_a_login_is_needed_and_what_a_user_gets) {
    origin.answer("/page", fresh("page"));
    json const rules{{{"deny", {{"url_contains", "/game"}, {"user", "bob"}}}},
                     {{"name", "staff"}, {"allow", {{"group", "staff"}, {"destination", "127.0.0.0/8"}, {"port", "1-65535"}}}},
                     {{"deny", "all"}}};
    json const kiosk{
        {"auth",
         {{"sources", {{{"type", "htpasswd"}, {"file", users}}, {{"type", "address"}, {"users", {{"127.0.0.7", "kiosk"}}}}}}}},
        {"groups", {{"staff", {{"user", {"bob", "kiosk"}}}}}}};
    Proxy proxy(patch(rules, kiosk).dump());
    auto const words = [&](std::string const& path, std::vector<std::string> more) {
        std::vector<std::string> all{garner_binary(), "explain", origin.url(path), "--config",
                                     proxy.dir().path("garner.json").string()};
        all.insert(all.end(), more.begin(), more.end());
        return run(all).output;
    };
    auto const told = [&](std::string const& path, std::vector<std::string> more) {
        more.push_back("--json");
        return json::parse(words(path, more));
    };
    auto asked = told("/page", {});
    EXPECT_EQ(asked["outcome"], "login");
    EXPECT_EQ(asked["status"], 407);
    EXPECT_THAT(asked["why"].get<std::string>(), StartsWith("needs a login: staff (access[1]: allow)"));
    EXPECT_EQ(asked["access"]["needs"], "a login");
    EXPECT_EQ(get(proxy, origin, "/page").status(), 407);
    EXPECT_THAT(words("/page", {}), HasSubstr("asks for a login: staff (access[1]: allow)"));
    EXPECT_EQ(told("/page", {"--user", "BOB"})["outcome"], "miss") << "the group lists the name";
    EXPECT_EQ(told("/page", {"--user", "alice"})["status"], 403);
    EXPECT_EQ(told("/page", {"--user", "alice", "--group", "staff"})["outcome"], "miss");
    EXPECT_EQ(told("/page", {"--client", "127.0.0.7"})["outcome"], "miss") << "the address has a user";
    EXPECT_THAT(told("/game", {})["why"].get<std::string>(), StartsWith("needs a login: access[0]: deny"));
    EXPECT_EQ(told("/game", {"--user", "bob", "--group", "staff"})["outcome"], "denied");
    auto const by_query =
        Client("127.0.0.1", proxy.admin()).get("/explain?user=bob&group=other&group=staff&url=" + origin.url("/page"));
    EXPECT_EQ(json::parse(by_query.body())["outcome"], "miss");
    Client client(proxy, origin);
    EXPECT_EQ(client.get("/page", login("bob:builder")).status(), 200);
    EXPECT_EQ(told("/page", {})["status"], 407) << "a stored response needs the login, too";
    EXPECT_EQ(told("/page", {"--user", "bob", "--group", "staff"})["outcome"], "hit");
}

TEST_F(Logins, explain_tells_if_no_source_can_ask) {
    auto const more = json{{"auth", {{"sources", {{{"type", "address"}, {"users", {{"127.0.0.7", "kiosk"}}}}}}}}};
    Proxy proxy(patch(known_users, more).dump());
    auto const told = json::parse(Client("127.0.0.1", proxy.admin()).get("/explain?url=" + origin.url("/page")).body());
    EXPECT_EQ(told["outcome"], "denied");
    EXPECT_EQ(told["status"], 403);
    EXPECT_THAT(told["why"].get<std::string>(),
                StartsWith("needs a user, and no source of auth takes credentials: access[0]: allow"));
    EXPECT_EQ(get(proxy, origin, "/page").status(), 403);
}

TEST_F(Logins, an_address_is_a_user_without_a_password) {
    origin.answer("/page", fresh("page"));
    auto const more = json{{"auth", {{"sources", {{{"type", "address"}, {"users", {{"127.0.0.7", "kiosk"}}}}}}}}};
    Proxy proxy(patch(known_users, more).dump());
    Client kiosk(proxy, origin);
    kiosk.from("127.0.0.7");
    EXPECT_EQ(kiosk.get("/page").body(), "page");
    EXPECT_EQ(kiosk.get("/page").body(), "page");
    EXPECT_EQ(proxy.logged("/page", 2).all["user"], "kiosk");
    Client other(proxy, origin);
    EXPECT_EQ(other.get("/page").status(), 403);   // there is nothing to ask for
}

TEST_F(Logins, a_background_revalidation_has_the_user_of_its_request) {
    origin.answer("/page",
                  {.fields = {{"Cache-Control", "max-age=0, stale-while-revalidate=60"}, {"ETag", "\"1\""}}, .body = "page"});
    Proxy proxy(patch(known_users).dump());
    Client client(proxy, origin);
    EXPECT_EQ(client.get("/page", login("alice:wonder")).body(), "page");
    EXPECT_EQ(client.get("/page", login("alice:wonder")).body(), "page");
    EXPECT_TRUE(eventually([&] { return origin.requests("/page") == 2u; }));
}

TEST_F(Logins, a_refusal_names_its_rule_and_can_be_looked_up) {
    json const rules{{{"name", "exams"}, {"deny", {{"url_contains", "/game"}}}, {"because", "Until noon."}},
                     {{"allow", {{"destination", "127.0.0.0/8"}, {"port", "1-65535"}}}}};
    Proxy proxy(patch(rules).dump());
    Client client(proxy, origin);
    auto const refused = client.get("/game?secret=1", {{"Accept", "application/json"}});
    EXPECT_EQ(refused.status(), 403);
    auto const told = json::parse(refused.body());
    EXPECT_EQ(told["because"], "Until noon.");
    std::string const id = told["id"];
    EXPECT_THAT(refused.field("Proxy-Status"),
                HasSubstr("; error=http_request_denied; details=\"exams (access[0]: deny)\"; id=\"" + id));
    auto const logged = proxy.logged("/game?secret=1").all;
    EXPECT_EQ(logged["id"], id);
    EXPECT_EQ(logged["rule"], "exams (access[0]: deny)");
    auto const in_text = get(proxy, origin, "/game").body();
    EXPECT_EQ(std::ranges::count(in_text, '\n'), 3) << in_text;

    Client browser(proxy);
    auto const page = browser.get("http://garner.internal/", {{"Accept", "text/html"}});
    EXPECT_EQ(page.status(), 200);
    EXPECT_THAT(page.body(), HasSubstr(id));
    EXPECT_THAT(page.body(), Not(HasSubstr("secret")));
    EXPECT_THAT(browser.get("http://garner.internal/", {{"Via", "1.1 child"}}).body(), Not(HasSubstr(id)));
    Client other(proxy);
    other.from("127.0.0.8");
    EXPECT_THAT(other.get("http://garner.internal/").body(), HasSubstr("No request"));

    auto const why = run({garner_binary(), "rules", "why", "--id", id, "--config", proxy.dir().path("garner.json").string()});
    EXPECT_THAT(why.output, HasSubstr("exams")) << why.errors;
}

TEST_F(Logins, a_refusal_is_found_by_the_beginning_of_its_id) {
    json const rules{{{"name", "exams"}, {"deny", {{"url_contains", "/game"}}}}, {{"allow", {{"port", "1-65535"}}}}};
    Proxy proxy(patch(rules).dump());
    auto const why = [&](std::string const& id) {
        return run({garner_binary(), "rules", "why", "--id", id, "--config", proxy.dir().path("garner.json").string()});
    };
    auto const refuse = [&](std::string const& url) {
        return json::parse(Client(proxy).get(url, {{"Accept", "application/json"}}).body())["id"].get<std::string>();
    };
    auto const game = refuse(origin.url("/game"));
    auto const unique = game.substr(0, game.size() - 2);
    EXPECT_THAT(why(unique).output, StartsWith("deny by exams")) << why(unique).errors;
    EXPECT_THAT(why(game.substr(0, 5)).errors, HasSubstr("The id is too short: write at least its first 6 characters"));
    auto const closed = refuse("http://localhost:" + std::to_string(origin.port()) + "/page");
    auto const blocked = why(closed);
    EXPECT_THAT(blocked.output, testing::AllOf(StartsWith("deny by "), HasSubstr("destination on loopback"))) << blocked.errors;
    auto const several = why(game.substr(0, 6));
    EXPECT_EQ(several.code, 1);
    EXPECT_THAT(several.errors, testing::AllOf(HasSubstr("Several refused requests"), HasSubstr(game), HasSubstr(closed)));
    auto const unknown = why("000000.000-0000");
    EXPECT_EQ(unknown.code, 1);
    EXPECT_THAT(unknown.errors,
                testing::AllOf(HasSubstr("No refused request has the id 000000.000-0000. The proxy keeps the last 50 "),
                               HasSubstr("It keeps no 407 without credentials")));
}

TEST_F(Logins, too_many_failures_are_found_by_their_id) {
    Proxy proxy(patch(known_users, {{"auth", {{"failures_per_minute", 1}}}}).dump());
    int status = 407;
    json told;
    for (int i = 0; i < 30 && status == 407; ++i) {
        auto const reply = get(proxy, origin, "/page",
                               {{"Accept", "application/json"}, {"Proxy-Authorization", basic("alice:" + std::to_string(i))}});
        status = reply.status();
        told = json::parse(reply.body());
    }
    ASSERT_EQ(status, 429);
    std::string const id = told["id"];
    auto const why = run({garner_binary(), "rules", "why", "--id", id, "--config", proxy.dir().path("garner.json").string()});
    EXPECT_THAT(why.output, StartsWith("login by access[0]")) << why.errors;
    EXPECT_THAT(why.errors, HasSubstr("notice: Too many logins from this address have failed."));
}

TEST_F(Logins, missing_wrong_and_malformed_credentials_have_different_reasons) {
    Proxy proxy(patch(known_users).dump());
    std::size_t number = 0;
    auto const expect = [&](std::string const& credentials, std::string const& told, std::string const& logged) {
        Fields fields{{"Accept", "application/json"}};
        if (!credentials.empty()) fields.emplace_back("Proxy-Authorization", credentials);
        auto const path = "/" + std::to_string(++number);
        auto const asked = get(proxy, origin, path, fields);
        EXPECT_EQ(asked.status(), 407);
        EXPECT_THAT(std::string(json::parse(asked.body())["detail"]), testing::EndsWith(". " + told));
        EXPECT_EQ(proxy.logged(path).all["reason"], logged + " [auth]");
        return std::string(json::parse(asked.body())["id"]);
    };
    auto const wrong = "Wrong password or unknown user.";
    auto const malformed = "Malformed or unsupported credentials.";
    auto const first = expect("", "No credentials: this proxy requires a login.", "No credentials: this proxy requires a login.");
    auto const guess = expect(basic("alice:guess"), wrong, "Wrong password or unknown user (htpasswd: wrong password)");
    expect(basic("alice:guess"), wrong, "Wrong password or unknown user (as at the last check)");
    expect(basic("nemo:x"), wrong, "Wrong password or unknown user (htpasswd: the users' file does not have the user)");
    expect("Basic YWxpY2U=", malformed, "Malformed or unsupported credentials (the Basic credentials have no colon)");
    expect("Bearer abc", malformed, "Malformed or unsupported credentials (no source takes this scheme)");
    EXPECT_THAT(read_file(proxy.log_file()), Not(HasSubstr("guess")));

    auto const page = Client(proxy).get("http://garner.internal/").body();
    EXPECT_THAT(page, testing::AllOf(HasSubstr(guess), HasSubstr(wrong), HasSubstr(malformed), Not(HasSubstr(first))));
    auto const why = run({garner_binary(), "rules", "why", "--id", guess, "--config", proxy.dir().path("garner.json").string()});
    EXPECT_THAT(why.output, StartsWith("login by access[0]")) << why.errors;
    EXPECT_EQ(why.errors, std::string("notice: ") + wrong + "\n");
}

TEST_F(Logins, without_users_nobody_is_asked) {
    origin.answer("/page", fresh("page"));
    Proxy proxy;
    Client client(proxy, origin);
    EXPECT_EQ(client.get("/page", login("alice:wonder")).body(), "page");
    EXPECT_EQ(client.get("/page").body(), "page");
    Proxy broken({.patch = "{}"});
    auto const file = broken.dir().write("users.json", R"({"access": [{"allow": {"user": "alice"}}]})");
    EXPECT_THAT(run({garner_binary(), "check", file}).output, HasSubstr("auth"));
}

}   // namespace garner::test
