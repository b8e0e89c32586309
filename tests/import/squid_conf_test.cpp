// A squid.conf becomes a configuration and a report.
#include "import/squid_conf.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>

#include "import/context.hpp"
#include "support/places.hpp"

namespace garner::importing {
namespace {

/// Files beside squid.conf, by name.
struct Scene {
    std::map<std::string, std::string> files = {};

    Imported import(std::string const& text) const {
        Files const beside{.read = [this](std::string const& path) -> Result<std::string> {
                               auto const file = files.find(path);
                               if (file == files.end()) return Fault{"No such file or directory"};
                               return file->second;
                           },
                           .find =
                               [this](std::string const& pattern) {
                                   std::vector<std::string> found;
                                   for (auto const& [name, content] : files)
                                       if (name == pattern || (pattern == "conf.d/*.conf" && name.starts_with("conf.d/")))
                                           found.push_back(name);
                                   return found;
                               },
                           .locate = [](std::string const& path) { return "/etc/squid/" + path; }};
        auto imported = import_squid("squid.conf", text, beside);
        EXPECT_TRUE(imported) << imported.fault_text();
        return *imported;
    }
};

std::string without_space(std::string_view text) {
    std::string out;
    for (char c : text)
        if (c != ' ' && c != '\n') out += c;
    return out;
}

/// The value of a key, on one line without spaces.
std::string part(Imported const& imported, std::string const& key) {
    auto const text = without_space(imported.configuration);
    auto const at = text.find("\"" + key + "\":");
    if (at == text.npos) return "";
    auto const begin = at + key.size() + 3;
    int depth = 0;
    auto end = begin;
    do {
        depth += text[end] == '{' || text[end] == '[' ? 1 : text[end] == '}' || text[end] == ']' ? -1 : 0;
        ++end;
    } while (depth > 0 || (text[end] != ',' && text[end] != '}'));
    return text.substr(begin, end - begin);
}

/// The rules without their names.
std::string access(std::string const& text, std::string const& key = "access") {
    auto rules = part(Scene{}.import(text), key);
    for (auto at = rules.find("\"name\":"); at != rules.npos; at = rules.find("\"name\":"))
        rules.erase(at, rules.find(',', at) + 1 - at);
    return rules;
}
std::string matchers(std::string const& text) { return part(Scene{}.import(text), "matchers"); }
std::string report(std::string const& text) { return Scene{}.import(text).report; }

std::string const has_auth = "auth_param basic program /usr/lib/squid/basic_ncsa_auth /etc/squid/passwd\n";
std::string const any_port = R"("port":"1-65535")";

TEST(Import, an_origin_server_is_no_peer) {
    auto const text = "http_port 80 accel defaultsite=www.example.com\n"
                      "cache_peer 10.0.0.5 parent 80 0 no-query originserver name=web\ncache_peer_access web allow all\n"
                      "cache_peer 10.0.0.6 parent 3128 0 no-query\n";
    auto const imported = Scene{}.import(text);
    EXPECT_EQ(part(imported, "peers"),
              R"([{"name":"10.0.0.6","type":"parent","host":"10.0.0.6","http_port":3128,"icp_port":0,"no_query":true}])");
    EXPECT_NE(
        imported.report.find("squid.conf:2: needs you: cache_peer: is an origin server; write a listener with `origin`, as in "
                             "docs/guides/accelerator.md\n"),
        imported.report.npos)
        << imported.report;
    EXPECT_TRUE(imported.needs_you);
}

TEST(Import, a_listener_that_cannot_be_is_told_clearly) {
    auto const told =
        report("http_port 99999\nhttp_port proxy.example:3128\nhttp_port [::1]:0\nhttp_port\nhttp_port 10.0.0.1:80\n");
    for (char const* line :
         {"squid.conf:1: needs you: http_port: 99999 is not a port between 1 and 65535\n",
          "squid.conf:2: needs you: http_port: proxy.example is not an IP address; write the address in `listen`\n",
          "squid.conf:3: needs you: http_port: 0 is not a port between 1 and 65535\n",
          "squid.conf:4: needs you: http_port: has no port; write http_port 3128\n"})
        EXPECT_NE(told.find(line), told.npos) << line << told;
}

TEST(Import, names_of_acls_keep_their_letters) {
    auto const text = "acl b\xc3\xbcro src 10.0.0.0/8\nacl \xe6\x97\xa5.x port 80\nacl b\xfcro dstdomain .a.test\n"
                      "http_access deny B\xc3\xbcRO b\xfcro\nhttp_access allow \xe6\x97\xa5.x\nhttp_access deny all\n";
    EXPECT_EQ(matchers(text), R"({"büro":{"source":"10.0.0.0/8"},"b-ro":{"host":".a.test"},"日-x":{"port":"80"}})");
    EXPECT_EQ(access(text), R"([{"deny":{"is":["büro","b-ro"]}},{"allow":{"is":"日-x",)" + any_port + R"(}},{"deny":"all"}])");
}

TEST(Import, a_login_before_a_group_that_never_matches_is_asked_for) {
    auto const with = [](std::string const& rest) {
        return access(has_auth +
                      "acl users proxy_auth anna\nacl empty dstdomain\nacl any any-of empty\nacl every all-of empty\n"
                      "acl not-every all-of !every\nhttp_access allow users " +
                      rest + "\nhttp_access allow all\n");
    };
    auto const expected = R"([{"deny":{"not":"logged-in"}},{"allow":{)" + any_port + "}}]";
    for (char const* rest : {"empty", "any", "every", "!not-every"}) EXPECT_EQ(with(rest), expected) << rest;
    EXPECT_EQ(with("!every"), R"([{"allow":{"is":"users",)" + any_port + R"(}},{"allow":{)" + any_port + "}}]");
}

TEST(Import, each_rule_of_a_line_has_its_own_name) {
    auto const text =
        "acl a src 10.0.0.0/8\nacl b port 81\nacl either any-of a b\nhttp_access deny either\nhttp_access allow all\n";
    auto const rules = part(Scene{}.import(text), "access");
    for (char const* rule : {R"x({"name":"squid.conf:4","deny":{"is":"a"}})x", R"x({"name":"squid.conf:4(2)","deny":{"is":"b"}})x",
                             R"x({"name":"squid.conf:5","allow":{"port":"1-65535"}})x"})
        EXPECT_NE(rules.find(rule), rules.npos) << rule << rules;
}

// ---- rules ----

TEST(Import, values_are_alternatives_and_acls_of_a_line_must_all_match) {
    auto const text = "acl office src 10.1.0.0/16\nacl office src 10.2.0.7\nacl shut dstdomain .ads.example\n"
                      "http_access deny OFFICE shut\nhttp_access allow office !shut\nhttp_access deny all\n";
    EXPECT_EQ(matchers(text), R"({"office":{"source":["10.1.0.0/16","10.2.0.7"]},"shut":{"host":".ads.example"}})");
    EXPECT_EQ(access(text),
              R"([{"deny":{"is":["office","shut"]}},{"allow":{"is":"office","not":"shut",)" + any_port + R"(}},{"deny":"all"}])");
}

TEST(Import, a_request_that_no_line_matches_gets_the_opposite_of_the_last_line) {
    EXPECT_EQ(access("acl a src 10.0.0.1\nhttp_access allow a\n"), R"([{"allow":{"is":"a",)" + any_port + R"(}},{"deny":"all"}])");
    EXPECT_EQ(access("acl a src 10.0.0.1\nhttp_access deny a\n"), R"([{"deny":{"is":"a"}},{"allow":{)" + any_port + "}}]");
    EXPECT_EQ(access(""), R"([{"deny":"all"}])");
}

TEST(Import, lines_that_squid_skips_do_not_count) {
    EXPECT_EQ(access("acl a src 10.0.0.1\nhttp_access allow a\nhttp_access deny\nhttp_access denied all\n"),
              R"([{"allow":{"is":"a",)" + any_port + R"(}},{"deny":"all"}])");
}

TEST(Import, lines_behind_one_for_all_requests_are_dropped) {
    auto const text = "acl a src 10.0.0.1\nhttp_access deny all\nhttp_access allow a\n";
    EXPECT_EQ(access(text), R"([{"deny":"all"}])");
    EXPECT_NE(report(text).find("squid.conf:3: dropped: http_access: no request gets here: line 2 of squid.conf"),
              std::string::npos);
}

TEST(Import, manager_never_matches_and_loopback_is_blocked_anyway) {
    EXPECT_EQ(access("http_access allow localhost manager\nhttp_access deny manager\nhttp_access deny to_localhost\n"
                     "http_access allow localhost !manager\nhttp_access deny all\n"),
              R"([{"allow":{"is":"localhost",)" + any_port + R"(}},{"deny":"all"}])");
}

TEST(Import, loopback_that_squid_denies_is_not_opened_by_a_later_line) {
    std::string const to_localhost = R"({"deny":{"is":"to_localhost"}},)";
    for (char const* acl : {"dstdomain localhost", "dstdomain 127.0.0.1", "dst 127.0.0.0/16", "dst 169.254.1.1 10.0.0.0/8"}) {
        auto const rules = access("acl inside " + std::string(acl) +
                                  "\nhttp_access deny to_localhost\nhttp_access allow inside\nhttp_access deny all\n");
        EXPECT_EQ(rules.find("[" + to_localhost), 0u) << acl << rules;
    }
    auto const other = access("acl inside dst 10.0.0.0/8\nhttp_access deny to_localhost\nhttp_access allow inside\n");
    EXPECT_EQ(other.find("to_localhost"), other.npos) << other;
}

TEST(Import, an_acl_without_a_translation_never_allows_and_always_denies) {
    std::string const acls = "acl odd random 0.5\nacl a src 10.0.0.1\n";
    EXPECT_EQ(access(acls + "http_access allow odd\nhttp_access allow a !odd\nhttp_access deny all\n"), R"([{"deny":"all"}])");
    EXPECT_EQ(access(acls + "http_access deny a odd\nhttp_access allow all\n"),
              R"([{"deny":{"is":"a"}},{"allow":{)" + any_port + "}}]");
    EXPECT_EQ(access(acls + "http_access deny a !odd\nhttp_access allow all\n"),
              R"([{"deny":{"is":"a"}},{"allow":{)" + any_port + "}}]");
    EXPECT_EQ(access("http_access deny unknown\nhttp_access allow all\n"), R"([{"deny":"all"}])");
}

TEST(Import, a_partly_translated_acl_matches_at_least_what_is_certain) {
    std::string const acls = "acl mixed src 10.0.0.1 host.example\n";
    EXPECT_EQ(access(acls + "http_access allow mixed\n"), R"([{"allow":{"is":"mixed",)" + any_port + R"(}},{"deny":"all"}])");
    EXPECT_EQ(access(acls + "http_access deny mixed\nhttp_access allow all\n"), R"([{"deny":"all"}])");
    EXPECT_EQ(access(acls + "http_access allow !mixed\n"), R"([{"deny":"all"}])");
}

TEST(Import, both_lists_of_rules_must_allow_a_request) {
    auto const lists = "acl bad dstdomain .bad.test\nacl lab src 10.0.0.0/8\nacl by_helper external helper\n"
                       "http_access allow lab\nhttp_access deny all\n";
    EXPECT_EQ(access(std::string(lists) + "adapted_http_access deny bad\nadapted_http_access allow all\n"),
              R"([{"deny":{"is":"bad"}},{"allow":{"is":"lab",)" + any_port + R"(}},{"deny":"all"}])");
    auto const opposite = std::string(lists) + "http_access2 allow bad\n";   // denies what it does not name
    EXPECT_EQ(access(opposite), R"([{"deny":{"not":"bad"}},{"allow":{"is":"lab",)" + any_port + R"(}},{"deny":"all"}])");
    auto const doubtful = std::string(lists) + "adapted_http_access deny by_helper\nadapted_http_access allow all\n";
    EXPECT_EQ(access(doubtful), R"([{"deny":"all"},{"allow":{"is":"lab",)" + any_port + R"(}},{"deny":"all"}])");
}

TEST(Import, sources_behind_gateways_are_those_that_they_name) {
    std::string const text = "acl gateways src 10.0.0.5 10.0.0.6\nacl lab src 192.0.2.0/24\nfollow_x_forwarded_for allow gateways\n"
                             "follow_x_forwarded_for deny all\nhttp_access allow lab\nhttp_access deny all\n";
    EXPECT_EQ(part(Scene{}.import(text), "forwarded_trust"), R"(["10.0.0.5","10.0.0.6"])");
    EXPECT_FALSE(Scene{}.import(text).needs_you);
    EXPECT_EQ(part(Scene{}.import("acl_uses_indirect_client off\n" + text), "forwarded_trust"), "");
    auto const by_port = Scene{}.import("acl p localport 3128\nfollow_x_forwarded_for allow p\nhttp_access deny all\n");
    EXPECT_TRUE(by_port.needs_you);
    EXPECT_EQ(part(by_port, "forwarded_trust"), "");
}

TEST(Import, an_empty_list_never_matches) {
    EXPECT_EQ(access("acl none src\nhttp_access allow none\nhttp_access deny !none\n"), R"([{"deny":"all"}])");
}

TEST(Import, groups_are_resolved_into_rules) {
    std::string const acls =
        "acl a src 10.0.0.1\nacl b port 80\nacl c method GET\nacl any any-of a !b\nacl both all-of a b\nacl both all-of c\n";
    EXPECT_EQ(access(acls + "http_access deny any\nhttp_access allow all\n"),
              R"([{"deny":{"is":"a"}},{"deny":{"not":"b"}},{"allow":{)" + any_port + "}}]");
    EXPECT_EQ(access(acls + "http_access deny !any\nhttp_access allow all\n"),
              R"([{"deny":{"is":"b","not":"a"}},{"allow":{)" + any_port + "}}]");
    EXPECT_EQ(access(acls + "http_access deny both\nhttp_access allow all\n"),
              R"([{"deny":{"is":["a","b"]}},{"deny":{"is":"c"}},{"allow":{)" + any_port + "}}]");
    EXPECT_EQ(access(acls + "http_access deny !both\nhttp_access allow all\n"),
              R"([{"deny":{"not":["a","c"]}},{"deny":{"not":["b","c"]}},{"allow":{)" + any_port + "}}]");
}

TEST(Import, groups_that_contain_themselves_or_explode_deny) {
    EXPECT_EQ(access("acl g any-of g\nhttp_access deny g\nhttp_access allow all\n"), R"([{"deny":"all"}])");
    std::string text = "acl l src 10.0.0.1\nacl m src 10.0.0.2\nacl g0 any-of l m\n";
    for (int i = 1; i < 60; ++i) {
        auto const before = "g" + std::to_string(i - 1), now = "g" + std::to_string(i);
        text += "acl " + now + " all-of " + before + " " + before + "\n";
    }
    EXPECT_EQ(access(text + "http_access allow g25\n"), R"([{"deny":"all"}])");
    EXPECT_EQ(access(text + "http_access allow g59\n"), R"([{"deny":"all"}])");
}

// ---- logins ----

TEST(Import, squid_asks_for_a_login_when_it_reaches_proxy_auth) {
    std::string const acls =
        has_auth + "acl known proxy_auth REQUIRED\nacl office src 10.0.0.0/8\nacl papers dstdomain .doi.example\n";
    EXPECT_EQ(access(acls + "http_access allow office known\n"),
              R"([{"allow":{"is":["office","known"],)" + any_port + R"(}},{"deny":"all"}])")
        << "the allow rule asks for the login, because no rule follows";
    EXPECT_EQ(access(acls + "http_access allow office known papers\n"),
              R"([{"deny":{"is":"office","not":"logged-in"}},{"allow":{"is":["office","known","papers"],)" + any_port +
                  R"(}},{"deny":"all"}])");
    EXPECT_EQ(access(acls + "http_access deny !known\nhttp_access allow office\nhttp_access deny all\n"),
              R"([{"deny":{"not":"known"}},{"allow":{"is":"office",)" + any_port + R"(}},{"deny":"all"}])");
}

TEST(Import, a_group_asks_only_where_squid_evaluates_the_login) {
    std::string const acls =
        has_auth + "acl known proxy_auth REQUIRED\nacl office src 10.0.0.0/8\nacl get method GET\nacl g any-of office known\n";
    EXPECT_EQ(access(acls + "http_access allow g get\nhttp_access deny all\n"),
              R"([{"allow":{"is":["office","get"],)" + any_port +
                  R"(}},{"deny":{"not":["office","logged-in"]}},{"allow":{"is":["known","get"],"not":"office",)" + any_port +
                  R"(}},{"deny":"all"}])");
}

TEST(Import, a_login_that_no_user_passes_is_still_asked_for) {
    std::string const acls = has_auth + "acl none proxy_auth\nacl get method GET\n";
    EXPECT_EQ(access(acls + "http_access allow get none\nhttp_access allow all\n"),
              R"([{"deny":{"is":"get","not":"logged-in"}},{"allow":{)" + any_port + "}}]");
    EXPECT_EQ(access(acls + "http_access deny get !none !none\nhttp_access allow all\n"),
              R"([{"deny":{"is":["get","logged-in"]}},{"allow":{)" + any_port + "}}]");
}

TEST(Import, without_a_translated_source_of_users_a_login_denies) {
    std::string const text = "auth_param ntlm program /x\nacl known proxy_auth REQUIRED\nacl a src 10.0.0.1\n"
                             "http_access allow a known\nhttp_access allow all\n";
    EXPECT_EQ(access(text), R"([{"deny":{"is":"a"}},{"allow":{)" + any_port + "}}]");
    EXPECT_EQ(part(Scene{}.import(text), "auth"), "");
}

TEST(Import, users_of_basic_are_lower_case_in_squid) {
    EXPECT_EQ(matchers(has_auth + "acl u proxy_auth anna Bob\nhttp_access allow u\n"), R"({"u":{"user":"anna"}})");
    EXPECT_EQ(matchers(has_auth + "acl u proxy_auth anna Bob\nacl u proxy_auth -i Carl\nhttp_access allow u\n"),
              R"({"u":{"user":["anna","Bob","Carl"]}})");
}

// ---- ACL types ----

TEST(Import, addresses_may_be_ranges_masks_and_have_host_bits) {
    EXPECT_EQ(matchers("acl a src 10.0.0.3-10.0.0.6 10.1.2.3/255.255.0.0 2001:db8::1/32\nhttp_access allow a\n"),
              R"({"a":{"source":["10.0.0.3","10.0.0.4/31","10.0.0.6","10.1.0.0/16","2001:db8::/32"]}})");
    EXPECT_EQ(access("acl a src 0.0.0.0/0.0.0.0\nhttp_access deny a\n"), R"([{"deny":"all"}])");
}

TEST(Import, times_include_their_last_minute) {
    EXPECT_EQ(
        matchers(
            "acl t time MTWHF 08:00-18:00\nacl t time D\nacl t time 22:00-23:59\nacl t time SA 0:00-24:00\nhttp_access deny t\n"),
        without_space(R"({"t":{"time":["Mon-Fri 08:00-18:01","Mon-Fri","22:00-24:00","Sun,Sat"]}})"));
}

TEST(Import, hosts_that_are_no_hosts_keep_their_meaning) {
    EXPECT_EQ(matchers("acl h dstdomain .A.example *.ads.example [2001:db8::1]\nhttp_access deny h\n"),
              R"({"h":{"host":[".A.example","2001:db8::1"]},"h-2":{"host_matches":"(?i)^\\*\\.ads\\.example$"}})");
}

TEST(Import, expressions_are_matched_with_the_decoded_url) {
    EXPECT_EQ(
        matchers("acl u url_regex -i poker +i Ads\nacl p urlpath_regex \\.iso$\nacl b browser ^curl\nacl r req_header X-A -i b\n"
                 "http_access deny u p b r\n"),
        R"({"u":{"decoded_url_matches":["(?i)poker","Ads"]},"p":{"decoded_path_matches":"\\.iso$"},)"
        R"("b":{"header":"User-Agent:^curl"},"r":{"header":"X-A:(?i)b"}})");
}

TEST(Import, an_expression_for_an_empty_path_does_not_match_connect) {
    EXPECT_EQ(matchers("acl p urlpath_regex x? \\.iso\nhttp_access deny p\n"),
              R"({"p":{"decoded_path_matches":"x?","decoded_url_matches":"/"},"p-2":{"decoded_path_matches":"\\.iso"}})");
}

TEST(Import, no_value_makes_garner_read_a_file) {
    EXPECT_EQ(matchers("acl u url_regex file:a\nacl r req_header file a\nacl m dstdomain file:/etc/passwd\nhttp_access deny u\n"
                       "http_access allow r\nhttp_access allow m\n"),
              R"({"u":{"decoded_url_matches":"(?:)file:a"},"m":{"host_matches":"(?i)^file:/etc/passwd$"}})");
}

TEST(Import, names_of_matchers_are_letters_digits_hyphens_and_lines) {
    EXPECT_EQ(matchers("acl a.b src 10.0.0.1\nacl a-b src 10.0.0.2\nhttp_access deny a.b a-b\n"),
              R"({"a-b":{"source":"10.0.0.1"},"a-b-2":{"source":"10.0.0.2"}})");
}

TEST(Import, ports_by_name_are_those_of_http_port) {
    EXPECT_EQ(matchers("http_port 127.0.0.1:3129 name=guests\nacl g myportname guests\nhttp_access deny g\n"),
              R"({"g":{"listener":"3129"}})");
}

// ---- files ----

TEST(Import, lists_are_read_from_files_and_end_the_line) {
    Scene const scene{{{"shut", "# why\n.casino.example # bad\n\n  bets.example\r\n"}}};
    EXPECT_EQ(part(scene.import("acl s dstdomain \"shut\" .late.example\nhttp_access deny s\n"), "matchers"),
              R"({"s":{"host":"file:/etc/squid/shut"}})");
    EXPECT_EQ(part(scene.import("acl s dstdomain .early.example \"shut\" .late.example\nhttp_access deny s\n"), "matchers"),
              R"({"s":{"host":[".early.example",".casino.example","bets.example"]}})");
    EXPECT_EQ(part(scene.import("configuration_includes_quoted_values on\nacl s dstdomain \"a.example\" parameters(\"shut\")\n"
                                "http_access deny s\n"),
                   "matchers"),
              R"({"s":{"host":["a.example",".casino.example","bets.example"]}})");
}

TEST(Import, a_list_that_cannot_be_read_denies) {
    auto const imported = Scene{}.import("acl s dstdomain \"gone\"\nhttp_access deny s\nhttp_access allow all\n");
    EXPECT_TRUE(imported.needs_you);
    EXPECT_NE(imported.report.find("squid.conf:1: needs you: acl: ACL s: the file gone cannot be read: No such file"),
              std::string::npos);
    EXPECT_NE(imported.configuration.find(R"("deny": "all")"), std::string::npos);
}

/// The matcher of an ACL whose values are in the file "list".
std::string from_file(std::string const& type, std::string const& list, std::string const& before = "") {
    Scene const scene{{{"list", list}}};
    auto const imported = scene.import(before + "acl s " + type + " \"list\"\nhttp_access deny s\n");
    EXPECT_FALSE(imported.needs_you) << imported.report;
    return part(imported, "matchers");
}

TEST(Import, a_list_stays_in_its_file_if_garner_reads_the_same_values_there) {
    struct Case {
        char const *type, *list, *key;
    };
    for (auto const& c :
         {Case{"dstdomain", ".a.example\nwww.b.example # why\n", "host"},
          Case{"src", "10.0.0.0/8\n192.0.2.1\n2001:db8::/32\n", "source"}, Case{"dst", "# none\n198.51.100.0/24\n", "destination"},
          Case{"port", "80\n8000-8999\n", "port"}, Case{"localport", "3128\n", "listener"},
          Case{"proxy_auth", "anna\nbob\n", "user"}, Case{"url_regex", "poker\n^http://[a-z]+\\.bets\\.\n", "decoded_url_matches"},
          Case{"urlpath_regex", "\\.mp4$\n", "decoded_path_matches"}, Case{"dstdom_regex", "^ads[0-9]*\\.\n", "host_matches"}})
        EXPECT_NE(from_file(c.type, c.list, has_auth).find("\"" + std::string(c.key) + R"(":"file:/etc/squid/list")"),
                  std::string::npos)
            << c.type << from_file(c.type, c.list, has_auth);
}

TEST(Import, a_list_is_copied_if_garner_would_read_other_values_in_its_file) {
    struct Case {
        char const *type, *list, *copied;
    };
    for (auto const& c :
         {Case{"dstdomain", "*.a.example\nb.example\n", R"x("host":"b.example"},"s-2":{"host_matches":"(?i)^\\*)x"},
          Case{"dstdomain", "b.example\v\n", R"("host":"b.example")"},
          Case{"dstdomain", "b.example\n127.0.0.1\n", R"("host":["b.example","127.0.0.1"])"},
          Case{"dstdomain", "localhost\n", R"("host":"localhost")"},
          Case{"src", "10.1.2.3/255.255.0.0\n", R"("source":"10.1.0.0/16")"},
          Case{"src", "10.0.0.1-10.0.0.2\n", R"("source":["10.0.0.1","10.0.0.2"])"},
          Case{"src", "10.0.0.0/8\n10.0.0.1\n", R"("source":"10.0.0.0/8")"}, Case{"port", "0-80\n", R"("port":"1-80")"},
          Case{"method", "GET\nPURGE\n", R"("method":["GET","PURGE"])"},
          Case{"url_regex -i", "poker\n", R"x("decoded_url_matches":"(?i)poker")x"},
          Case{"url_regex", "-i\npoker\n", R"x("decoded_url_matches":"(?i)poker")x"},
          Case{"urlpath_regex", "x?\n", R"("decoded_path_matches":"x?","decoded_url_matches":"/")"},
          Case{"browser", "^curl\n", R"("header":"User-Agent:^curl")"}, Case{"proxy_auth", "REQUIRED\n", R"("user":"*")"}})
        EXPECT_NE(from_file(c.type, c.list, has_auth).find(c.copied), std::string::npos)
            << c.type << " " << c.list << from_file(c.type, c.list, has_auth);
}

TEST(Import, lists_on_several_lines_of_an_acl_are_files_and_values) {
    Scene const scene{{{"a", ".a.example\n"}, {"b", ".b.example\n"}}};
    EXPECT_EQ(part(scene.import("acl s dstdomain \"a\"\nacl s dstdomain .c.example\nacl s dstdomain \"b\"\nhttp_access deny s\n"),
                   "matchers"),
              R"({"s":{"host":["file:/etc/squid/a",".c.example","file:/etc/squid/b"]}})");
}

TEST(Import, hosts_of_a_peer_are_those_in_the_file) {
    Scene const scene{{{"list", ".a.example\nb.example\n"}}};
    EXPECT_NE(part(scene.import("acl s dstdomain \"list\"\ncache_peer p parent 3128 0\ncache_peer_access p allow s\n"
                                "cache_peer_access p deny all\n"),
                   "peers")
                  .find(R"("domains":[".a.example","b.example"])"),
              std::string::npos);
}

TEST(Import, a_long_list_stays_in_its_file_even_with_addresses) {
    std::string hosts = "192.0.2.1\n";
    for (int i = 0; i < 1'500; ++i) hosts += ".h" + std::to_string(i) + ".example\n";
    EXPECT_EQ(from_file("dstdomain", hosts), R"({"s":{"host":"file:/etc/squid/list"}})");
}

TEST(Import, included_files_are_read_where_they_stand) {
    Scene const scene{{{"conf.d/a.conf", "acl a src 10.0.0.1\nhttp_access deny a\n"}, {"conf.d/b.conf", "bad_directive on\n"}}};
    auto const imported = scene.import("include conf.d/*.conf\nhttp_access allow all\n");
    EXPECT_NE(imported.configuration.find(R"("name": "a.conf:2", "deny": { "is": "a" })"), std::string::npos)
        << imported.configuration;
    EXPECT_EQ(imported.report, "conf.d/b.conf:1: needs you: bad_directive: Squid 5 and Garner know no such directive; remove it\n"
                               "5 lines: 4 translated, 0 dropped, 1 need you\n");
}

TEST(Import, an_include_that_cannot_be_read_denies_from_there_on) {
    EXPECT_EQ(access("acl a src 10.0.0.1\nhttp_access allow a\ninclude gone.conf\nhttp_access allow all\n"),
              R"([{"allow":{"is":"a",)" + any_port + R"(}},{"deny":"all"}])");
}

TEST(Import, files_that_include_each_other_are_a_fault) {
    std::string const circle = "include a.conf\n";
    Files const files{.read = [&](std::string const&) -> Result<std::string> { return circle; },
                      .find = [](std::string const& path) { return std::vector<std::string>{path}; },
                      .locate = [](std::string const& path) { return path; }};
    EXPECT_FALSE(import_squid("a.conf", circle, files));
}

// ---- lines ----

TEST(Import, lines_continue_and_conditions_and_macros_are_resolved) {
    EXPECT_EQ(access("\xef\xbb\xbf# comment\r\nacl a src \\\r\n # within\r\n 10.0.0.1\r\n"
                     "if ${process_number} = 1\r\nhttp_access allow all\r\nelse\r\nhttp_access allow a # all of them\r\nendif\r\n"
                     "if false\nhttp_access allow all\nendif\nhttp_access deny all\n"),
              R"([{"allow":{"is":"a",)" + any_port + R"(}},{"deny":"all"}])");
}

TEST(Import, the_report_has_a_line_for_each_directive_that_is_not_translated) {
    EXPECT_EQ(report("coredump_dir /\nhttp_port 3129 intercept\nssl_bump peek all\ncache_mem 512 MB\nnew_thing 1\n"),
              "squid.conf:1: dropped: coredump_dir: Garner has no such files\n"
              "squid.conf:2: needs you: http_port: set `intercept` of a listener, as in docs/guides/interception-proxy.md\n"
              "squid.conf:3: needs you: ssl_bump: write `bump` and its CA, as in docs/guides/interception.md\n"
              "squid.conf:5: needs you: new_thing: Squid 5 and Garner know no such directive; remove it\n"
              "5 lines: 1 translated, 1 dropped, 3 need you\n");
}

TEST(Import, odd_bytes_and_long_lines_are_read) {
    EXPECT_EQ(report(std::string("acl a src 10.0.0.1\0 10.0.0.2\nhttp_access allow a\n", 49)),
              "2 lines: 2 translated, 0 dropped, 0 need you\n");
    std::string line = "acl a src";
    for (int i = 0; i < 20'000; ++i) line += " 10.0." + std::to_string(i / 256 % 256) + "." + std::to_string(i % 256);
    EXPECT_EQ(report(line + "\nhttp_access allow a\n"), "2 lines: 2 translated, 0 dropped, 0 need you\n");
    EXPECT_NE(report("\xff\x01 x\n").find("squid.conf:1: needs you: ??: "), std::string::npos);
}

// ---- other directives ----

TEST(Import, networks_of_icp_access_are_what_the_lines_allow) {
    EXPECT_EQ(
        part(Scene{}.import("acl lab src 192.0.2.0/24\nacl bad src 192.0.2.128/25\nicp_access deny bad\nicp_access allow lab\n"
                            "icp_access deny all\nicp_port 3130\n"),
             "icp"),
        R"({"address":":3130","allow":"192.0.2.0/25"})");
}

TEST(Import, lists_of_matchers_leave_out_what_earlier_lines_decide) {
    std::string const acls = "acl a dstdomain .a.example\nacl b dstdomain .b.example\nacl get method GET\n";
    EXPECT_EQ(part(Scene{}.import(acls + "always_direct deny a get\nalways_direct allow b\n"), "direct"),
              R"({"always":[{"is":"b","not":"a"},{"is":"b","not":"get"}]})");
    EXPECT_EQ(part(Scene{}.import(acls + "never_direct allow all\n"), "direct"), R"({"never":["all"]})");
    EXPECT_EQ(part(Scene{}.import(acls + "cache deny a\n"), "rules"), R"([{"is":"a","never":true}])");
    EXPECT_EQ(part(Scene{}.import("cache deny all\n"), "rules"), R"([{"never":true}])");
}

TEST(Import, the_maximum_of_refresh_pattern_is_reported) {
    auto const told = [](std::string const& numbers) { return report("refresh_pattern . " + numbers + "\n"); };
    EXPECT_EQ(told("0 20% 4320"),
              "squid.conf:1: dropped: refresh_pattern: the maximum 4320: heuristic lifetimes are at most 1440 minutes in Garner\n"
              "1 lines: 0 translated, 1 dropped, 0 need you\n");
    EXPECT_NE(told("0 20% 60").find("the maximum 60 has no equivalent: `ttl_max` would lower lifetimes that origins give, too"),
              std::string::npos);
    EXPECT_NE(told("0 200% 1440").find("dropped: refresh_pattern: a share above 100 %"), std::string::npos);
    for (char const* numbers : {"0 20% 1440", "1440 0% 10080"})
        EXPECT_EQ(told(numbers), "1 lines: 1 translated, 0 dropped, 0 need you\n") << numbers;
    EXPECT_EQ(part(Scene{}.import("refresh_pattern . 0 20% 4320\n"), "rules"),
              R"([{"default_ttl":"0s","heuristic_factor":0.20,"reload":"honour"}])");
    EXPECT_EQ(part(Scene{}.import("refresh_pattern . 1440 0% 60\n"), "rules"),
              R"([{"default_ttl":"1h","heuristic_factor":0.00,"reload":"honour"}])");
}

TEST(Import, a_log_that_cannot_be_written_is_dropped) {
    Files const files{.read = {}, .find = {}, .locate = {}, .why_not = [](std::string const&, std::string const& value) {
                          return value == "\"/shut/log\"" ? "no file can be created in \"/shut\"" : "";
                      }};
    auto const imported = import_squid("squid.conf", "access_log /shut/log combined\naccess_log daemon:/open/log squid\n", files);
    ASSERT_TRUE(imported) << imported.fault_text();
    EXPECT_EQ(part(*imported, "log"), R"({"format":"combined","access":"/open/log"})");
    EXPECT_NE(
        imported->report.find("squid.conf:1: dropped: access_log: no file can be created in \"/shut\"; the log goes to standard "
                              "output until `log.access` names another file\n"),
        imported->report.npos)
        << imported->report;
    EXPECT_FALSE(imported->needs_you);
}

TEST(Import, a_source_of_users_that_fails_the_check_is_left_out_and_named) {
    auto const import = [](std::string const& text) {
        Files const files{.read = {}, .find = {}, .locate = {}, .why_not = [](std::string const& key, std::string const& value) {
                              bool const fails = value.find("/absent") != value.npos || value.find(".absent") != value.npos;
                              return fails ? key + " is absent" : "";
                          }};
        return *import_squid("squid.conf", text + "acl users proxy_auth REQUIRED\nhttp_access allow users\n", files);
    };
    auto const absent = import("auth_param basic program /usr/lib/squid/basic_ncsa_auth /absent\nauth_param basic realm Uni\n");
    EXPECT_EQ(part(absent, "sources"), R"([{"type":"address","users":{}}])");
    EXPECT_EQ(part(absent, "allow"), R"({"is":"users","port":"1-65535"})");
    EXPECT_EQ(absent.report,
              "squid.conf:1: needs you: auth_param: auth.sources is absent; none of its users can log in. Correct this and import "
              "again, or add { \"type\": \"htpasswd\", \"file\": \"/absent\" } to auth.sources\n"
              "4 lines: 3 translated, 0 dropped, 1 need you\n");
    EXPECT_TRUE(absent.needs_you);

    auto const one_of_two = import("auth_param negotiate program /usr/lib/squid/negotiate_kerberos_auth -k /absent\n"
                                   "auth_param basic program /usr/lib/squid/basic_ncsa_auth /users\n");
    EXPECT_EQ(part(one_of_two, "sources"), R"([{"type":"htpasswd","file":"/users"}])");
    EXPECT_TRUE(one_of_two.needs_you);
}

TEST(Import, a_ca_file_or_store_that_fails_the_check_is_left_out) {
    Files const files{.read = {}, .find = {}, .locate = {}, .why_not = [](std::string const& key, std::string const&) {
                          return key == "tls.ca_file" || key == "disk.path" ? "is absent" : "";
                      }};
    auto const imported =
        *import_squid("squid.conf", "tls_outgoing_options cafile=/ca.pem\ncache_dir ufs /store 100 16 256\n", files);
    EXPECT_EQ(part(imported, "tls") + part(imported, "disk"), "");
    EXPECT_EQ(
        imported.report,
        "squid.conf:1: needs you: tls_outgoing_options: is absent; the CAs of the system verify origins until tls.ca_file names "
        "a file\nsquid.conf:2: dropped: cache_dir: is absent\n2 lines: 0 translated, 1 dropped, 1 need you\n");
}

TEST(Import, the_login_at_a_peer_is_its_own_or_that_of_the_client) {
    auto const peer = [](std::string const& login) {
        return part(Scene{}.import("cache_peer p parent 3128 0 login=" + login + "\n"), "peers");
    };
    EXPECT_NE(peer("a:b").find(R"("login":"a:b")"), std::string::npos);
    EXPECT_NE(peer("PASS").find(R"("login":"pass")"), std::string::npos);
    EXPECT_NE(peer("PASSTHRU").find(R"("login":"pass")"), std::string::npos);
    EXPECT_EQ(peer("*:b").find("login"), std::string::npos);
    EXPECT_NE(report("cache_peer p parent 3128 0 login=*:b\n").find("login=*:b is not user:password or PASS"), std::string::npos);
}

TEST(Import, purge_has_rules_of_its_own) {
    EXPECT_EQ(access("acl PURGE method PURGE\nhttp_access allow PURGE localhost\nhttp_access deny PURGE\nhttp_access allow all\n",
                     "purge"),
              R"([{"allow":{"is":"localhost"}},{"deny":"all"}])");
    EXPECT_EQ(access("http_access allow all\n", "purge"), R"([{"deny":"all"}])");
}

TEST(Import, sources_of_users_are_translated) {
    auto const auth = [](std::string const& program) { return part(Scene{}.import("auth_param " + program + "\n"), "sources"); };
    EXPECT_EQ(
        auth("basic program /usr/lib/squid/basic_ldap_auth -b \"dc=uni, dc=example\" -D cn=proxy -W /etc/pw -h ldap.uni.example"),
        R"x([{"type":"ldap","url":"ldap://ldap.uni.example","base":"dc=uni,dc=example","filter":"(uid={user})",)x"
        R"x("bind_dn":"cn=proxy","bind_password_file":"/etc/pw"}])x");
    EXPECT_EQ(auth("negotiate program /usr/lib/squid/negotiate_kerberos_auth -k /etc/k -r -s HTTP/p@CORP"),
              R"([{"type":"negotiate","keytab":"/etc/k","realm":"CORP"}])");
    EXPECT_EQ(auth("negotiate program /usr/lib/squid/negotiate_kerberos_auth -k /etc/k -s HTTP/p@CORP"),
              R"([{"type":"negotiate","keytab":"/etc/k"}])");
    EXPECT_EQ(auth("basic program /usr/lib/squid/basic_pam_auth"), "");
}

TEST(Import, the_reason_of_a_refusal_is_that_of_the_last_acl) {
    EXPECT_EQ(access("acl a src 10.0.0.1\nacl b port 80\ndeny_info 303:http://intranet.example/why b\nhttp_access deny a "
                     "b\nhttp_access allow all\n"),
              R"([{"deny":{"is":["a","b"]},"because":"Seehttp://intranet.example/why"},{"allow":{)" + any_port + "}}]");
}

TEST(Import, every_directive_is_in_the_table_once) {
    std::map<std::string_view, int> names;
    for (auto const& row : all_directives()) EXPECT_EQ(++names[row.name], 1) << row.name;
    for (auto const* name : {"icap_service", "quick_abort_min", "wccp2_router", "netdb_filename", "sslproxy_cert_error"})
        EXPECT_NE(find_directive(name), nullptr) << name;
    EXPECT_EQ(find_directive("htpp_access"), nullptr);
}

TEST(Import, the_guide_names_directives_of_the_table) {
    std::ifstream guide(test::source("docs/guides/from-squid.md"));
    static std::regex const directive("`([a-z]+_[a-z0-9_]+)");
    std::size_t found = 0;
    for (std::string line; std::getline(guide, line);) {
        auto const cell = line.starts_with("| ") ? line.substr(0, line.find(" | ")) : "";
        if (cell.find("`acl ") != cell.npos) continue;   // types of ACLs
        for (std::sregex_iterator at(cell.begin(), cell.end(), directive), end; at != end; ++at, ++found)
            EXPECT_NE(find_directive((*at)[1].str()), nullptr) << line;
    }
    EXPECT_GT(found, 60u);
}

}   // namespace
}   // namespace garner::importing
