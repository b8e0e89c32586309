// Cache digests between real caches: the own digest is published and read, the peer's digest is fetched and used.
#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "story/mesh/squid.hpp"
#include "story/tls/secure_listener.hpp"

namespace garner::test {

namespace {

constexpr auto digest_path = "/squid-internal-periodic/store_digest";
constexpr int pages = 200;

std::string page(int number) { return "/page/" + std::to_string(number); }

/// A digest parsed by its format alone, without the program's code.
class ReadDigest {
public:
    explicit ReadDigest(std::string bytes) : bytes_(std::move(bytes)) {}
    std::uint32_t number(std::size_t at) const {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < 4; ++i) value = value << 8 | byte(at + i);
        return value;
    }
    int entries() const { return static_cast<int>(number(8)); }
    bool whole() const { return bytes_.size() > 128 && bytes_.size() == 128 + number(16); }
    bool has(std::string const& url) const {
        auto const text = "\x01" + url;
        std::array<unsigned char, 16> sum{};
        EVP_Digest(text.data(), text.size(), sum.data(), nullptr, EVP_md5(), nullptr);
        for (std::size_t word = 0; word < 4; ++word) {
            std::uint32_t value = 0;
            for (std::size_t i = 0; i < 4; ++i) value = value << 8 | sum[4 * word + i];
            auto const bit = value % (8 * (bytes_.size() - 128));
            if ((byte(128 + bit / 8) >> (bit % 8) & 1) == 0) return false;
        }
        return true;
    }

private:
    std::uint8_t byte(std::size_t at) const { return static_cast<std::uint8_t>(bytes_.at(at)); }
    std::string bytes_;
};

/// The newest digest with the first `count` pages. One may seem to be in it earlier, as a false positive.
ReadDigest digest_with(Client asked, Origin const& origin, int count) {
    auto const holds_all = [&](ReadDigest const& digest) {
        for (int i = 0; i < count; ++i)
            if (!digest.has(origin.url(page(i)))) return false;
        return digest.entries() >= count;
    };
    std::string bytes;
    auto const came = eventually(
        [&] {
            auto reply = asked.get(digest_path);
            if (reply.status() != 200) return false;
            bytes = reply.body();
            return bytes.size() > 128 && holds_all(ReadDigest(bytes));
        },
        60s);
    if (!came) throw Trouble("no digest with " + std::to_string(count) + " pages");
    return ReadDigest(bytes);
}

Client at(Proxy const& proxy) { return Client("127.0.0.1", proxy.port()); }

/// A Garner that renews its digest every second.
std::string publishing() {
    return R"({"workers": 2, "icp": {"address": "127.0.0.1:)" + std::to_string(free_port()) +
           R"("}, "digest": {"rebuild_interval": "1s"}})";
}

std::string reading(std::string const& address, std::uint16_t port) {
    json peer{{"name", "next door"}, {"type", "sibling"}, {"host", address},
              {"http_port", port},   {"icp_port", 0},     {"digest", true}};
    return json{{"workers", 2}, {"peers", json::array({peer})}, {"digest", {{"publish", false}}}}.dump();
}

bool has_read_a_digest(Proxy& proxy) {
    return eventually([&] { return proxy.child().errors().find("fetched its cache digest of") != std::string::npos; }, 30s);
}

struct Digests : ::testing::Test {
    Origin origin;
    Digests() {
        for (int i = 0; i < pages; ++i) origin.answer(page(i), fresh("page " + std::to_string(i)));
    }
};

TEST_F(Digests, ours_tells_of_what_stays_fresh) {
    origin.answer("/short", fresh("short", 1));
    origin.answer("/gone", Answer{.status = 404, .fields = {{"Cache-Control", "max-age=600"}}});
    Proxy proxy(publishing());
    get(proxy, origin, "/short").body();
    get(proxy, origin, "/gone").body();
    for (int i = 0; i < pages; ++i) get(proxy, origin, page(i)).body();
    auto const digest = digest_with(at(proxy), origin, pages);
    EXPECT_TRUE(digest.whole());
    EXPECT_EQ(digest.entries(), pages);
    for (int i = 0; i < pages; ++i) EXPECT_TRUE(digest.has(origin.url(page(i)))) << i;
}

