#include "config/load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "io/privileges.hpp"
#include "policy/policies.hpp"
#include "support.hpp"

namespace garner::config {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A configuration that uses every key.
constexpr char const* contract = R"({
  "listen":  [ { "address": "127.0.0.1:3128" },                        // forward proxy
               { "address": "127.0.0.1:8080", "origin": "http://127.0.0.1:8000" } ],   // accelerator
  "workers": 0,
  "memory":  { "size": "256 MiB", "policy": "gdsf", "object_max": "4 MiB", "fill_share_max": 0.25 },
  "disk":    { "path": "/var/cache/garner", "size": "10 GiB", "policy": "lfuda", "object_max": "4 GiB" },
  "caching": { "never": ["cgi-bin"], "negative_ttl": "5m", "default_ttl": "0s", "offline": false,
               "targeted_cache_control": [], "rules": [ ] },
  "dns":     { "servers": [], "negative_ttl": "5m" },
  "icp":     { "address": "0.0.0.0:3130", "timeout": "2s", "source_ping": false, "allow": ["10.0.0.0/8"] },
  "peers":   [ { "name": "campus", "type": "parent", "host": "10.0.0.3", "http_port": 3128, "icp_port": 3130,
                 "domains": [".edu"], "weight": 1, "default": false } ],
  "direct":  { "always": [ { "url_contains": ["cgi-bin", "?"] } ], "never": [] },
  "access":  [ { "allow": { "source": ["127.0.0.0/8", "::1"] } }, { "deny": "all" } ],
  "log":     { "access": "-", "format": "squid", "level": "info" },
  "admin":   { "address": "127.0.0.1:3131" }
})";

TEST(Load, the_contract_is_read) {
    auto const loaded = load(contract);
    EXPECT_EQ(told(loaded), "");
    auto const& config = loaded.config;
    ASSERT_EQ(config.proxy.listen.size(), 2u);
    EXPECT_EQ(config.proxy.listen[0], (proxy::Listen{"127.0.0.1", 3128, std::nullopt}));
    EXPECT_EQ(config.proxy.listen[1], (proxy::Listen{"127.0.0.1", 8080, "http://127.0.0.1:8000"}));
    EXPECT_EQ(config.memory.size, 256 * MiB);
    EXPECT_EQ(config.proxy.caching.never, std::vector<std::string>{"cgi-bin"});
    EXPECT_EQ(config.mesh.address, "0.0.0.0");
    EXPECT_EQ(config.mesh.allow.at(0).text(), "10.0.0.0/8");
    EXPECT_EQ(config.mesh.peers.at(0).domains.at(0).host.text(), ".edu");
    EXPECT_EQ(config.mesh.direct.always.at(0).url_contains.size(), 2u);
    ASSERT_EQ(config.proxy.access.rules().size(), 2u);
    EXPECT_EQ(config.proxy.access.rules()[1].place, "access[1]: deny");
    EXPECT_EQ(config.proxy.access.rules()[1].matchers, "all");
    EXPECT_FALSE(config.proxy.access.rules()[1].allow);
}

TEST(Load, the_disk_tier_is_told_all_it_wants_to_know) {
    auto const loaded = load(R"({"disk": {"path": "/var/cache/garner", "size": "100 GiB", "policy": "lfuda", "object_max": "1 GiB",
        "object_min": "1 KiB", "buffer": "128 MiB", "sync_interval": "1s", "timeout": "100ms", "threads": 16,
        "admit": "second-hit", "rate_max": "20 MB"}})");
    EXPECT_EQ(told(loaded), "");
    store::DiskOptions expected;
    expected.path = "/var/cache/garner";
    expected.size = 100 * GiB;
    expected.policy = "lfuda";
    expected.object_max = GiB;
    expected.object_min = KiB;
    expected.buffer = 128 * MiB;
    expected.sync = milliseconds{1'000};
    expected.patience = milliseconds{100};
    expected.readers = 16;
    expected.admit = store::DiskOptions::Admit::second_hit;
    expected.rate = 20'000'000;
    EXPECT_TRUE(loaded.config.disk == expected);
    EXPECT_TRUE(load("{}").config.disk == store::DiskOptions{});
}

TEST(Load, what_is_not_written_of_the_disk_tier_follows_its_size) {
    auto const small = load("{}", {"disk.size=16MiB"});
    EXPECT_EQ(told(small), "");
    EXPECT_EQ(small.config.disk.object_max, 8 * MiB);
    EXPECT_EQ(small.config.disk.buffer, 4 * MiB);
    EXPECT_EQ(load("{}", {"disk.size=100GiB"}).config.disk.buffer, store::DiskOptions{}.buffer);
    auto const told_so = load("{}", {"disk.size=1GiB", "disk.object_max=2GiB"});
    EXPECT_EQ(told(told_so), "");
    EXPECT_EQ(told_so.notices.at(0).key, "disk.object_max");
    EXPECT_EQ(told(load("{}", {"disk.size=1GiB", "disk.buffer=16MiB"})), "");
    EXPECT_THAT(told(load("{}", {"disk.size=1GiB", "disk.buffer=4MiB"})),
                HasSubstr("disk.buffer: is less than four segments of a disk tier of 1 GiB (write \"8 MiB\" or more"));
}

