// Two Garners with mutual TLS: requests, tunnels, digests, resumption, faults and reloads.
#include "story/mesh/tls_mesh.hpp"

namespace garner::test {

namespace {

struct TlsPeers : TlsMesh {
    /// Requests of the child leave by the parent only.
    std::string child(Proxy const& parent, json const& as_peer = json::object()) const {
        return child_of({campus(parent.secure(), as_peer)}, only_peers()).dump();
    }
};

Finished garner(Proxy const& proxy, std::vector<std::string> words) {
    words.insert(words.begin(), garner_binary());
    words.insert(words.end(), {"--config", proxy.dir().path("garner.json").string()});
    return run(words);
}

json first_peer(Proxy const& proxy) { return json::parse(garner(proxy, {"peers", "--json"}).output).at(0); }

}   // namespace

TEST_F(TlsPeers, requests_reach_the_parent_over_TLS_with_the_childs_certificate) {
    Origin plain, secure(secure_origin());
    plain.answer("/page", fresh("open"));
    secure.answer("/page", fresh("secret"));
    Proxy parent(secure_parent());
    Proxy proxy(child(parent));
    EXPECT_EQ(get(proxy, plain, "/page").body(), "open");
    EXPECT_EQ(get(proxy, secure, "/page").body(), "secret");
    auto const line = proxy.logged(secure.url("/page"));
    EXPECT_EQ(line.all.value("hierarchy", ""), "FIRSTUP_PARENT");
    EXPECT_EQ(line.all.value("peer", ""), "campus");
    EXPECT_EQ(reach(line), "TLS");
    auto const there = parent.logged(secure.url("/page"));
    EXPECT_EQ(there.method, "GET");
    EXPECT_EQ(there.all.value("user", ""), "child.test");
    EXPECT_TRUE(get(proxy, secure, "/page").hit());
    EXPECT_EQ(secure.requests("/page"), 1u);
}

TEST_F(TlsPeers, the_parent_caches_https_pages_for_its_other_children) {
    Origin secure(secure_origin());
    secure.answer("/page", fresh("secret"));
    Proxy parent(secure_parent());
    Proxy one(child(parent)), other(child(parent));
    EXPECT_EQ(get(one, secure, "/page").body(), "secret");
    EXPECT_EQ(get(other, secure, "/page").body(), "secret");
    EXPECT_EQ(secure.requests("/page"), 1u);
}

TEST_F(TlsPeers, uploads_and_large_bodies_pass) {
    Origin secure(secure_origin());
    auto const film = pattern(8'000'000);
    secure.answer("/film", no_store(film));
    Proxy parent(secure_parent());
    Proxy proxy(child(parent));
    Client client(proxy, secure);
    EXPECT_TRUE(client.get("/film").body() == film);
    EXPECT_TRUE(client.post("/film", film).body() == film);
    EXPECT_TRUE(secure.last("/film").body == film);
}

TEST_F(TlsPeers, a_connection_is_kept_and_a_later_one_resumes_the_session) {
    Origin origin;
    origin.answer("/page", no_store("x"));
    Proxy parent(secure_parent());
    Proxy proxy(child_of({campus(parent.secure())}, {{"direct", {{"never", {"all"}}}}, {"pool", {{"idle_timeout", "1s"}}}}).dump());
    Client client(proxy, origin);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(client.get("/page").body(), "x");
    EXPECT_EQ(parent.stats()["tls"]["handshakes"]["ok"], 1);
    pause_for(2'500ms);
    EXPECT_EQ(client.get("/page").body(), "x");
    EXPECT_EQ(parent.stats()["tls"]["handshakes"]["ok"], 2);
    EXPECT_EQ(parent.stats()["tls"]["resumed"], 1);
    EXPECT_EQ(parent.logged("/page", 4).all.value("user", ""), "child.test") << "a resumed session keeps the name";
}

TEST_F(TlsPeers, a_clients_CONNECT_goes_through_the_parent_over_TLS) {
    Origin origin;
    auto const film = pattern(3'000'000);
    origin.answer("/film", no_store(film));
    Proxy parent(secure_parent());
    Tap tap(parent.secure());
    Proxy proxy(child_of({campus(tap.port())}, only_peers()).dump());
    Client client(proxy);
    ASSERT_EQ(client.connect_to(origin.authority()).status(), 200);
    EXPECT_TRUE(client.get("/film").body() == film);
    EXPECT_TRUE(client.post("/film", film).body() == film);
    EXPECT_TRUE(origin.last("/film").body == film);
    EXPECT_EQ(parent.log().empty(), true) << "the tunnel is still open";
    client.half_close();
    EXPECT_EQ(parent.logged(origin.authority()).method, "CONNECT");
    EXPECT_EQ(reach(proxy.logged(origin.authority())), "TLS");
    EXPECT_THAT(tap.sent(), Not(HasSubstr("CONNECT")));
    EXPECT_THAT(tap.sent(), Not(HasSubstr("GET /film")));
}

TEST_F(TlsPeers, tunnel_means_TLS_to_the_origin_inside_of_TLS_to_the_parent) {
    Origin secure(secure_origin());
    auto const film = pattern(5'000'000);
    secure.answer("/film", no_store(film));
    Proxy parent(secure_parent());
    Proxy proxy(child(parent, {{"https", "tunnel"}}));
    Client client(proxy, secure);
    EXPECT_TRUE(client.get("/film").body() == film);
    EXPECT_TRUE(client.post("/film", film).body() == film);
    EXPECT_EQ(secure.connections(), 1u) << "the tunnel is kept";
    EXPECT_EQ(reach(proxy.logged("/film")), "CONNECT over TLS");
    proxy.stop();   // ends the tunnel
    auto const there = parent.logged(secure.authority());
    EXPECT_EQ(there.method, "CONNECT");
    EXPECT_EQ(there.all.value("user", ""), "child.test");
    EXPECT_EQ(parent.log().size(), 1u);
}

TEST_F(TlsPeers, a_parent_of_an_unknown_authority_is_not_used) {
    Origin origin;
    origin.answer("/page", no_store("x"));
    Proxy parent(secure_parent());
    Proxy walled(child(parent, {{"tls", {{"ca_file", origin_files.chain()}}}}));
    auto const reply = get(walled, origin, "/page");
    EXPECT_EQ(reply.status(), 502);
    EXPECT_THAT(reply.body(), HasSubstr("certificate not accepted"));
    EXPECT_EQ(first_peer(walled)["state"], "dead");
    EXPECT_EQ(origin.requests("/page"), 0u);
    Proxy misnamed(child(parent, {{"tls", {{"server_name", "other.test"}}}}));
    EXPECT_THAT(get(misnamed, origin, "/page").body(), HasSubstr("hostname mismatch"));
    auto const with_default =
        child_of({campus(parent.secure(), {{"default", true}, {"tls", {{"ca_file", origin_files.chain()}}}})}).dump();
    Proxy free(with_default);
    EXPECT_EQ(get(free, origin, "/page").body(), "x");
    EXPECT_EQ(free.logged("/page").all.value("hierarchy", ""), "HIER_DIRECT");
    EXPECT_TRUE(parent.log().empty());
    Proxy careless(child(parent, {{"tls", {{"verify", false}, {"ca_file", origin_files.chain()}}}}));
    EXPECT_EQ(get(careless, origin, "/page").body(), "x");
}

TEST_F(TlsPeers, a_child_without_a_certificate_is_refused) {
    Origin origin;
    origin.answer("/page", no_store("x"));
    Proxy parent(secure_parent());
    Proxy proxy(child(parent, {{"tls", {{"chain", ""}, {"key", ""}}}}));
    EXPECT_EQ(get(proxy, origin, "/page").status(), 502);
    EXPECT_EQ(origin.requests("/page"), 0u);
    EXPECT_TRUE(parent.log().empty());
}

TEST_F(TlsPeers, a_sibling_is_looked_up_in_a_digest_that_came_over_TLS_with_https_pages) {
    Origin secure(secure_origin());
    secure.answer("/page", fresh("secret"));
    Proxy sibling(secure_parent(
        {{"digest", {{"rebuild_interval", "1s"}}}, {"icp", {{"address", "127.0.0.1:" + std::to_string(free_port())}}}}));
    EXPECT_EQ(get(sibling, secure, "/page").body(), "secret");
    pause_for(2s);
    Tap tap(sibling.secure());
    Proxy proxy(child_of({campus(tap.port(), {{"type", "sibling"}, {"digest", true}})}).dump());
    auto const from_the_sibling = [&] {
        auto const order =
            json::parse(garner(proxy, {"explain", secure.url("/page"), "-X", "GET", "--json"}).output)["sources"]["order"];
        return order.at(0).at("why") == "CD_SIBLING_HIT";
    };
    ASSERT_TRUE(eventually(from_the_sibling)) << proxy.errors();
    EXPECT_EQ(get(proxy, secure, "/page").body(), "secret");
    EXPECT_EQ(proxy.logged("/page").all.value("hierarchy", ""), "CD_SIBLING_HIT");
    EXPECT_EQ(secure.requests("/page"), 1u);
    EXPECT_THAT(tap.sent(), Not(HasSubstr("store_digest")));
    EXPECT_EQ(sibling.stats()["tls"]["handshakes"]["ok"], tap.connections());
}

TEST_F(TlsPeers, explain_and_peers_say_how_each_is_reached) {
    Proxy parent(secure_parent());
    auto tunnel = campus(parent.secure(), {{"name", "tunnel"}, {"https", "tunnel"}, {"default", true}});
    json const clear{{"name", "clear"}, {"host", "127.0.0.1"}, {"http_port", parent.port()}, {"icp_port", 0}, {"no_query", true}};
    Proxy proxy(child_of({campus(parent.secure()), tunnel, clear}).dump());
    auto const explained = [&](std::string const& url) { return garner(proxy, {"explain", url, "-X", "GET"}).output; };
    EXPECT_THAT(
        explained("https://127.0.0.1:1/page"),
        HasSubstr("source      FIRSTUP_PARENT/campus (TLS), then HIER_DIRECT, then DEFAULT_PARENT/tunnel (CONNECT over TLS), "
                  "then FIRSTUP_PARENT/clear (CONNECT)"));
    EXPECT_THAT(explained("https://127.0.0.1:1/page"), HasSubstr("no peer is queried: queries are sent in clear text"));
    EXPECT_THAT(explained("http://127.0.0.1:1/page"), HasSubstr("DEFAULT_PARENT/tunnel (TLS), then FIRSTUP_PARENT/clear, "));
    auto const peers = garner(proxy, {"peers"}).output;
    EXPECT_THAT(peers, HasSubstr("tls"));
    EXPECT_EQ(first_peer(proxy)["tls"], true);
    EXPECT_EQ(first_peer(proxy)["https"], "ask");
    auto const all = json::parse(garner(proxy, {"peers", "--json"}).output);
    EXPECT_EQ(all[2]["tls"], false);
    EXPECT_EQ(all[2]["https"], "tunnel");
}

TEST_F(TlsPeers, a_dead_parent_is_alive_again_once_a_probe_has_shaken_hands) {
    Origin origin;
    origin.answer("/page", no_store("x"));
    CertificateFiles stranger("parent.test");
    auto setup = secure_parent();
    setup.tls = stranger.tls();
    Proxy parent(setup);
    Proxy proxy(child(parent));
    EXPECT_EQ(get(proxy, origin, "/page").status(), 502);
    EXPECT_EQ(first_peer(proxy)["state"], "dead");
    stranger.write(parent_files.certificate);
    reload(parent, parent.configuration(), "configuration reloaded");
    EXPECT_TRUE(eventually([&] { return first_peer(proxy)["state"] == "alive"; }, 30s));
    EXPECT_TRUE(parent.log().empty()) << "the probe sent no request of a client";
    EXPECT_EQ(get(proxy, origin, "/page").body(), "x");
}

// ---- reloads ----

TEST_F(TlsPeers, new_certificates_are_taken_by_SIGHUP_and_no_connection_is_cut) {
    Origin origin;
    auto held = origin.hold("/film");
    origin.answer("/page", no_store("x"));
    Proxy parent(secure_parent());
    Proxy proxy(child(parent));
    Client watching(proxy, origin);
    auto film = watching.get("/film");
    auto& exchange = held.nth(0);
    exchange.head(no_store(""), 10);
    exchange.piece("first");
    EXPECT_EQ(film.early(5), "first");

    CertificateFiles renewed("renewed.test");
    auto configuration = proxy.configuration();
    configuration["peers"][0]["tls"]["chain"] = renewed.chain();
    configuration["peers"][0]["tls"]["key"] = renewed.key();
    reload(proxy, configuration, "configuration reloaded");
    EXPECT_EQ(get(proxy, origin, "/page").status(), 502) << "the parent does not know the new certificate";
    auto at_the_parent = parent.configuration();
    at_the_parent["listen"][1]["tls"]["client_ca"] = renewed.chain();
    reload(parent, at_the_parent, "configuration reloaded");
    EXPECT_TRUE(eventually([&] { return get(proxy, origin, "/page").body() == "x"; }));
    EXPECT_EQ(parent.logged("/page").all.value("user", ""), "renewed.test");

    exchange.piece("-last");
    exchange.finish();
    EXPECT_EQ(film.body(), "first-last");
    EXPECT_TRUE(film.complete());
}

TEST_F(TlsPeers, new_contents_of_the_same_files_are_taken_too) {
    Origin origin;
    origin.answer("/page", no_store("x"));
    Proxy parent(secure_parent());
    Proxy proxy(child(parent));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "x");
    child_files.write(Certificate("stranger.test"));   // the parent trusts the former one
    reload(proxy, proxy.configuration(), "configuration reloaded: no key changed; 1 new certificate; 1 removed certificate");
    EXPECT_TRUE(proxy.says("new certificate: CN = stranger.test (to peer campus), valid until ")) << proxy.errors();
    EXPECT_EQ(get(proxy, origin, "/page").status(), 502) << "a kept connection has the former certificate";
}

TEST_F(TlsPeers, other_authorities_in_the_same_file_are_taken_and_named) {
    Origin origin;
    origin.answer("/page", no_store("x"));
    Proxy parent(secure_parent());
    TempDir dir;
    auto const authorities = dir.write("parents.pem", parent_files.certificate.pem());
    Proxy proxy(child(parent, {{"tls", {{"ca_file", authorities}}}}));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "x");
    auto const trust = [&](CertificateFiles const& trusted) {
        dir.write("parents.pem", trusted.certificate.pem());
        reload(proxy, proxy.configuration(), "configuration reloaded: no key changed; 1 new certificate; 1 removed certificate");
    };
    trust(origin_files);
    EXPECT_TRUE(proxy.says("new certificate: CN = origin.test (ca_file of peer campus), valid until ")) << proxy.errors();
    EXPECT_TRUE(proxy.says("removed certificate: CN = parent.test (ca_file of peer campus), valid until ")) << proxy.errors();
    EXPECT_EQ(get(proxy, origin, "/page").status(), 502) << "a kept connection was verified by the former authority";
    trust(parent_files);
    EXPECT_TRUE(eventually([&] { return get(proxy, origin, "/page").body() == "x"; }, 30s));
}

TEST_F(TlsPeers, a_faulty_file_changes_nothing) {
    Origin origin;
    origin.answer("/page", no_store("x"));
    Proxy parent(secure_parent());
    Proxy proxy(child(parent));
    child_files.dir.write("key.pem", Certificate("child.test").key_pem());
    auto configuration = proxy.configuration();
    configuration["direct"]["never"] = json::array();
    reload(proxy, configuration, "peers[0].tls.key: " + child_files.key());
    EXPECT_TRUE(proxy.says("configuration not reloaded")) << proxy.errors();
    EXPECT_EQ(get(proxy, origin, "/page").body(), "x");
    EXPECT_EQ(proxy.logged("/page").all.value("peer", ""), "campus");
    auto const checked = run({garner_binary(), "check", proxy.dir().path("garner.json").string()});
    EXPECT_EQ(checked.code, 1);
    EXPECT_THAT(checked.output, HasSubstr("peers[0].tls.key: "));
}

}   // namespace garner::test
