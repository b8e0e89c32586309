// A real client and a real origin: curl asks nginx through Garner.
#include "story/scene.hpp"
#include "support/programs.hpp"

namespace garner::test {

namespace {

/// Runs curl -x PROXY … and returns the body.
std::string curl(Proxy const& proxy, std::vector<std::string> const& arguments) {
    std::vector<std::string> command{"curl", "-sS", "--max-time", "60", "-x", proxy.url()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    auto const finished = run(command, 70s);
    EXPECT_EQ(finished.code, 0) << finished.errors;
    return finished.output;
}

}   // namespace

TEST(RealCurl, gets_a_large_file_twice_and_nginx_sends_it_once) {
    NEEDS("curl");
    NEEDS("nginx");
    Nginx origin;
    auto const file = pattern(3'000'000);
    origin.file("film", file);
    Proxy proxy;
    EXPECT_TRUE(curl(proxy, {origin.url("/film")}) == file);
    EXPECT_TRUE(curl(proxy, {origin.url("/film")}) == file);
    EXPECT_EQ(origin.requests("/film", 1u), 1u);
    EXPECT_EQ(curl(proxy, {"-r", "1000-1999", origin.url("/film")}), file.substr(1000, 1000));
    auto const two = curl(proxy, {"-r", "1000-1999,2500000-2500999", origin.url("/film")});
    EXPECT_THAT(two, HasSubstr("Content-Range: bytes 1000-1999/3000000\r\n\r\n" + file.substr(1000, 1000) + "\r\n--"));
    EXPECT_THAT(two, HasSubstr("2500000-2500999/3000000\r\n\r\n" + file.substr(2'500'000, 1000) + "\r\n--"));
    EXPECT_THAT(curl(proxy, {"-I", origin.url("/film")}), HasSubstr("3000000"));
    EXPECT_EQ(curl(proxy, {"-0", origin.url("/film")}).size(), file.size());
    EXPECT_EQ(origin.requests("/film", 1u), 1u);
}

TEST(RealCurl, a_file_with_no_cache_is_revalidated_with_nginx) {
    NEEDS("curl");
    NEEDS("nginx");
    Nginx origin("add_header Cache-Control no-cache;");
    origin.file("page.txt", "hello");
    Proxy proxy(R"({"workers": 1})");
    EXPECT_EQ(curl(proxy, {origin.url("/page.txt")}), "hello");
    EXPECT_EQ(curl(proxy, {origin.url("/page.txt")}), "hello");
    EXPECT_EQ(proxy.logged("/page.txt", 2).tag, "TCP_REFRESH_UNMODIFIED");
    EXPECT_EQ(origin.requests("/page.txt", 2u), 2u);
}

TEST(RealCurl, compressed_and_plain_variants_are_kept_apart) {
    NEEDS("curl");
    NEEDS("nginx");
    Nginx origin;
    auto const text = std::string(5000, 'a');
    origin.file("page.txt", text);
    Proxy proxy;
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(curl(proxy, {"--compressed", origin.url("/page.txt")}), text);
        EXPECT_EQ(curl(proxy, {origin.url("/page.txt")}), text);
        EXPECT_LT(curl(proxy, {"-H", "Accept-Encoding: gzip", origin.url("/page.txt")}).size(), text.size());
    }
    EXPECT_LE(origin.requests("/page.txt", 1), 3u);
}

TEST(RealCurl, speaks_HTTPS_through_CONNECT) {
    NEEDS("curl");
    NEEDS("nginx");
    Nginx origin;
    origin.file("page.txt", "secret");
    Proxy proxy;
    EXPECT_EQ(curl(proxy, {"--cacert", origin.certificate_file(), origin.secure_url("/page.txt")}), "secret");
    EXPECT_EQ(curl(proxy, {"-p", origin.url("/page.txt")}), "secret");
}

TEST(RealCurl, https_in_absolute_form_is_fetched_from_a_real_nginx_over_TLS) {
    NEEDS("nginx");
    Nginx origin;
    origin.file("page.txt", "secret");
    Proxy proxy(R"({"tls": {"ca_file": ")" + origin.certificate_file() + R"("}})");
    Client client(proxy);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(client.get(origin.secure_url("/page.txt")).body(), "secret");
    EXPECT_EQ(origin.requests("/page.txt", 1u), 1u);
}

TEST(RealCurl, many_parallel_downloads_of_one_file_cost_the_origin_one) {
    NEEDS("curl");
    NEEDS("nginx");
    Nginx origin("expires 1h; limit_rate 4m;");
    origin.file("film", pattern(2'000'000));
    Proxy proxy;
    TempDir dir;
    std::vector<std::string> arguments{"--parallel", "--parallel-immediate", "--parallel-max", "20"};
    for (int i = 0; i < 20; ++i)
        arguments.insert(arguments.end(), {"-o", dir.path(std::to_string(i)).string(), origin.url("/film")});
    curl(proxy, arguments);
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(read_file(dir.path(std::to_string(i))) == pattern(2'000'000)) << i;
    EXPECT_EQ(origin.requests("/film", 1u), 1u);
}

}   // namespace garner::test
