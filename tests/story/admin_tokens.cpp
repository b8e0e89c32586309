// The admin address with tokens, as curl, browsers and the commands see it.
#include <algorithm>
#include <regex>

#include "story/scene.hpp"
#include "support/programs.hpp"

namespace garner::test {

namespace {

using Words = std::vector<std::string>;

struct MadeToken {
    std::string text, line;   // the line is for admin.tokens
};

MadeToken make_token(std::string const& name, std::string const& role) {
    auto const made = run({garner_binary(), "token", name, "--role", role});
    EXPECT_EQ(made.code, 0) << made.errors;
    auto const end = made.output.find('\n');
    return {made.output.substr(0, end), made.output.substr(end + 1)};
}

/// A proxy whose admin address has a viewer and an operator.
struct Guarded {
    MadeToken const viewer = make_token("desk", "viewer"), operating = make_token("boss", "operator");
    Proxy proxy{R"({"admin": {"tokens": [)" + viewer.line + "," + operating.line + "]}}"};
    TempDir dir;

    std::string url(std::string const& path) const { return "http://127.0.0.1:" + std::to_string(proxy.admin()) + path; }
    /// The status and, after a blank, the body.
    std::string curl(Words const& words) const {
        Words command{"curl", "-sS", "--max-time", "30", "-o", dir.path("body").string(), "-w", "%{http_code}"};
        command.insert(command.end(), words.begin(), words.end());
        std::filesystem::remove(dir.path("body"));
        auto const finished = run(command, 40s);
        EXPECT_EQ(finished.code, 0) << finished.errors;
        return finished.output + " " + (std::filesystem::exists(dir.path("body")) ? read_file(dir.path("body")) : "");
    }
    std::string jar() const { return dir.path("cookies").string(); }
    Finished command(Words words, std::string const& token) const {
        words.insert(words.begin(), {"env", "GARNER_TOKEN=" + token, garner_binary()});
        words.insert(words.end(), {"--set", "admin.address=127.0.0.1:" + std::to_string(proxy.admin())});
        return run(words);
    }
};

}   // namespace

TEST(AdminTokens, programs_send_them_as_Bearer) {
    NEEDS("curl");
    Guarded const guarded;
    auto const bearer = [](MadeToken const& token) { return "Authorization: Bearer " + token.text; };
    EXPECT_THAT(guarded.curl({guarded.url("/metrics")}), StartsWith("401 A token is needed"));
    EXPECT_THAT(guarded.curl({"-H", bearer(guarded.viewer), guarded.url("/metrics")}), HasSubstr("garner_build_info"));
    EXPECT_THAT(guarded.curl({guarded.url("/health.json")}), StartsWith("200 "));
    Words const purge{"-H", "Garner-Admin: 1", "-d", "url=http://a.example/", guarded.url("/purge")};
    auto const purge_as = [&](std::string const& field) {
        Words words{"-H", field};
        words.insert(words.end(), purge.begin(), purge.end());
        return guarded.curl(words);
    };
    EXPECT_THAT(guarded.curl(purge), StartsWith("401 "));
    EXPECT_THAT(purge_as(bearer(guarded.viewer)), StartsWith("403 desk has the role viewer"));
    EXPECT_THAT(purge_as(bearer(guarded.operating)), StartsWith("200 {\"purged\":false}"));
    // curl's own way, and a name that points here.
    EXPECT_THAT(guarded.curl({"--oauth2-bearer", guarded.viewer.text, guarded.url("/stats.json")}), StartsWith("200 "));
    auto const port = std::to_string(guarded.proxy.admin());
    EXPECT_THAT(guarded.curl({"--resolve", "evil.example:" + port + ":127.0.0.1", "-H", bearer(guarded.operating),
                              "http://evil.example:" + port + "/stats.json"}),
                StartsWith("421 "));
}

TEST(AdminTokens, a_browser_logs_in_by_the_form_and_changes_by_forms_of_its_session) {
    NEEDS("curl");
    Guarded const guarded;
    auto const& jar = guarded.jar();
    EXPECT_THAT(guarded.curl({guarded.url("/")}), StartsWith("401 <!DOCTYPE html>"));
    EXPECT_THAT(guarded.curl({"-c", jar, "-d", "token=guessed", guarded.url("/login")}), HasSubstr("This token is not valid."));
    EXPECT_THAT(guarded.curl({"-c", jar, "-L", "--data-urlencode", "token=" + guarded.operating.text, guarded.url("/login")}),
                StartsWith("200 <!DOCTYPE html>"));
    EXPECT_THAT(read_file(jar), HasSubstr("#HttpOnly_127.0.0.1"));
    auto const session = guarded.curl({"-b", jar, guarded.url("/login")});
    EXPECT_THAT(session, HasSubstr("You are boss (operator)"));
    std::smatch found;
    ASSERT_TRUE(std::regex_search(session, found, std::regex("form_token\" value=\"([0-9a-f]+)\""))) << session;
    auto const form_token = "form_token=" + found[1].str();

    auto const purge = [&](Words words) {
        words.insert(words.end(), {"-b", jar, "-d", "url=http://a.example/", guarded.url("/purge")});
        return guarded.curl(words).substr(0, 3);
    };
    EXPECT_EQ(purge({}), "403");
    EXPECT_EQ(purge({"-d", "form_token=" + std::string(64, '0')}), "403");
    EXPECT_EQ(purge({"-d", form_token, "-H", "Origin: http://evil.example"}), "403");
    EXPECT_EQ(purge({"-d", form_token, "-H", "Origin: null"}), "403");
    EXPECT_EQ(purge({"-d", form_token, "-H", "Sec-Fetch-Site: cross-site"}), "403");
    EXPECT_EQ(purge({"-d", form_token, "-H", "Host: evil.example"}), "421");
    EXPECT_EQ(purge({"-d", form_token, "-H", "Origin: " + guarded.url("")}), "200");

    EXPECT_THAT(guarded.curl({"-b", jar, "-d", form_token, guarded.url("/logout")}), StartsWith("303 "));
    EXPECT_THAT(guarded.curl({"-b", jar, guarded.url("/stats.json")}), StartsWith("401 "));
}

TEST(AdminTokens, the_log_has_logins_and_changes_without_tokens) {
    NEEDS("curl");
    Guarded guarded;
    guarded.curl({"-d", "token=a-wrong-guess", guarded.url("/login")});
    guarded.curl({"-d", "token=" + guarded.viewer.text, guarded.url("/login")});
    guarded.curl({"-H", "Garner-Admin: 1", "-H", "Authorization: Bearer " + guarded.operating.text, "-d",
                  "url=http://a.example/%250aforged", guarded.url("/purge")});
    auto const has = [&](char const* text) {
        return eventually([&] { return guarded.proxy.errors().find(text) != std::string::npos; });
    };
    EXPECT_TRUE(has("admin: a login from 127.0.0.1 failed")) << guarded.proxy.errors();
    EXPECT_TRUE(has("admin: desk (viewer) has logged in from 127.0.0.1")) << guarded.proxy.errors();
    EXPECT_TRUE(has("admin: boss at 127.0.0.1: POST /purge url http://a.example/")) << guarded.proxy.errors();
    for (auto const& secret : {std::string("a-wrong-guess"), guarded.viewer.text, guarded.operating.text})
        EXPECT_THAT(guarded.proxy.errors(), Not(HasSubstr(secret)));
}

TEST(AdminTokens, commands_take_theirs_from_the_environment_or_a_file) {
    Guarded const guarded;
    auto const without = guarded.command({"stats"}, "");
    EXPECT_EQ(without.code, 1);
    EXPECT_THAT(without.errors, HasSubstr("replied 401: A token is needed"));
    EXPECT_THAT(without.errors, HasSubstr("GARNER_TOKEN or --token-file"));
    EXPECT_EQ(guarded.command({"health"}, "").code, 0);
    auto const stats = guarded.command({"stats"}, guarded.viewer.text);
    EXPECT_EQ(stats.code, 0) << stats.errors;
    EXPECT_THAT(stats.output, HasSubstr("\nRequests\n"));
    EXPECT_EQ(guarded.command({"peers"}, guarded.viewer.text).code, 0);
    EXPECT_EQ(guarded.command({"explain", "http://a.example/"}, guarded.viewer.text).code, 0);
    EXPECT_EQ(guarded.command({"cache", "stats"}, guarded.viewer.text).code, 0);
    auto const refused = guarded.command({"log", "reopen"}, guarded.viewer.text);
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.errors, HasSubstr("replied 403: desk has the role viewer"));
    auto const file = guarded.dir.write("token", guarded.operating.text + "\n");
    EXPECT_EQ(guarded.command({"log", "reopen", "--token-file", file}, "").code, 0);
    EXPECT_EQ(guarded.command({"cache", "purge", "*", "--token-file", file}, "").code, 1);   // there is nothing to purge
    EXPECT_THAT(guarded.command({"stats", "--token-file", "/nowhere"}, "").errors,
                HasSubstr("/nowhere: cannot be read: No such file"));
    EXPECT_THAT(guarded.command({"stats"}, "a b").errors, HasSubstr("GARNER_TOKEN: a token has letters, digits"));
}