TEST_F(Digests, ours_is_asked_for_by_path_and_by_our_address) {
    Proxy proxy(publishing());
    get(proxy, origin, page(0)).body();
    digest_with(at(proxy), origin, 1);
    for (auto reply : {at(proxy).get(digest_path), Client(proxy).get(proxy.url() + digest_path)}) {
        EXPECT_EQ(reply.status(), 200);
        EXPECT_EQ(reply.field("Content-Type"), "application/cache-digest");
        EXPECT_TRUE(reply.has("Expires"));
    }
    EXPECT_EQ(at(proxy).head(digest_path).status(), 200);
    EXPECT_EQ(at(proxy).get("/squid-internal-dynamic/netdb").status(), 404);
    EXPECT_EQ(at(proxy).get("/squid-internal-static/icons/x.png").status(), 404);
    EXPECT_EQ(Client(proxy).get(proxy.url() + "/squid-internal-dynamic/netdb").status(), 404);
    // All other internal paths stay blocked.
    EXPECT_EQ(Client(proxy).get(proxy.url() + "/").status(), 403);
    EXPECT_EQ(at(proxy).get("/").status(), 400);
}

TEST_F(Digests, ours_is_made_at_the_first_request_where_no_cache_is_known) {
    Proxy proxy(R"({"digest": {"rebuild_interval": "1h"}})");
    get(proxy, origin, page(0)).body();
    EXPECT_EQ(at(proxy).get(digest_path).status(), 404);
    EXPECT_TRUE(digest_with(at(proxy), origin, 1).whole());
}

TEST_F(Digests, ours_is_not_given_where_it_is_not_to_be) {
    Proxy secretive(R"({"digest": {"publish": false}})");
    EXPECT_EQ(at(secretive).get(digest_path).status(), 404);
    std::this_thread::sleep_for(600ms);
    EXPECT_EQ(at(secretive).get(digest_path).status(), 404);
    Proxy closed(R"({"access": [{"deny": {"source": "127.0.0.1"}}]})");
    EXPECT_EQ(at(closed).get(digest_path).status(), 403);
    EXPECT_EQ(Client(closed).get(closed.url() + digest_path).status(), 403);
}

TEST_F(Digests, two_of_us_share_by_digest_alone) {
    Proxy holder(publishing());
    for (int i = 0; i < pages; ++i) get(holder, origin, page(i)).body();
    digest_with(at(holder), origin, pages);
    Proxy asker(reading("127.0.0.1", holder.port()));
    ASSERT_TRUE(has_read_a_digest(asker));
    for (int i = 0; i < pages; ++i) EXPECT_EQ(get(asker, origin, page(i)).body(), "page " + std::to_string(i));
    for (int i = 0; i < pages; ++i) EXPECT_EQ(origin.requests(page(i)), 1u);
    auto const line = asker.logged(page(0));
    EXPECT_EQ(hierarchy(line), "CD_SIBLING_HIT");
    EXPECT_EQ(peer(line), "next door");
}

TEST_F(Digests, a_stranger_is_fetched_from_its_origin) {
    Proxy holder(publishing());
    get(holder, origin, page(0)).body();
    digest_with(at(holder), origin, 1);
    Proxy asker(reading("127.0.0.1", holder.port()));
    ASSERT_TRUE(has_read_a_digest(asker));
    // Few of many pages are false positives; the peer is asked for them in vain, without effect on the client.
    for (int i = 1; i < pages; ++i) EXPECT_EQ(get(asker, origin, page(i)).body(), "page " + std::to_string(i));
    for (int i = 1; i < pages; ++i) EXPECT_EQ(origin.requests(page(i)), 1u);
}

