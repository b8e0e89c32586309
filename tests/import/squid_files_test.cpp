// Files that a squid.conf names: lists of values, and included files.
#include "import/squid_conf_scene.hpp"

namespace garner::importing {
namespace {

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

}   // namespace
}   // namespace garner::importing