TEST(AdminTokens, a_reload_makes_new_ones_valid_and_removed_ones_invalid_at_once) {
    NEEDS("curl");
    Guarded guarded;
    auto const newer = make_token("new", "operator");
    guarded.curl({"-c", guarded.jar(), "-d", "token=" + guarded.viewer.text, guarded.url("/login")});
    EXPECT_EQ(guarded.curl({"-b", guarded.jar(), guarded.url("/stats.json")}).substr(0, 3), "200");
    guarded.proxy.reconfigure(R"({"admin": {"tokens": [)" + newer.line + "]}}");
    guarded.proxy.signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return guarded.command({"stats"}, newer.text).code == 0; }));
    EXPECT_EQ(guarded.command({"stats"}, guarded.operating.text).code, 1);
    EXPECT_EQ(guarded.curl({"-b", guarded.jar(), guarded.url("/stats.json")}).substr(0, 3), "401");
    EXPECT_THAT(guarded.proxy.errors(), Not(HasSubstr(guarded.viewer.line.substr(guarded.viewer.line.size() - 40, 20))));
}

TEST(AdminTokens, garner_token_makes_a_line_that_a_configuration_takes) {
    auto const token = make_token("desk", "operator");
    EXPECT_TRUE(std::regex_match(token.text, std::regex("garner_[0-9a-f]{64}"))) << token.text;
    EXPECT_TRUE(std::regex_match(token.line, std::regex(R"(\{"name":"desk","role":"operator","sha256":"[0-9a-f]{64}"\}\n)")))
        << token.line;
    EXPECT_NE(make_token("desk", "operator").text, token.text);
    TempDir dir;
    auto const file = dir.write("garner.json", R"({"admin": {"address": ":3131", "tokens": [)" + token.line + "]}}");
    auto const checked = run({garner_binary(), "check", file});
    EXPECT_EQ(checked.code, 0) << checked.output;
    auto const sum = run({"sh", "-c", "printf %s " + token.text + " | sha256sum"});
    EXPECT_THAT(token.line, HasSubstr(sum.output.substr(0, 64)));
    auto const open = run({garner_binary(), "check", dir.write("open.json", "{\"admin\": {\n\"address\": \":3131\"}}")});
    EXPECT_EQ(open.code, 1);
    EXPECT_THAT(open.output, HasSubstr("open.json:2: admin.address: is not on loopback, and there are no admin.tokens"));
    auto const wrong = run({garner_binary(), "token", "a b"});
    EXPECT_EQ(wrong.code, 1);
    EXPECT_THAT(wrong.errors, HasSubstr("\"a b\" has another character; write letters, digits"));
    EXPECT_EQ(run({garner_binary(), "token", "desk", "--role", "root"}).code, 2);
}

