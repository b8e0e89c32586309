// A squid.conf becomes a configuration and a report.
#include <fstream>
#include <regex>

#include "import/squid_conf_scene.hpp"
#include "support/places.hpp"

namespace garner::importing {
namespace {

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

// ---- directives ----

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