TEST(Load, the_example_has_no_faults_and_is_the_defaults) {
    auto const path = (repository() / "etc/garner.json").string();
    auto const loaded = load_file(path, {});
    EXPECT_EQ(told(loaded), "");
    EXPECT_TRUE(loaded.notices.empty());
    Config const fresh;
    EXPECT_EQ(loaded.config.proxy.listen, fresh.proxy.listen);
    EXPECT_EQ(loaded.config.memory.size, fresh.memory.size);
    EXPECT_EQ(loaded.config.memory.object_max, fresh.memory.object_max);
    EXPECT_EQ(loaded.config.proxy.deadlines.body, fresh.proxy.deadlines.body);
    EXPECT_EQ(loaded.config.proxy.limits.head.bytes, fresh.proxy.limits.head.bytes);
    EXPECT_EQ(loaded.config.pool.idle_timeout, fresh.pool.idle_timeout);
    EXPECT_EQ(loaded.config.admin, fresh.admin);
    EXPECT_EQ(loaded.config.auth, fresh.auth);
}

TEST(Load, defaults_need_no_file) {
    auto const loaded = load_defaults({});
    EXPECT_EQ(told(loaded), "");
    EXPECT_EQ(loaded.config.proxy.listen, Config{}.proxy.listen);
    EXPECT_TRUE(loaded.config.proxy.access.empty());
}

TEST(Load, every_fault_is_told_with_its_line_and_the_nearest_key) {
    auto const loaded = load(R"({
  "listne": [],
  "memory": {
    "size": "64 MB/s",
    "szie": 5
  },
  "workers": -1,
  "deadlines": { "head": 30 },
  "object_max": 1 })");
    EXPECT_EQ(told(loaded),
              "test.json:2: listne: unknown key (did you mean listen?)\n"
              "test.json:4: memory.size: \"64 MB/s\" is not a size (write it like \"64 MiB\"; units are B, KB, MB, GB, "
              "TB, KiB, MiB, GiB, TiB)\n"
              "test.json:5: memory.szie: unknown key (did you mean memory.size?)\n"
              "test.json:7: workers: -1 is out of range (write a number between 0 and 1024)\n"
              "test.json:8: deadlines.head: a time needs a unit (write it like \"300ms\", \"2s\", \"5m\", \"1h\" or "
              "\"7d\")\n"
              "test.json:9: object_max: unknown key at this place (did you mean memory.object_max?)\n");
}

