// Rules, logins and ACLs of a squid.conf.
#include "import/squid_conf_scene.hpp"

namespace garner::importing {
namespace {

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

TEST(Import, each_rule_of_a_line_has_its_own_name) {
    auto const text =
        "acl a src 10.0.0.0/8\nacl b port 81\nacl either any-of a b\nhttp_access deny either\nhttp_access allow all\n";
    auto const rules = part(Scene{}.import(text), "access");
    for (char const* rule : {R"x({"name":"squid.conf:4","deny":{"is":"a"}})x", R"x({"name":"squid.conf:4(2)","deny":{"is":"b"}})x",
                             R"x({"name":"squid.conf:5","allow":{"port":"1-65535"}})x"})
        EXPECT_NE(rules.find(rule), rules.npos) << rule << rules;
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

TEST(Import, names_of_acls_keep_their_letters) {
    auto const text = "acl b\xc3\xbcro src 10.0.0.0/8\nacl \xe6\x97\xa5.x port 80\nacl b\xfcro dstdomain .a.test\n"
                      "http_access deny B\xc3\xbcRO b\xfcro\nhttp_access allow \xe6\x97\xa5.x\nhttp_access deny all\n";
    EXPECT_EQ(matchers(text), R"({"büro":{"source":"10.0.0.0/8"},"b-ro":{"host":".a.test"},"日-x":{"port":"80"}})");
    EXPECT_EQ(access(text), R"([{"deny":{"is":["büro","b-ro"]}},{"allow":{"is":"日-x",)" + any_port + R"(}},{"deny":"all"}])");
}

}   // namespace
}   // namespace garner::importing
