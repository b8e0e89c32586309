// The bytes that leave for other caches because of https:// requests, whatever protocol they use.
#include "story/mesh/tls_mesh.hpp"

namespace garner::test {

namespace {

constexpr auto secret_path = "/secret-path?secret-query";

/// Peers of every kind, whose ports record what reaches them. None of them answers queries.
struct HttpsInClear : TlsMesh {
    Origin secure{secure_origin()}, plain;
    Proxy parent{secure_parent()};
    Tap clear_tap{parent.port()}, tls_tap{parent.secure()};
    DatagramTap icp_tap, htcp_tap;

    HttpsInClear() {
        secure.otherwise([](Hand& hand) {
            hand.read_body();
            hand.answer(fresh("secret"));
        });
        plain.answer("/open", fresh("open"));
    }

    /// A peer for each protocol, with this `https`; `by_tls` decides which port of the parent they have.
    std::vector<json> peers(json const& https, bool by_tls, std::string const& type = "parent") const {
        json peer{{"host", "127.0.0.1"}, {"type", type}, {"http_port", by_tls ? tls_tap.port() : clear_tap.port()}};
        if (by_tls) peer["tls"] = trusting();
        if (!https.is_null()) peer["https"] = https;
        auto icp = peer, htcp = peer;
        icp.update({{"name", "icp"}, {"icp_port", icp_tap.port()}});
        htcp.update({{"name", "htcp"}, {"icp_port", 0}, {"htcp_port", htcp_tap.port()}, {"digest", true}});
        return {icp, htcp};
    }

    json const quick{{"icp", {{"timeout", "100ms"}, {"timeout_min", "0s"}}}};

    /// All kinds of requests for https:// URLs, and one for an http:// URL.
    void use(Proxy const& proxy) {
        Fields const private_fields{{"Cookie", "secret-cookie"}, {"X-Secret", "secret-field"}};
        Client client(proxy, secure);
        for (auto const& more : {Fields{}, Fields{{"Authorization", "Basic secret"}}, Fields{{"Cache-Control", "no-cache"}}}) {
            auto fields = private_fields;
            fields.insert(fields.end(), more.begin(), more.end());
            client.get(secret_path, fields).body();
        }
        client.post(secret_path, "secret-body", private_fields).body();
        client.send("DELETE", "/secret-path-too").body();
        client.send("PURGE", secret_path).body();
        client.get(secret_path, private_fields).body();
        run({garner_binary(), "purge", secure.url(secret_path), "--config", proxy.dir().path("garner.json").string()});
        run({garner_binary(), "explain", secure.url("/secret-path-again"), "-X", "GET", "--config",
             proxy.dir().path("garner.json").string()});
        get(proxy, plain, "/open").body();
        pause_for(300ms);
    }

