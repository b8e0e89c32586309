// Request targets: every form of target, and the refused ones.
#include "proxy/target.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "proxy/internal.hpp"

namespace garner::proxy {
namespace {

using http::Method;

struct Read {
    explicit Read(std::string method, std::string given, std::optional<std::string> host = "any",
                  FixedOrigin const* origin = nullptr, KnownOrigins* known = nullptr)
        : method_text(std::move(method)), target_text(std::move(given)), host_text(std::move(host)) {
        target.known = known;
        request.method_text = method_text;
        request.method = http::method_of(method_text);
        request.target = target_text;
        if (host_text) request.fields.add("Host", *host_text);
        if (auto const* refusal = read_target(request, origin, target)) fault = refusal;
    }
    Read(Read const&) = delete;

    std::string method_text, target_text;
    std::optional<std::string> host_text;
    http::RequestHead request;
    Target target;
    std::string fault;
};

FixedOrigin origin_at(std::string text) {
    FixedOrigin origin;
    origin.text = std::move(text);
    return origin;
}

TEST(Target, of_a_forward_request_is_its_absolute_uri) {
    Read read("GET", "http://Example.COM:80/a%20b?q=1");
    EXPECT_EQ(read.fault, "");
    EXPECT_EQ(read.target.url, "http://example.com/a%20b?q=1");
    EXPECT_EQ(read.target.host_field, "example.com");
    EXPECT_EQ(read.target.path, "/a%20b?q=1");
    EXPECT_FALSE(read.target.accelerated);
    EXPECT_EQ(read.target.partition(), Partition::forward);
    Read port("GET", "http://[::1]:8080");
    EXPECT_EQ(port.target.url, "http://[::1]:8080/");
    EXPECT_EQ(port.target.host_field, "[::1]:8080");
    EXPECT_EQ(port.target.path, "/");
    Read query("GET", "http://a?b");
    EXPECT_EQ(query.target.url, "http://a/?b");
    EXPECT_EQ(query.target.path, "/?b");
}

TEST(Target, of_a_known_origin_is_that_of_any_origin) {
    KnownOrigins known;
    std::vector<std::string> origins{"http://a",
                                     "http://A:80",
                                     "http://[::1]:8080",
                                     "http://[::FFFF:1.2.3.4]",
                                     "http://192.0.2.7:1",
                                     "http://b%41.example.",
                                     "http://0177.0.0.1:1",
                                     "http://user@a",
                                     "http://a:0",
                                     "HTTP://a",
                                     "https://a",
                                     "http://"};
    for (int i = 0; i < 100; ++i) origins.push_back("http://" + std::to_string(i) + ".example:" + std::to_string(i + 1));
    std::vector<std::string> const paths{"/", "/a?b", "/a%41", "/a b", "/a#b", "/squid-internal-dynamic/netdb", "", "?a/b", "//c"};
    int kept = 0;
    for (int round = 0; round < 3; ++round)
        for (auto const& origin : origins)
            for (auto const& path : paths) {
                auto const host = origin.substr(std::min(origin.size(), std::string_view("http://").size()));
                auto const method = path.size() == 1 ? "OPTIONS" : "GET";
                Read const plain(method, origin + path, host);
                Read const read(method, origin + path, host, nullptr, &known);
                ASSERT_EQ(read.fault, plain.fault) << origin << path;
                if (!plain.fault.empty()) continue;
                ++kept;
                auto const& a = read.target;
                auto const& b = plain.target;
                EXPECT_EQ(a.uri, b.uri) << origin << path;
                EXPECT_EQ(a.key_text, b.key_text);
                EXPECT_EQ(a.url, b.url);
                EXPECT_EQ(a.plain_url, b.plain_url);
                EXPECT_EQ(a.host_field, b.host_field);
                EXPECT_EQ(a.path, b.path);
                EXPECT_EQ(a.literal, b.literal);
                EXPECT_EQ(std::string(a.origin()) + (path.starts_with('/') ? path : "/" + path), a.url);
            }
    EXPECT_GT(kept, 1'000);
}

TEST(Target, has_the_URLs_that_origins_resolve_a_path_to) {
    using Urls = std::vector<std::string>;
    struct Row {
        char const* url;
        Urls resolved;
        bool climbs = false;
    };
    std::vector<Row> const rows{{"http://a/b/c.d?e=//f/./g", {}},
                                {"http://a", {}},
                                {"http://a/%41?%7e", {}},
                                {"http://a//b/", {"http://a/b/"}},
                                {"http://a/b/.", {"http://a/b/"}},
                                {"http://a/b/..", {"http://a/"}, true},
                                {"http://a/../../b", {"http://a/b"}, true},
                                {"http://a/.b/..c", {}},
                                {"http://a/b%2fc", {"http://a/b/c"}},
                                {"http://a/b%252Fc?d%25", {"http://a/b%2Fc?d%", "http://a/b/c?d%"}},
                                {"http://a/%2e%2e%2Fb//c", {"http://a/..%2Fb/c", "http://a/b/c"}, true},
                                {"http://a/%", {}},
                                {"http://a/b\\c", {"http://a/b/c"}}};
    for (auto const& row : rows) {
        Read const read("GET", row.url, "a");
        ASSERT_EQ(read.fault, "") << row.url;
        auto const all = read.target.resolved.all();
        EXPECT_EQ(Urls(all.begin(), all.end()), row.resolved) << row.url;
        EXPECT_EQ(read.target.resolved.climbs(), row.climbs) << row.url;
    }
    EXPECT_TRUE(Read("CONNECT", "a:443").target.resolved.all().empty());
}

TEST(Target, of_a_forward_request_is_never_a_path_alone) {
    EXPECT_NE(Read("GET", "/path").fault.find("forward proxy"), std::string::npos);
    EXPECT_NE(Read("GET", "ftp://a/").fault, "");
    EXPECT_NE(Read("GET", "http://user@a/").fault, "");
    EXPECT_NE(Read("GET", "http:///").fault, "");
    EXPECT_NE(Read("GET", "a:80").fault, "");
}

TEST(Target, of_another_caches_paths_may_be_a_path_alone) {
    constexpr auto path = "/squid-internal-periodic/store_digest";
    http::OwnAddresses own;
    own.listening = {{*parse_ip("10.0.0.1"), 3128}};
    Read read("GET", path, "us.example:3128");
    EXPECT_EQ(read.fault, "");
    EXPECT_EQ(read.target.url, "http://us.example:3128/squid-internal-periodic/store_digest");
    EXPECT_TRUE(is_internal(read.target, own, {}));
    EXPECT_NE(Read("GET", path, "").fault, "");
    EXPECT_NE(Read("GET", path, std::nullopt).fault, "");
    EXPECT_NE(Read("GET", "/squid-intern", "us.example:3128").fault, "");
}

TEST(Target, is_internal_at_our_own_places_alone) {
    http::OwnAddresses own;
    own.listening = {{*parse_ip("10.0.0.1"), 3128}};
    auto const internal = [&](std::string const& target, FixedOrigin const* origin = nullptr) {
        return is_internal(Read("GET", target, "any", origin).target, own, {});
    };
    EXPECT_TRUE(internal("http://10.0.0.1:3128/squid-internal-periodic/store_digest"));
    EXPECT_TRUE(internal("http://10.0.0.1:3128/squid-internal-dynamic/netdb"));
    EXPECT_FALSE(internal("http://10.0.0.1:3128/"));
    EXPECT_FALSE(internal("http://10.0.0.1:3129/squid-internal-periodic/store_digest"));
    EXPECT_FALSE(internal("http://10.0.0.2:3128/squid-internal-periodic/store_digest"));
    EXPECT_FALSE(internal("http://other.example:3128/squid-internal-periodic/store_digest"));
    EXPECT_TRUE(internal("https://10.0.0.1:3128/squid-internal-periodic/store_digest")) << "HTTP/2 has no origin-form";
    PacOptions const pac{.proxies = {{true, "gate.example", 3129}}};
    EXPECT_TRUE(is_internal(Read("GET", "https://gate.example:3129/proxy.pac", "any").target, own, pac));
    EXPECT_FALSE(is_internal(Read("GET", "https://gate.example:3129/squid-internal-dynamic/netdb", "any").target, own, pac));
    EXPECT_FALSE(is_internal(Read("GET", "https://other.example:3129/proxy.pac", "any").target, own, pac));
    auto origin = origin_at("http://10.0.0.1:3128");
    http::UriError error;
    origin.uri = *http::parse_absolute(origin.text, error);
    EXPECT_FALSE(internal("/squid-internal-periodic/store_digest", &origin));
}

TEST(Target, host_must_be_there_once_and_valid_although_the_uri_decides) {
    EXPECT_EQ(Read("GET", "http://a/", "b").fault, "");
    EXPECT_EQ(Read("GET", "http://a/", "b").target.host_field, "a");
    EXPECT_EQ(Read("GET", "http://a/", "").fault, "");
    EXPECT_NE(Read("GET", "http://a/", std::nullopt).fault, "");
    EXPECT_NE(Read("GET", "http://a/", "b c").fault, "");
    EXPECT_NE(Read("GET", "http://a/", "b/c").fault, "");
    Read twice("GET", "http://a/");
    twice.request.fields.add("Host", "a");
    EXPECT_STREQ(read_target(twice.request, nullptr, twice.target), "more than one Host field");
    Read old("GET", "http://a/", std::nullopt);
    old.request.version = http::Version::http_1_0;
    EXPECT_EQ(read_target(old.request, nullptr, old.target), nullptr);
}

TEST(Target, of_connect_is_an_authority_with_a_port) {
    Read read("CONNECT", "Example.com:443");
    EXPECT_EQ(read.fault, "");
    EXPECT_EQ(read.target.uri.authority.port, 443);
    EXPECT_EQ(Read("CONNECT", "[::1]:8443").target.url, "[::1]:8443");
    EXPECT_NE(Read("CONNECT", "example.com").fault, "");
    EXPECT_NE(Read("CONNECT", "http://example.com:443/").fault, "");
    EXPECT_NE(Read("CONNECT", "example.com:0").fault, "");
    auto origin = origin_at("http://127.0.0.1:8000");
    EXPECT_NE(Read("CONNECT", "example.com:443", "any", &origin).fault, "");
}

TEST(Target, of_options_may_be_the_server_itself) {
    EXPECT_EQ(Read("OPTIONS", "*").target.url, "*");
    EXPECT_NE(Read("GET", "*").fault, "");
}

class Accelerated : public testing::Test {
protected:
    Accelerated() : origin(origin_at("http://127.0.0.1:8000")) {
        http::UriError error;
        origin.uri = *http::parse_absolute(origin.text, error);
    }
    FixedOrigin origin;
};

TEST_F(Accelerated, a_path_is_asked_of_the_origin_whatever_host_says) {
    Read read("GET", "/a?b", "evil.example", &origin);
    EXPECT_EQ(read.fault, "");
    EXPECT_EQ(read.target.url, "http://127.0.0.1:8000/a?b");
    EXPECT_EQ(read.target.host_field, "127.0.0.1:8000");
    EXPECT_EQ(read.target.path, "/a?b");
    EXPECT_EQ(read.target.partition(), Partition::accelerator);
}

TEST_F(Accelerated, an_absolute_uri_gives_its_path_alone) {
    Read read("GET", "https://evil.example:99/a?b", "evil.example", &origin);
    EXPECT_EQ(read.fault, "");
    EXPECT_EQ(read.target.url, "http://127.0.0.1:8000/a?b");
}

TEST_F(Accelerated, options_of_the_server_go_on_as_that) {
    Read read("OPTIONS", "*", "any", &origin);
    EXPECT_EQ(read.fault, "");
    EXPECT_EQ(read.target.path, "*");
}

struct OnInterceptedConnection : ::testing::Test {
    std::shared_ptr<FixedOrigin const> const origin = intercepted_origin(http::Scheme::http, {IpAddress::v4(192, 0, 2, 7), 8080});
    std::shared_ptr<FixedOrigin const> const secure = intercepted_origin(http::Scheme::https, {*parse_ip("2001:db8::7"), 443});
};

TEST_F(OnInterceptedConnection, the_client_names_the_host_and_the_connection_has_address_and_port) {
    Read read("GET", "/a?b", "Shop.Example", origin.get());
    EXPECT_EQ(read.fault, "");
    EXPECT_EQ(read.target.url, "http://shop.example:8080/a?b");
    EXPECT_EQ(read.target.host_field, "shop.example:8080");
    EXPECT_EQ(read.target.path, "/a?b");
    EXPECT_EQ(read.target.destination, IpAddress::v4(192, 0, 2, 7));
    EXPECT_EQ(read.target.partition(), Partition::forward);
    EXPECT_EQ(Read("GET", "/", "shop.example:99", origin.get()).target.url, "http://shop.example:8080/");
    EXPECT_EQ(Read("GET", "http://a.example:99/x", "b.example", origin.get()).target.url, "http://a.example:8080/x");
    EXPECT_EQ(Read("GET", "/", "[2001:db8::9]", origin.get()).target.url, "http://[2001:db8::9]:8080/");
    EXPECT_EQ(Read("GET", "/", "", origin.get()).target.url, "http://192.0.2.7:8080/");
    EXPECT_EQ(Read("OPTIONS", "*", "shop.example", origin.get()).target.path, "*");
}

TEST_F(OnInterceptedConnection, what_only_a_proxy_takes_is_refused) {
    EXPECT_EQ(Read("CONNECT", "shop.example:443", "shop.example", origin.get()).fault, "CONNECT on an intercepted connection");
    EXPECT_NE(Read("GET", "https://shop.example/", "shop.example", origin.get()).fault, "");
    EXPECT_NE(Read("GET", "/", "a b", origin.get()).fault, "");
    EXPECT_NE(Read("GET", "shop.example", "shop.example", origin.get()).fault, "");
}

TEST_F(OnInterceptedConnection, tls_is_a_tunnel_to_the_name_it_asks_for) {
    Read read("CONNECT", "shop.example:443", "shop.example:443", secure.get());
    EXPECT_EQ(read.fault, "");
    EXPECT_EQ(read.target.url, "shop.example:443");
    EXPECT_EQ(read.target.destination, parse_ip("2001:db8::7"));
}

TEST_F(OnInterceptedConnection, paths_of_a_proxy_are_those_of_the_server) {
    Read read("GET", "/squid-internal-periodic/store_digest", "shop.example", origin.get());
    EXPECT_EQ(read.fault, "");
    EXPECT_FALSE(is_internal(read.target, {}, {}));
    Read page("GET", "/", "garner.internal", intercepted_origin(http::Scheme::http, {IpAddress::v4(192, 0, 2, 7), 80}).get());
    EXPECT_FALSE(is_refusals_page(page.target, Method::get, {}));
}

TEST(Target, is_filled_anew_for_each_request) {
    Read read("GET", "http://a/long/path?with=query");
    Read next("GET", "http://b/");
    read.request.target = next.request.target;
    EXPECT_EQ(read_target(read.request, nullptr, read.target), nullptr);
    EXPECT_EQ(read.target.url, "http://b/");
    EXPECT_EQ(read.target.path, "/");
    EXPECT_EQ(read.target.host_field, "b");
}

TEST(Key, of_the_two_partitions_differ_for_one_url) {
    std::string forward, accelerated;
    cache::write_key_text(Partition::forward, "http://a/", forward);
    cache::write_key_text(Partition::accelerator, "http://a/", accelerated);
    EXPECT_EQ(forward, "fhttp://a/");
    EXPECT_EQ(accelerated, "ahttp://a/");
}

class Bumped : public testing::Test {
protected:
    Bumped() : origin(origin_at("https://www.example.com:443")) {
        http::UriError error;
        origin.uri = *http::parse_absolute(origin.text, error);
        origin.kind = FixedOrigin::Kind::bumped;
    }
    bool is_misdirected(std::string const& target, std::string const& host) const {
        Read const read("GET", target, host, &origin);
        EXPECT_EQ(read.fault, "") << target;
        return proxy::is_misdirected(read.request, origin);
    }
    FixedOrigin origin;
};

TEST_F(Bumped, a_path_is_the_https_URL_of_a_forward_proxy) {
    Read const read("GET", "/a?b", "www.example.com", &origin);
    EXPECT_EQ(read.fault, "");
    EXPECT_EQ(read.target.url, "https://www.example.com/a?b");
    EXPECT_FALSE(read.target.accelerated);
    EXPECT_EQ(read.target.partition(), Partition::forward);
    EXPECT_EQ(Read("GET", "https://www.example.com/a?b").target.url, read.target.url);
    EXPECT_EQ(Read("CONNECT", "www.example.com:443", "www.example.com", &origin).fault, "CONNECT inside a tunnel");
}

TEST_F(Bumped, a_request_for_another_origin_is_misdirected) {
    EXPECT_FALSE(is_misdirected("/", "WWW.example.com"));
    EXPECT_FALSE(is_misdirected("/", "www.example.com:443"));
    EXPECT_FALSE(is_misdirected("https://www.example.com/", "www.example.com"));
    EXPECT_TRUE(is_misdirected("/", "example.com"));
    EXPECT_TRUE(is_misdirected("/", "www.example.com:8443"));
    EXPECT_TRUE(is_misdirected("https://example.com/", "www.example.com"));
    EXPECT_TRUE(is_misdirected("http://www.example.com/", "www.example.com"));
}

}   // namespace
}   // namespace garner::proxy