TEST_F(Digests, squids_is_read) {
    NEEDS("squid");
    Squid squid({.disk = true});
    auto client = squid.client();
    for (int i = 0; i < pages; ++i) client.get(origin.url(page(i))).body();
    auto const digest = digest_with(Client(Squid::address, squid.ports().http), origin, pages);
    for (int i = 0; i < pages; ++i) EXPECT_TRUE(digest.has(origin.url(page(i)))) << i;
    Proxy proxy(reading(Squid::address, squid.ports().http));
    ASSERT_TRUE(has_read_a_digest(proxy));
    for (int i = 0; i < pages; ++i) EXPECT_EQ(get(proxy, origin, page(i)).body(), "page " + std::to_string(i));
    for (int i = 0; i < pages; ++i) EXPECT_EQ(origin.requests(page(i)), 1u);
    EXPECT_EQ(hierarchy(proxy.logged(page(7))), "CD_SIBLING_HIT");
    EXPECT_EQ(squid.logged(page(7), "TCP_MEM_HIT").front().status, 200);
    EXPECT_TRUE(squid.log().size() > 2 * pages);
    for (auto const& line : squid.log()) EXPECT_NE(line.method, "ICP_QUERY");
}

TEST_F(Digests, squid_reads_ours) {
    NEEDS("squid");
    Proxy proxy(publishing());
    for (int i = 0; i < pages; ++i) get(proxy, origin, page(i)).body();
    digest_with(at(proxy), origin, pages);
    Squid squid("cache_peer 127.0.0.1 sibling " + std::to_string(proxy.port()) + " 0 no-query no-netdb-exchange name=garner");
    auto client = squid.client();
    // The digest is fetched with the first request or soon after.
    origin.answer("/first", no_store("first"));
    client.get(origin.url("/first")).body();
    EXPECT_TRUE(eventually(
        [&] {
            auto const lines = proxy.log();
            return std::any_of(lines.begin(), lines.end(), [](Logged const& line) {
                return line.all.value("client", "") == Squid::address && line.url.ends_with(digest_path) && line.status == 200;
            });
        },
        30s));
    std::this_thread::sleep_for(1s);
    for (int i = 0; i < pages; ++i) EXPECT_EQ(client.get(origin.url(page(i))).body(), "page " + std::to_string(i));
    // Squid before October 2025 corrupts received digests, so its hits by them are random.
    auto hits = 0;
    for (int i = 0; i < pages; ++i) hits += squid.logged(page(i)).front().hierarchy == "CD_SIBLING_HIT";
    EXPECT_GT(hits, 0);
    RecordProperty("hits_by_digest", hits);
    EXPECT_TRUE(squid.alive());
}

}   // namespace

// ---- https ----

TEST_F(Digests, https_pages_are_only_in_the_digest_that_is_read_over_TLS) {
    CertificateFiles files, origin_files;
    Origin open, secure({.certificate = &origin_files.certificate});
    open.answer("/page", fresh("x"));
    secure.answer("/page", fresh("x"));
    auto patch = json::parse(publishing());
    patch["tls"]["ca_file"] = origin_files.chain();
    Proxy proxy(Proxy::Setup{.patch = patch.dump(), .tls = files.tls()});
    get(proxy, open, "/page").body();
    get(proxy, secure, "/page").body();
    auto over_tls = secure_client(proxy);
    auto const read = [](Client& client) { return ReadDigest(client.get(digest_path).body()); };
    auto const both = [&] {
        auto const digest = read(over_tls);
        return digest.whole() && digest.has(open.url("/page")) && digest.has(secure.url("/page"));
    };
    EXPECT_TRUE(eventually(both, 60s));
    auto in_clear = at(proxy);
    auto const digest = read(in_clear);
    EXPECT_TRUE(digest.has(open.url("/page")));
    EXPECT_EQ(digest.entries(), 1);
}

}   // namespace garner::test