// ---- garner top ----

TEST(Top, prints_lines_over_a_pipe_and_renews_a_terminal) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy;
    for (int i = 0; i < 5; ++i) get(proxy, origin, "/page").body();
    Words const words{garner_binary(), "top", "--count", "2", "--set", "admin.address=127.0.0.1:" + std::to_string(proxy.admin())};
    auto const lines = run(words);
    EXPECT_EQ(lines.code, 0) << lines.errors;
    EXPECT_TRUE(std::regex_search(lines.output, std::regex("^[0-9TZ:-]+\thealth\tOK: no problem is known.\n"))) << lines.output;
    EXPECT_TRUE(std::regex_search(lines.output, std::regex("\thost\t127.0.0.1\t5 requests\t"))) << lines.output;
    EXPECT_TRUE(std::regex_search(lines.output, std::regex("\trequests\t[0-9.]+ a second\n"))) << lines.output;
    std::string command;
    for (auto const& word : words) command += word + " ";
    auto const screen = run({"script", "-qec", "stty cols 100 rows 30; " + command, "/dev/null"});
    EXPECT_EQ(screen.code, 0) << screen.errors;
    EXPECT_THAT(screen.output, HasSubstr("\x1b[HOK: no problem is known."));
    EXPECT_THAT(screen.output, HasSubstr("\nHosts"));
    EXPECT_EQ(run({garner_binary(), "top", "--set", "admin.address=127.0.0.1:1"}).code, 1);
}

}   // namespace garner::test