TEST(Load, a_rule_with_100000_hosts_is_read_and_a_file_beyond_16_MiB_is_refused) {
    std::string hosts;
    for (int i = 0; i < 100'000; ++i) hosts += (i ? ", \"" : "\"") + std::to_string(i) + ".advertising.example\"";
    auto const path = testing::TempDir() + "garner_hosts.json";
    std::ofstream(path) << R"({"access": [{"deny": {"host": [)" << hosts << R"(]}}, {"allow": "all"}]})";
    auto loaded = load_file(path, {});
    EXPECT_EQ(told(loaded), "");
    ASSERT_EQ(loaded.config.proxy.access.rules().size(), 2u);
    EXPECT_EQ(loaded.config.proxy.access.rules()[0].match.host.size(), 100'000u);
    std::ofstream(path) << "{" << std::string(16 * MiB, ' ') << "}";
    EXPECT_THAT(told(load_file(path, {})), HasSubstr("is larger than 16 MiB"));
    std::filesystem::remove(path);
}

TEST(Load, faults) {
    struct Row {
        char const* text;
        char const* told;
    };
    for (Row const& row : {
             Row{R"({"listen": []})", "test.json:1: listen: nothing to listen on"},
             Row{R"({"listen": [{}]})", "listen[0]: has no address (add it)"},
             Row{R"({"listen": {"address": ":80"}})", "listen: expects a list, not an object"},
             Row{R"({"listen": [{"address": "127.0.0.1:99999"}]})", "listen[0].address: \"127.0.0.1:99999\" has a port"},
             Row{R"({"listen": [{"address": "127.0.0.1:0"}]})", "has a port outside 1 to 65535"},
             Row{R"({"listen": [{"address": "127.0.0.1"}]})", "has no port"},
             Row{R"({"listen": [{"address": "::1"}]})", "has no port"},
             Row{R"({"listen": [{"address": "127.0.0.1:http"}]})", "has a port that is not a number"},
             Row{R"({"listen": [{"address": "proxy.example:80"}]})", "has no IP address before its port"},
             Row{R"({"listen": [{"address": 3128}]})", "expects an address with a port, not the number 3128"},
             Row{R"({"listen": [{"address": ":80"}, {"address": ":80"}]})",
                 "listen[1].address: [::]:80 is already the address of another listener"},
             Row{R"({"listen": [{"address": "localhost:3131"}]})", "127.0.0.1:3131 is also admin.address"},
             Row{R"({"admin": {"address": "127.0.0.1:3128"}})", "127.0.0.1:3128 is also admin.address"},
             Row{R"({"seen": {"address": "127.0.0.1:3128"}})", "127.0.0.1:3128 is also seen.address"},
             Row{R"({"listen": [{"address": ":80", "origin": "127.0.0.1:8000"}]})", "is not an origin"},
             Row{R"({"listen": [{"address": ":80", "origin": "ftp://a"}]})", "is not an origin"},
             Row{R"({"listen": [{"address": ":80", "origin": "http://a/b"}]})", "has a path"},
             Row{R"({"listen": [{"address": ":80", "intercept": "nat"}]})", "listen[0].intercept: \"nat\" is not known"},
             Row{R"({"listen": [{"address": ":80", "intercept": "tproxy", "origin": "http://a"}]})",
                 "listen[0].intercept: cannot be used together with origin: the client chooses the server (remove one of them)"},
             Row{R"({"listen": [{"address": ":80", "intercept": "redirect", "proxy_protocol": ["10.0.0.5"]}]})",
                 "listen[0].intercept: cannot be used together with proxy_protocol: "},
             Row{R"({"listen": [{"address": ":80", "intercept": "redirect", "tls": {"certificates": []}}]})",
                 "listen[0].intercept: cannot be used together with tls: "},
             Row{R"({"workers": 1.5})", "expects a whole number, not the number 1.5"},
             Row{R"({"workers": 99999999999999999999})", "expects a whole number"},
             Row{R"({"workers": "two"})", "expects a whole number, not text"},
             Row{R"({"memory": 5})", "memory: expects an object, not the number 5"},
             Row{R"({"memory": {"size": true}})", "expects a size, not true"},
             Row{R"({"memory": {"size": 1}})", "1 is out of range"},
             Row{R"({"memory": {"size": -1}})", "expects a size, not the number -1"},
             Row{R"({"memory": {"size": "64M"}})", "is not a size"},
             Row{R"({"memory": {"fill_share_max": 2}})", "2 is out of range (write a number between 0.01 and 1.0)"},
             Row{R"({"memory": {"policy": "gdfs"}})", "memory.policy: \"gdfs\" is not known (did you mean \"gdsf\"?"},
             Row{R"({"memory": {"policy": "finest"}})", "\"finest\" is not known (write one of auto, lru, "},
             Row{R"({"memory": {"policy": "gdfs:beta=1"}})", "memory.policy: \"gdfs\" is not known (did you mean \"gdsf\"?"},
             Row{R"({"memory": {"policy": "lru:depth=2"}})",
                 "memory.policy: lru: no setting \"depth\"; this policy has no settings (write \"lru:setting=value\""},
             Row{R"({"memory": {"policy": 7}})", "memory.policy: expects a name, not the number 7"},
             Row{R"({"memory": {"policy": "auto:aim=speed"}})",
                 "memory.policy: auto: \"aim\": \"speed\" is not one of objects, bytes"},
             Row{R"({"memory": {"policy": "auto", "what_if": false}})", "memory.what_if: is false, but memory.policy \"auto\""},
             Row{R"({"disk": {"size": "15 MiB"}})", "disk.size: 15 MiB is out of range (write a size between 16 MiB and"},
             Row{R"({"disk": {"policy": "fifo-reinsertoin"}})",
                 "did you mean \"fifo-reinsertion\"? It is one of fifo-reinsertion, "},
             Row{R"({"disk": {"policy": "fifo-reinsertion:x=1"}})", "disk.policy: \"fifo-reinsertion\" has no settings"},
             Row{R"({"disk": {"policy": "lru:depth=2"}})", "disk.policy: lru: no setting \"depth\""},
             Row{R"({"memory": {"policy": "fifo-reinsertion"}})", "memory.policy: \"fifo-reinsertion\" is not known"},
             Row{R"({"disk": {"policy": "auto"}})", "disk.policy: \"auto\" is not known"},
             Row{R"({"disk": {"object_min": "2 MiB", "object_max": "1 MiB"}})", "disk.object_min: is larger than disk.object_max"},
             Row{R"({"disk": {"sync_interval": "1ms"}})",
                 "disk.sync_interval: 1ms is out of range (write a time between 10ms and 10s)"},
             Row{R"({"disk": {"timeout": "1m"}})", "disk.timeout: 1m is out of range"},
             Row{R"({"disk": {"threads": 65}})", "disk.threads: 65 is out of range (write a number between 1 and 64)"},
             Row{R"({"disk": {"admit": "some"}})", "\"some\" is not known (write one of all, second-hit)"},
             Row{R"({"disk": {"buffer": "1 MiB"}})", "disk.buffer: 1 MiB is out of range"},
             Row{R"({"dns": {"servers": ["dns.example"]}})", "dns.servers[0]: \"dns.example\" is not an IP address"},
             Row{R"({"dns": {"servers": ["10.0.0.1:x"]}})", "has a port that is not a number"},
             Row{R"({"dns": {"servers": ["a:53"]}})", "has no IP address before its port"},
             Row{R"({"dns": {"servers": [":53"]}})", "has no IP address before its port"},
             Row{R"({"dns": {"servers": ["localhost:53"]}})", "has no IP address before its port"},
             Row{R"({"dns": {"positive_ttl": "9999999d"}})", "\"9999999d\" is out of range (write a time between 1ms and 366d)"},
             Row{R"({"dns": {"positive_ttl": "9999999"}})", "is not a time"},
             Row{R"({"memory": {"size": "99999999999 TiB"}})", "\"99999999999 TiB\" is out of range (write a size between"},
             Row{R"({"tls": {"verify": "no"}})", "expects true or false, not text"},
             Row{R"({"log": {"format": "sqiud"}})", "did you mean \"squid\"?"},
             Row{R"({"log": {"access": "a\nb"}})", "has a control character"},
             Row{R"({"forwarded": true})", "expects a name, not true (write one of auto, off, forwarded, x-forwarded-for)"},
             Row{R"({"via": "a b"})", "is not a name for Via"},
             Row{R"({"limits": {"target_max": "1 MiB"}})", "limits.target_max: is not below limits.head_max"},
             Row{R"({"access": [{"allow": "everyone"}]})", "access[0].allow: expects matchers, not \"everyone\""},
             Row{R"({"access": [{"permit": "all"}]})", "access[0].permit: unknown key (valid keys: allow, deny, name, because)"},
             Row{R"({"access": [{}]})", "a rule is either allow or deny"},
             Row{R"({"access": [{"allow": "all", "deny": "all"}]})", "a rule is either allow or deny"},
             Row{R"({"access": ["deny"]})", "expects a rule, not text"},
             Row{R"({"access": [{"allow": {"user": "anna"}}]})", "access[0].allow.user: no client has a user: auth has no sources"},
             Row{R"({"access": [{"allow": {"source": "10.0.0.1/8"}}]})", "has bits set after its prefix"},
             Row{R"({"access": [{"allow": {"source": ["10.0.0.0/40"]}}]})", "source[0]: \"10.0.0.0/40\" has no valid prefix"},
             Row{R"({"access": [{"allow": {"source": "lan"}}]})", "\"lan\" is not a network"},
             Row{R"({"access": [{"allow": {"port": "0-80"}}]})", "is not a port or a range of ports"},
             Row{R"({"access": [{"allow": {"port": [70000]}}]})", "port[0]: \"70000\" is not a port"},
             Row{R"({"access": [{"allow": {"url_matches": "("}}]})", "is not a regular expression: missing )"},
             Row{R"({"access": [{"allow": {"time": "Mon-Fri 8-18"}}]})", "is not a time of the week"},
             Row{R"({"access": [{"allow": {"method": "get"}}]})", "is not GET: case matters"},
             Row{R"({"access": [{"allow": {"host": "http://a"}}]})", "is not a host"},
             Row{R"({"access": [{"allow": {"url_contains": ""}}]})", "would match every URL"},
             Row{R"({"access": [{"allow": {"host": "127.0.0.01"}}]})", "\"127.0.0.01\" is not a host"},
             Row{R"({"purge": [{"allow": {"sorce": "::1"}}]})", "did you mean purge[0].allow.source?"},
             Row{R"({"purge": [{"deny": {"destination": "::1"}}]})", "purge[0]: a purge has no destination"},
             Row{R"({"caching": {"rules": [{"destination": "::1"}]}})",
                 "caching.rules[0].destination: destination is not for caching rules (use source, host or port)"},
             Row{R"({"caching": {"rules": [{"user": "anna", "never": true}]}})",
                 "caching.rules[0].user: user is only for access and purge (use source, host or port)"},
             Row{R"({"caching": {"rules": [{"group": "staff", "never": true}]}})",
                 "caching.rules[0].group: group is only for access and purge (use source, host or port)"},
             Row{R"({"caching": {"rules": [{"ttl_min": "2h", "ttl_max": "1h"}]}})", "ttl_min is longer than ttl_max"},
             Row{R"({"caching": {"rules": [{"type": "text/css", "reload": "ignore"}]}})",
                 "reload applies before the type of the response is known"},
             Row{R"({"caching": {"rules": [{"reload": true}]}})", "caching.rules[0].reload"},
             Row{R"({"caching": {"rules": [{"type": "images"}]}})", "is not a media type"},
             Row{R"({"group": {"voters": ["10.0.0.2:3133"]}})", "group: has no name"},
             Row{R"({"group": {"tag_fields": ["X-Tag"]}})", "write one of Cache-Groups, Surrogate-Key, Cache-Tag"},
             Row{R"({"group": {"objects": [{"destination": "::1"}]}})", "destination is not known of a stored response"},
             Row{R"({"peers": [{"name": "a", "host": "b"}, {"name": "a", "host": "c"}]})", "two peers are named \"a\""},
             Row{R"({"peers": [{"name": "a", "host": "b", "type": "cousin"}]})", "\"cousin\" is not known"},
             Row{R"({"peers": [{"name": "a", "host": "10.0.0.1:3128"}]})", "without port"},
             Row{R"({"peers": [{"name": "a", "host": "b", "domains": ["!!c"]}]})", "excludes twice"},
             Row{R"({"peers": [{"name": "a", "host": "b", "login": "PASS"}]})", "has no password"},
             Row{R"({"peers": [{"name": "a", "host": "b", "digest_url": "/x"}]})", "is not a URL"},
             Row{R"({"peers": [{"name": "a", "host": "b", "type": "sibling", "default": true}]})", "is for parents"},
             Row{R"({"peers": [{"name": "a", "host": "127.0.0.1"}]})", "is this proxy itself"},
             Row{R"({"icp": {"address": "127.0.0.1:4000"}, "htcp": {"address": "127.0.0.1:4000"}})",
                 "uses the same address and port as icp"},
             Row{R"([])", "test.json:1: the file is not a JSON object"},
         })
        EXPECT_THAT(told(load(row.text)), HasSubstr(row.told)) << row.text;
}

TEST(Load, duplicate_keys_are_refused) {
    EXPECT_EQ(told(load("{\n\"memory\": {\n\"size\": \"1 GiB\",\n\"size\": \"2 GiB\"}}")),
              "test.json:4: memory.size: this key is given twice (the first is in line 3; keep one)\n");
}

TEST(Load, broken_json_is_told_with_its_line) {
    EXPECT_THAT(told(load("{\n\"workers\": 2,\n}")), StartsWith("test.json:3: syntax error"));
    EXPECT_THAT(told(load("{\n\"workers\": 2,\n}")), HasSubstr("(remove the comma before the brace)"));
    EXPECT_THAT(told(load("{\n\"workers\": 2\n\"memory\": {}}")), HasSubstr("(put a comma after the value before it)"));
    EXPECT_THAT(told(load("{\n\"workers\": two\n}")), StartsWith("test.json:2: "));
    EXPECT_THAT(told(load("{\"log\": {\"access\": \"-}\n}")), HasSubstr("test.json:1: "));
    EXPECT_THAT(told(load("")), HasSubstr("missing"));
    EXPECT_THAT(told(load("{} {}")), HasSubstr("test.json:1: "));
    EXPECT_THAT(told(load(std::string(100, '['))), HasSubstr("nested deeper than 32 levels"));
    EXPECT_THAT(told(load(std::string(500'000, '['))), HasSubstr("nested deeper"));
}

TEST(Load, lines_of_list_items_are_their_own) {
    auto const loaded = load("{\"access\": [{\"allow\": {\"port\": [\n80,\n70000\n,\n\"x\"]}}],\n"
                             "\"dns\": {\"servers\": [\n\"10.0.0.1\",\n\"nowhere\"]}}");
    ASSERT_EQ(loaded.faults.size(), 3u);
    EXPECT_EQ(loaded.faults[0].line, 3u);
    EXPECT_EQ(loaded.faults[1].line, 5u);
    EXPECT_EQ(loaded.faults[2].line, 8u);
}

TEST(Load, overrides_win_and_make_what_is_absent) {
    auto const loaded =
        load(R"({"memory": {"size": "1 GiB"}})", {"memory.size=64MiB", "listen[0].address=127.0.0.1:4000",
                                                  "listen[1].address=[::1]:4000", "caching.never=[\"a\",\"b\"]", "workers=3",
                                                  "log.access=", "tls.verify=false", "icp.allow=10.0.0.0/8", "admin.address="});
    EXPECT_EQ(told(loaded), "");
    EXPECT_EQ(loaded.config.memory.size, 64 * MiB);
    ASSERT_EQ(loaded.config.proxy.listen.size(), 2u);
    EXPECT_EQ(loaded.config.proxy.listen[1].address, "::1");
    EXPECT_EQ(loaded.config.proxy.listen[1].port, 4000);
    EXPECT_EQ(loaded.config.proxy.caching.never.size(), 2u);
    EXPECT_EQ(loaded.config.workers, 3u);
    EXPECT_EQ(loaded.config.proxy.log.access, "");
    EXPECT_FALSE(loaded.config.tls.verify);
    EXPECT_FALSE(loaded.config.admin.enabled);
}

TEST(Load, faulty_overrides_are_named) {
    EXPECT_EQ(told(load("{}", {"memory.szie=1"})), "--set memory.szie: unknown key (did you mean memory.size?)\n");
    EXPECT_THAT(told(load("{}", {"memory.size=big"})), StartsWith("--set memory.size: \"big\" is not a size"));
    EXPECT_THAT(told(load("{}", {"memory"})), StartsWith("--set memory: no value"));
    EXPECT_THAT(told(load("{}", {"=1"})), HasSubstr("not a key"));
    EXPECT_THAT(told(load("{}", {"listen[x].address=:80"})), HasSubstr("not a key"));
    EXPECT_EQ(told(load("{}", {"listen[1].address=:80"})),
              "--set listen[1].address: the list has only 0 items (set listen[0] before it)\n");
    EXPECT_EQ(told(load(R"({"caching": {"rules": []}})", {"caching.rules[3].never=true"})),
              "--set caching.rules[3].never: the list has only 0 items (set caching.rules[0] before it)\n");
    EXPECT_THAT(told(load(R"({"workers": 2})", {"workers.a=1"})), HasSubstr("is not an object"));
    EXPECT_THAT(told(load("{\n\"memory\": {\"size\": 5, \"bad\": 1}}", {"memory.size=64MiB"})),
                StartsWith("test.json:2: memory.bad: unknown key"));
    EXPECT_THAT(told(load("{\n\"dns\": {}}", {"listen=[{\"address\": \"x\"}]"})), StartsWith("--set listen[0].address: "));
}

TEST(Load, every_policy_is_known_and_says_when_memory_is_too_small_for_it) {
    for (auto const& row : policy::all()) {
        std::string const policy(row.name);
        EXPECT_EQ(told(load(R"({"memory": {"policy": ")" + policy + R"("}})")), "");
        auto const small = load(R"({"memory": {"size": "64 KiB", "policy": ")" + policy + R"("}})");
        auto const least = cache::least_size({.size = 64 * KiB, .policy = policy});
        auto const fault = "memory.size: is too small for the index and the policy \"" + policy + "\"";
        EXPECT_EQ(told(small).find(fault) != std::string::npos, least > 64 * KiB) << told(small);
        EXPECT_EQ(told(load("{}", {"memory.policy=" + policy, "memory.size=" + std::to_string(least)})), "");
    }
}

TEST(Load, object_max_follows_a_small_memory) {
    EXPECT_EQ(load("{}", {"memory.size=1MiB"}).config.memory.object_max, MiB / 2);
    auto const told_so = load(R"({"memory": {"size": "1 MiB", "object_max": "2 MiB"}})");
    EXPECT_TRUE(told_so.faults.empty());
    EXPECT_EQ(told_so.notices.at(0).key, "memory.object_max");
}

TEST(Load, users_are_not_offered_to_caching_rules) {
    EXPECT_THAT(told(load(R"({"access": [{"allow": {"quite_another": 1}}]})")), HasSubstr("valid keys: source, destination"));
    EXPECT_THAT(told(load(R"({"caching": {"rules": [{"quite_another": 1}]}})")), Not(HasSubstr("user")));
}

/// All notices, one per line.
std::string noticed(Loaded const& loaded) {
    std::string out;
    for (auto const& notice : loaded.notices) out += text_of(notice) + "\n";
    return out;
}

TEST(Load, rights_of_almost_any_address_are_noticed) {
    EXPECT_NE(noticed(load(R"({"admin": {"address": "0.0.0.0:3131", "allow": ["0.0.0.0/0"]}})")).find("admin.allow[0]"),
              std::string::npos);
    std::string const purges = R"({"htcp": {"address": "0.0.0.0:4827", "clear_allow": ["10.0.0.0/8", "::/0"])";
    EXPECT_NE(noticed(load(purges + "}}")).find("htcp.clear_allow[1]"), std::string::npos);
    EXPECT_EQ(noticed(load(purges + R"(, "secret": "s"}})")), "");
    EXPECT_EQ(noticed(load(R"({"admin": {"allow": ["10.0.0.0/8"]}})")), "");
}

TEST(Load, a_sibling_that_can_never_be_used_is_noticed) {
    auto const sibling = [](std::string const& more) {
        return noticed(load(R"({"peers": [{"name": "s", "type": "sibling", "host": "10.0.0.4", )" + more + "}]}"));
    };
    EXPECT_NE(sibling(R"("icp_port": 0)").find("peers[0]: is never used"), std::string::npos) << sibling(R"("icp_port": 0)");
    EXPECT_NE(sibling(R"("no_query": true)").find("is never used"), std::string::npos);
    EXPECT_EQ(sibling(R"("icp_port": 0, "htcp_port": 4827)"), "");
    EXPECT_EQ(sibling(R"("icp_port": 0, "digest": true)"), "");
    EXPECT_EQ(noticed(load(R"({"peers": [{"name": "p", "host": "10.0.0.4", "icp_port": 0}]})")), "");
}

TEST(Load, a_readable_file_with_a_secret_is_noticed) {
    auto const path = std::filesystem::temp_directory_path() / ("garner-secret-" + std::to_string(::getpid()) + ".json");
    std::ofstream(path) << R"({"htcp": {"secret": "s"}})";
    using std::filesystem::perms;
    std::filesystem::permissions(path, perms::owner_read | perms::owner_write | perms::others_read);
    EXPECT_NE(noticed(load_file(path.string(), {}, NamedFiles::believed)).find("is readable by every user of this machine"),
              std::string::npos);
    std::filesystem::permissions(path, perms::owner_read | perms::owner_write);
    EXPECT_EQ(noticed(load_file(path.string(), {}, NamedFiles::believed)), "");
    std::filesystem::remove(path);
}

TEST(Load, an_open_proxy_and_rules_that_are_never_reached_are_noticed) {
    EXPECT_EQ(noticed(load(R"({"access": [{"allow": "all"}, {"deny": {"host": "a"}}]})")),
              "test.json:1: access[1]: is never reached: access[0] matches every request (move it before that rule, or "
              "remove it)\n");
    constexpr auto open = "test.json:1: access[0]: allows every client that can reach 10.0.0.1:3128: this is an open proxy "
                          "(name the clients' networks: { \"allow\": { \"source\": [\"10.0.0.0/8\"] } })\n";
    EXPECT_EQ(noticed(load(R"({"listen": [{"address": "10.0.0.1:3128"}], "access": [{"allow": "all"}]})")), open);
    EXPECT_THAT(noticed(load(R"({"listen": [{"address": ":3128"}], "access": [{"allow": "all"}]})")),
                HasSubstr("can reach [::]:3128: this is an open proxy"));
    EXPECT_EQ(noticed(load(R"({"listen": [{"address": "10.0.0.1:3128"}], "access": [{"deny": "all"}]})")), "");
    EXPECT_EQ(noticed(load(R"({"listen": [{"address": "10.0.0.1:3128", "origin": "http://a"}], "access": [{"allow": "all"}]})")),
              "");
}

TEST(Load, an_intercepting_listener_is_no_open_proxy_and_needs_an_address_that_packets_reach) {
    EXPECT_EQ(noticed(load(R"({"listen": [{"address": ":3129", "intercept": "tproxy"}], "access": [{"allow": "all"}]})")), "");
    EXPECT_EQ(noticed(load(R"({"listen": [{"address": "127.0.0.1:3129", "intercept": "tproxy"}]})")), "");
    EXPECT_THAT(noticed(load(R"({"listen": [{"address": "127.0.0.1:3129", "intercept": "redirect"}]})")),
                testing::HasSubstr("listen[0].intercept: connections of other machines cannot be redirected to loopback"));
}

TEST(Load, rules_that_never_match_https_are_noticed) {
    std::string const notice = noticed(load(R"({"access": [{"deny": {"url_contains": "/ads/"}}]})"));
    EXPECT_THAT(notice, testing::HasSubstr("access[0]"));
    EXPECT_THAT(notice, testing::HasSubstr("never matches https"));
    EXPECT_NE(noticed(load(R"({"access": [{"deny": {"url_matches": "^http://a/.*"}}]})")), "");
    EXPECT_EQ(noticed(load(R"({"access": [{"deny": {"url_contains": ["/ads/", "tracker"]}}]})")), "");
    EXPECT_EQ(noticed(load(R"({"access": [{"deny": {"url_contains": "/ads/", "method": "GET"}}]})")), "");
}

TEST(Load, a_listener_among_the_addresses_of_another_one_is_noticed) {
    EXPECT_EQ(noticed(load(R"({"listen": [{"address": ":3128"}, {"address": "127.0.0.1:3128"}]})")),
              "test.json:1: listen[1]: 127.0.0.1:3128 is included in the address of another listener (remove one of them, or give "
              "each its own port)\n");
    EXPECT_EQ(noticed(load(R"({"listen": [{"address": ":3128"}, {"address": "127.0.0.1:3129"}]})")), "");
}

TEST(Load, a_disk_tier_larger_than_its_file_system_is_noticed) {
    std::vector<std::string> const sets{"disk.path=/tmp", "disk.size=900TB"};
    auto const said = noticed(load_text("test.json", "{}", sets, NamedFiles::tried));
    EXPECT_NE(said.find(" available in the file system of \"/tmp\""), std::string::npos) << said;
}

TEST(Load, rules_that_say_more_or_less_than_was_meant_are_noticed) {
    constexpr auto everything = "matches every request (write \"all\" if this is intended)\n";
    EXPECT_EQ(noticed(load(R"({"access": [{"allow": {}}]})")), std::string("test.json:1: access[0].allow: ") + everything);
    EXPECT_EQ(noticed(load(R"({"purge": [{"deny": {"source": []}}]})")), std::string("test.json:1: purge[0].deny: ") + everything);
    EXPECT_EQ(noticed(load(R"({"access": [{"deny": {"source": [], "host": "a"}}, {"allow": "all"}]})")), "");
    EXPECT_EQ(
        noticed(load(R"({"caching": {"rules": [{"host": "a", "type": "text/css"}]}})")),
        "test.json:1: caching.rules[0]: this rule has no setting and no effect (add a setting such as never or default_ttl)\n");
    EXPECT_EQ(noticed(load(R"({"caching": {"rules": [{"host": "a", "ttl_min": "soon"}]}})")), "");
    EXPECT_EQ(noticed(load(R"({"caching": {"rules": [{"min_tll": "1h"}]}})")), "");
}

// ---- named files ----

Loaded tried(std::string_view text) { return load_text("test.json", text, {}, NamedFiles::tried); }

std::string written(char const* name, std::string_view text) {
    auto const path = testing::TempDir() + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
}

TEST(Load, a_file_of_certificates_must_be_there_and_hold_one) {
    EXPECT_EQ(told(tried("{\"tls\":\n{\"ca_file\": \"/nonexistent\"}}")),
              "test.json:2: tls.ca_file: cannot read certificates from /nonexistent: No such file or directory "
              "(name a file of PEM certificates, or write \"\" to use those of the system)\n");
    auto const empty = written("none.pem", "no certificate\n");
    EXPECT_THAT(told(tried(R"({"tls": {"ca_file": ")" + empty + "\"}}")), StartsWith("test.json:1: tls.ca_file: cannot read"));
    EXPECT_THAT(told(tried(R"({"tls": {"ca_file": "/"}})")), StartsWith("test.json:1: tls.ca_file: cannot read"));
    EXPECT_EQ(told(tried(R"({"tls": {"ca_file": ""}})")), "");
}

TEST(Load, the_access_log_must_be_where_it_can_be_written) {
    EXPECT_EQ(told(tried("{\"log\":\n{\"access\": \"/nonexistent/dir/x.log\"}}")),
              "test.json:2: log.access: no file can be created in \"/nonexistent/dir\": No such file or directory "
              "(create this directory and give the user that runs garner write access)\n");
    EXPECT_THAT(told(tried(R"({"log": {"access": "/"}})")), HasSubstr("\"/\" is a directory (name a file in it)"));
    EXPECT_THAT(told(tried(R"({"log": {"access": "/dev/null/x.log"}})")), HasSubstr("Not a directory"));
    auto const fresh = testing::TempDir() + "never_made.log";
    for (std::string const& good : {std::string(), std::string("-"), std::string("/dev/null"), fresh})
        EXPECT_EQ(told(tried(R"({"log": {"access": ")" + good + "\"}}")), "");
    EXPECT_FALSE(std::filesystem::exists(fresh));
}

TEST(Load, the_file_of_memory_must_be_where_it_can_be_written_and_removed) {
    EXPECT_EQ(told(tried("{\"memory\":\n{\"save\": \"/nonexistent/dir/memory\"}}")),
              "test.json:2: memory.save: no file can be created in \"/nonexistent/dir\": No such file or directory "
              "(create this directory and give the user that runs garner write access)\n");
    EXPECT_THAT(told(tried(R"({"memory": {"save": "/"}})")), HasSubstr("\"/\" is a directory (name a file in it)"));
    auto const fresh = testing::TempDir() + "never_made.memory";
    EXPECT_EQ(told(tried(R"({"memory": {"save": ")" + fresh + "\"}}")), "");
    EXPECT_FALSE(std::filesystem::exists(fresh));
    EXPECT_THAT(told(load("{}", {"memory.save=/tmp/memory", "disk.path=/tmp/disk"})),
                HasSubstr("memory.save: cannot be used together with disk.path, which keeps the objects (remove one of them)"));
}

TEST(Load, the_directory_of_the_control_socket_may_come_later) {
    auto const loaded = tried("{\"control\":\n{\"path\": \"/nonexistent/control\"}}");
    EXPECT_EQ(told(loaded), "");
    EXPECT_EQ(noticed(loaded), "test.json:2: control.path: no socket can be created in \"/nonexistent\": No such file or directory "
                               "(create this directory before the start, and give the user that runs garner write access)\n");
    EXPECT_EQ(noticed(tried(R"({"control": {"path": ")" + testing::TempDir() + "control\"}}")), "");
}

TEST(Load, a_file_of_hosts_may_come_later) {
    auto const loaded = tried(R"({"dns": {"hosts_file": "/nonexistent"}})");
    EXPECT_EQ(told(loaded), "");
    EXPECT_EQ(noticed(loaded), "test.json:1: dns.hosts_file: \"/nonexistent\" cannot be read: No such file or directory "
                               "(give the user that runs garner read access; until then no names come from it)\n");
    EXPECT_EQ(noticed(tried(R"({"dns": {"hosts_file": ""}})")), "");
}

TEST(Load, the_disk_tier_may_become_usable_later_but_not_as_a_file) {
    EXPECT_EQ(told(tried(R"({"disk": {"path": "/dev/null/store"}})")), "");
    EXPECT_EQ(noticed(tried("{\"disk\":\n{\"path\": \"/nonexistent/store\"}}")),
              "test.json:2: disk.path: \"/nonexistent\" cannot be written: No such file or directory "
              "(give the user that runs garner write access; until then nothing is stored on disk)\n");
    EXPECT_EQ(told(tried(R"({"disk": {"path": ")" + written("plain", "x") + "\"}}")).substr(0, 25), "test.json:1: disk.path: \"");
    auto const fresh = testing::TempDir() + "never_made";
    EXPECT_EQ(noticed(tried(R"({"disk": {"path": ")" + fresh + "\"}}")), "");
    EXPECT_FALSE(std::filesystem::exists(fresh));
}

TEST(Load, the_state_must_be_where_a_directory_can_be) {
    auto const later = tried("{\"state\":\n{\"path\": \"/nonexistent/garner/state\"}}");
    EXPECT_EQ(told(later), "") << "its file system may be mounted later";
    if (!io::is_root() || io::find_account("nobody")) {
        EXPECT_THAT(noticed(later), StartsWith("test.json:2: state.path: no directory can be created in \"/\": "));
        EXPECT_THAT(noticed(later), HasSubstr("(create /nonexistent/garner/state, and give the user that runs garner write access; "
                                              "until then a restart forgets the quotas)\n"));
    }
    auto const plain = written("plain", "x");
    EXPECT_EQ(told(tried(R"({"state": {"path": ")" + plain + "\"}}")),
              "test.json:1: state.path: \"" + plain + "\" is no directory (name a directory)\n");
    EXPECT_EQ(told(tried(R"({"state": {"path": ")" + plain + "/state\"}}")),
              "test.json:1: state.path: \"" + plain + "\" is no directory (name a directory)\n");
    for (std::string const& good : {testing::TempDir(), testing::TempDir() + "never_made_state", testing::TempDir() + "never_made/",
                                    testing::TempDir() + "never_made_state/of/garner", std::string("never_made_state/garner")})
        EXPECT_EQ(noticed(tried(R"({"user": "root", "state": {"path": ")" + good + "\"}}")), "") << good;
    EXPECT_FALSE(std::filesystem::exists(testing::TempDir() + "never_made_state"));
}

/// A directory of root, with other rights for other users.
std::string directory_of_root(char const* name, std::filesystem::perms rights) {
    auto const path = testing::TempDir() + name + std::to_string(::getpid());
    std::filesystem::create_directory(path);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all | rights);
    return path;
}

TEST(Load, files_are_judged_as_the_user_that_root_becomes) {
    if (!io::is_root() || !io::find_account("nobody")) GTEST_SKIP() << "only root becomes another user";
    using std::filesystem::perms;
    auto const as = [](char const* user, std::string const& log) {
        return told(tried(R"({"user": ")" + std::string(user) + R"(", "log": {"access": ")" + log + "\"}}"));
    };
    auto const shared = directory_of_root("garner-shared", perms::all), log = shared + "/x.log";
    std::ofstream(log) << "";
    std::filesystem::permissions(log, perms::owner_read | perms::owner_write);
    EXPECT_EQ(as("nobody", log), "test.json:1: log.access: \"" + log +
                                     "\" cannot be written: Permission denied for user nobody (change its owner or mode)\n");
    EXPECT_EQ(as("root", log), "");
    EXPECT_EQ(as("nobody", shared + "/new.log"), "");

    auto const closed = directory_of_root("garner-closed", perms::none);
    EXPECT_THAT(as("nobody", closed + "/new.log"), HasSubstr("Permission denied for user nobody"));
    EXPECT_EQ(as("root", closed + "/new.log"), "");
    EXPECT_THAT(noticed(tried(R"({"user": "nobody", "disk": {"path": ")" + closed + "/disk\"}}")), HasSubstr("for user nobody"));
    for (auto const& path : {shared, closed}) std::filesystem::remove_all(path);
}

TEST(Load, files_that_root_gives_to_its_user_are_no_error) {
    if (!io::is_root() || !io::find_account("nobody")) GTEST_SKIP() << "only root becomes another user";
    using std::filesystem::perms;
    auto const open = directory_of_root("garner-given", perms::others_read | perms::others_exec), log = open + "/x.log";
    std::ofstream(log) << "";
    std::filesystem::permissions(log, perms::owner_read | perms::owner_write);
    for (std::string const& file : {log, open + "/new.log"})
        EXPECT_EQ(told(tried(R"({"user": "nobody", "log": {"access": ")" + file + "\"}}")), "");
    EXPECT_EQ(noticed(tried(R"({"user": "nobody", "disk": {"path": ")" + open + "/disk\"}}")), "");
    EXPECT_FALSE(std::filesystem::exists(open + "/new.log") || std::filesystem::exists(open + "/disk"));
    std::filesystem::remove_all(open);
}

TEST(Load, files_are_believed_by_who_only_asks) {
    EXPECT_EQ(told(load(R"({"tls": {"ca_file": "/nonexistent"}, "log": {"access": "/nonexistent/x"}})")), "");
}

TEST(Load, files_that_cannot_be_read) {
    EXPECT_THAT(told(load_file("/nowhere/garner.json", {})), HasSubstr("cannot be read: No such file"));
    EXPECT_THAT(told(load_file("/", {})), HasSubstr("is a directory"));
}

}   // namespace
}   // namespace garner::config