    using Leaks = std::vector<std::string>;
    static Leaks leaks_in(std::string const& bytes, std::string const& protocol) {
        Leaks leaks;
        for (char const* word : {"https://", "secret"})
            if (bytes.find(word) != bytes.npos) leaks.push_back(protocol + " told " + word);
        return leaks;
    }
    /// Also if a recorder of datagrams has recorded nothing: it would prove nothing.
    Leaks leaks() const {
        Leaks all;
        auto const add = [&](Leaks const& more) { all.insert(all.end(), more.begin(), more.end()); };
        add(leaks_in(clear_tap.sent(), "HTTP"));
        add(leaks_in(tls_tap.sent(), "HTTP over TLS"));
        add(leaks_in(icp_tap.received(), "ICP"));
        add(leaks_in(htcp_tap.received(), "HTCP"));
        for (auto const* tap : {&icp_tap, &htcp_tap})
            if (tap->received().find("http://") == std::string::npos) all.emplace_back("a recorder has recorded nothing");
        return all;
    }
    /// After all kinds of requests through a proxy with such peers.
    Leaks leaks_to(std::string const& type, json const& https, bool by_tls, json const& more = json::object()) {
        auto patch = child_of(peers(https, by_tls, type), quick);
        patch.merge_patch(more);
        Proxy proxy(patch.dump());
        use(proxy);
        return leaks();
    }
};

}   // namespace

TEST_F(HttpsInClear, peers_with_TLS_get_https_requests_and_no_datagram_names_them) {
    EXPECT_THAT(leaks_to("parent", nullptr, true), ElementsAre());
    EXPECT_THAT(parent.logged("/secret-path?secret-query").all.dump(), HasSubstr("https://"));
    EXPECT_THAT(leaks_to("sibling", nullptr, true), ElementsAre());
}

TEST_F(HttpsInClear, peers_with_TLS_that_may_not_read_https_get_none) {
    EXPECT_THAT(leaks_to("parent", "no", true), ElementsAre());
    EXPECT_THAT(leaks_to("sibling", "no", true), ElementsAre());
    EXPECT_FALSE(parent.metrics().find("\"CONNECT\"") != std::string::npos);
    for (auto const& line : parent.log()) EXPECT_EQ(line.url.find("secret"), line.url.npos) << line.all;
}

TEST_F(HttpsInClear, tunnels_through_a_parent_over_TLS_tell_it_host_and_port) {
    EXPECT_THAT(leaks_to("parent", "tunnel", true, only_peers()), ElementsAre());
    for (auto const& line : parent.log()) EXPECT_EQ(line.url.find("secret"), line.url.npos) << line.all;
}

TEST_F(HttpsInClear, by_default_parents_without_TLS_tunnel_and_siblings_get_none) {
    EXPECT_THAT(leaks_to("parent", nullptr, false), ElementsAre());
    EXPECT_THAT(leaks_to("sibling", nullptr, false), ElementsAre());
    EXPECT_THAT(leaks_to("parent", "no", false), ElementsAre());
}

TEST_F(HttpsInClear, without_another_source_a_parent_in_clear_sees_host_and_port) {
    EXPECT_THAT(leaks_to("parent", nullptr, false, only_peers()), ElementsAre());
    EXPECT_THAT(clear_tap.sent(), HasSubstr("CONNECT " + secure.authority()));
}

TEST_F(HttpsInClear, a_purge_says_which_peer_was_not_told) {
    Proxy proxy(child_of(peers(nullptr, true), quick).dump());
    EXPECT_EQ(get(proxy, secure, secret_path).body(), "secret");
    EXPECT_THAT(Client(proxy, secure).send("PURGE", secret_path).body(), HasSubstr("peer htcp: not told (peers[].https)"));
    auto const again = get(proxy, secure, secret_path);
    EXPECT_EQ(again.body(), "secret");
    EXPECT_EQ(proxy.logged("/secret-path?secret-query", 3).all.value("hierarchy", ""), "HIER_DIRECT")
        << "the peers may still have the purged object";
    EXPECT_THAT(leaks_in(htcp_tap.received(), "HTCP"), ElementsAre());
}

TEST_F(HttpsInClear, a_parent_that_must_not_be_used_leaves_no_source) {
    Proxy proxy(child_of(peers("no", false), {{"direct", {{"never", {"all"}}}}}).dump());
    EXPECT_EQ(get(proxy, secure, secret_path).status(), 503);
    EXPECT_EQ(Client(proxy).connect_to(secure.authority()).status(), 503);
    EXPECT_THAT(leaks_in(clear_tap.sent(), "HTTP"), ElementsAre());
}

TEST_F(HttpsInClear, a_parent_whose_TLS_fails_is_not_asked_in_clear_instead) {
    auto all = peers(nullptr, true);
    for (auto& peer : all) peer["tls"]["ca_file"] = origin_files.chain();   // the parent is not trusted
    auto patch = child_of(all, quick);
    patch.merge_patch(only_peers());
    Proxy proxy(patch.dump());
    EXPECT_EQ(get(proxy, secure, secret_path).status(), 502);
    use(proxy);
    EXPECT_THAT(leaks_in(tls_tap.sent(), "HTTP over TLS"), ElementsAre());
    EXPECT_THAT(leaks_in(icp_tap.received(), "ICP"), ElementsAre());
    EXPECT_THAT(leaks_in(htcp_tap.received(), "HTCP"), ElementsAre());
}

TEST_F(HttpsInClear, a_silent_parent_is_asked_for_a_sign_of_life_without_the_URL) {
    auto held = secure.hold("/secret-path-held");
    auto all = peers(nullptr, true);
    all[0]["default"] = true;
    Proxy proxy(child_of(all, quick).dump());
    auto client = Client(proxy, secure);
    auto reply = client.get("/secret-path-held");
    held.arrived();
    EXPECT_TRUE(eventually([&] { return icp_tap.datagrams() + htcp_tap.datagrams() > 0; }))
        << "the peers are asked for a sign of life";
    auto const told = icp_tap.received() + htcp_tap.received();
    EXPECT_THAT(leaks_in(told, "the query"), ElementsAre());
    EXPECT_THAT(told, HasSubstr("http://127.0.0.1:" + std::to_string(tls_tap.port()) + "/"));
    held.release("x");
    EXPECT_EQ(reply.status(), 200);
}

TEST_F(HttpsInClear, the_word_clear_lets_requests_queries_and_purges_name_them) {
    auto patch = child_of(peers("clear", false), quick);
    Proxy proxy(patch.dump());
    use(proxy);
    EXPECT_THAT(icp_tap.received(), HasSubstr(secure.url("/secret-path")));
    EXPECT_THAT(htcp_tap.received(), HasSubstr(secure.url("/secret-path")));
    EXPECT_THAT(htcp_tap.received(), HasSubstr(secure.url("/secret-path-too")));
    patch.merge_patch(only_peers());
    Proxy walled(patch.dump());
    EXPECT_EQ(get(walled, secure, "/secret-path-walled").body(), "secret");
    EXPECT_THAT(clear_tap.sent(), HasSubstr("GET " + secure.url("/secret-path-walled") + " HTTP/1.1"));
    EXPECT_EQ(reach(walled.logged("/secret-path-walled")), "clear");
}

TEST_F(HttpsInClear, with_TLS_the_word_clear_is_about_datagrams_only) {
    Proxy proxy(child_of(peers("clear", true), quick).dump());
    use(proxy);
    EXPECT_THAT(leaks_in(tls_tap.sent(), "HTTP over TLS"), ElementsAre());
    EXPECT_THAT(icp_tap.received(), HasSubstr(secure.url("/secret-path")));
}

}   // namespace garner::test
