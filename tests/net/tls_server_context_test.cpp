// The TLS settings of a listening address, as OpenSSL clients see them.
#include "net/tls_server_context.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "net/tls_pair.hpp"
#include "support/child.hpp"
#include "support/made.hpp"

namespace garner::net {
namespace {

using test::IssuedCertificate;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr int alert_handshake_failure = 40, alert_unknown_ca = 48, alert_protocol_version = 70, alert_no_application_protocol = 120;

std::shared_ptr<Certificate const> loaded(IssuedCertificate const& issued) {
    test::TempDir const dir;
    return test::made(read_certificate({dir.write("chain.pem", issued.pem()), dir.write("key.pem", issued.key_pem())}));
}

std::shared_ptr<Certificate const> named(std::string const& common_name, std::string const& names,
                                         std::string const& key = "P-256") {
    return loaded(IssuedCertificate({.common_name = common_name, .names = names, .key = key}));
}

/// An authority for clients, and certificates of two clients.
struct Clients {
    IssuedCertificate authority{{.common_name = "clients", .is_ca = true}};
    IssuedCertificate jo{{.common_name = "jo", .names = "DNS:jo.example,email:jo@example.org"}, &authority};
    IssuedCertificate stranger{{.common_name = "stranger"}};
};

Clients const& clients() {
    static Clients const one;
    return one;
}

/// A listener's settings; each context() is made afresh from them, as at a reload.
struct ListenerScene {
    std::shared_ptr<TlsServerContext const> context() const {
        return test::made(TlsServerContext::make(options, certificates, ticket_keys, http2, listener));
    }
    void ask_for_clients(std::string const& pem = clients().authority.pem(), bool required = true) {
        options.client_ca = dir.write("clients.pem", pem);
        options.client_required = required;
    }
    /// Whether a session that began with `before` is resumed by a new context.
    bool resumes(TlsTicket const& before, IssuedCertificate const* certificate = nullptr) const {
        int const version = SSL_SESSION_get_protocol_version(before.get());
        TlsPair const pair(*context(), {.max_version = version, .certificate = certificate, .ticket = before});
        EXPECT_TRUE(pair.done());
        return pair.resumed();
    }

    test::TempDir dir;
    ListenTls options;
    std::vector<std::shared_ptr<Certificate const>> certificates{named("first", "DNS:proxy.test,DNS:first.test")};
    std::shared_ptr<TicketKeys> ticket_keys = std::make_shared<TicketKeys>(steady_now());
    bool http2 = true;
    std::string listener = "127.0.0.1:3129";
};

/// The ticket as the client sends it; empty without a ticket.
std::string bytes_of(TlsTicket const& ticket) {
    if (!ticket) return {};
    unsigned char const* bytes = nullptr;
    std::size_t size = 0;
    SSL_SESSION_get0_ticket(ticket.get(), &bytes, &size);
    return {reinterpret_cast<char const*>(bytes), size};
}

// ---- certificates ----

TEST(TlsServerContext, the_server_name_selects_the_certificate) {
    ListenerScene scene;
    scene.certificates.push_back(named("wild", "DNS:*.proxy.test"));
    scene.certificates.push_back(named("exact", "DNS:www.proxy.test,DNS:first.test"));
    auto const context = scene.context();
    std::vector<std::pair<std::string, std::string>> const cases{{"", "first"},
                                                                 {"unknown.test", "first"},
                                                                 {"proxy.test", "first"},
                                                                 {"a.proxy.test", "wild"},
                                                                 {"A.Proxy.Test", "wild"},
                                                                 {"a.proxy.test.", "wild"},
                                                                 {"b.a.proxy.test", "first"},
                                                                 {"www.proxy.test", "exact"},
                                                                 {"first.test", "first"}};
    for (auto const& [server_name, common_name] : cases) {
        EXPECT_EQ(context->certificate_for(server_name).subject(), "CN = " + common_name) << server_name;
        for (int const version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
            TlsPair const pair(*context, {.server_name = server_name, .max_version = version});
            EXPECT_EQ(pair.server_common_name(), common_name) << server_name;
        }
    }
}

TEST(TlsServerContext, every_usual_type_of_key_serves_both_versions) {
    for (auto const* kind : {"P-256", "P-384", "RSA-2048", "ED25519"}) {
        ListenerScene scene;
        scene.certificates = {named(kind, "DNS:proxy.test", kind)};
        auto const context = scene.context();
        for (int const version : {TLS1_2_VERSION, TLS1_3_VERSION})
            EXPECT_TRUE(TlsPair(*context, {.max_version = version}).done()) << kind << " " << version;
    }
}

TEST(TlsServerContext, the_intermediates_are_sent_and_no_others) {
    IssuedCertificate const root({.common_name = "root", .is_ca = true}), middle({.common_name = "middle", .is_ca = true}, &root);
    IssuedCertificate const leaf({}, &middle);
    ListenerScene scene;
    scene.ask_for_clients(root.pem() + middle.pem(), false);
    auto const chain_of = [&](std::string const& pem) {
        scene.certificates = {
            test::made(read_certificate({scene.dir.write("a.pem", pem), scene.dir.write("a.key", leaf.key_pem())}))};
        TlsPair const pair(*scene.context(), {});
        return sk_X509_num(SSL_get_peer_cert_chain(pair.client()));
    };
    EXPECT_EQ(chain_of(leaf.pem()), 1);
    EXPECT_EQ(chain_of(leaf.pem() + middle.pem()), 2);
}

// ---- versions and algorithms ----

TEST(TlsServerContext, versions_below_the_minimum_are_refused) {
    ListenerScene scene;
    EXPECT_EQ(TlsPair(*scene.context(), {}).version(), TLS1_3_VERSION);
    EXPECT_EQ(TlsPair(*scene.context(), {.max_version = TLS1_2_VERSION}).version(), TLS1_2_VERSION);
    EXPECT_EQ(TlsPair(*scene.context(), {.max_version = TLS1_1_VERSION}).alert(), alert_protocol_version);
    scene.options.min_version = ListenTls::MinVersion::tls_1_3;
    EXPECT_TRUE(TlsPair(*scene.context(), {}).done());
    TlsPair const older(*scene.context(), {.max_version = TLS1_2_VERSION});
    EXPECT_FALSE(older.done());
    EXPECT_EQ(older.alert(), alert_protocol_version);
}

TEST(TlsServerContext, aes_128_gcm_is_preferred) {
    auto const context = ListenerScene().context();
    EXPECT_EQ(TlsPair(*context, {.suites = "TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256"}).cipher(), "TLS_AES_128_GCM_SHA256");
    EXPECT_EQ(TlsPair(*context, {.suites = "TLS_CHACHA20_POLY1305_SHA256"}).cipher(), "TLS_CHACHA20_POLY1305_SHA256");
    ClientWish wish{.max_version = TLS1_2_VERSION, .ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256"};
    EXPECT_EQ(TlsPair(*context, wish).cipher(), "ECDHE-ECDSA-AES128-GCM-SHA256");
}

TEST(TlsServerContext, tls_1_2_has_only_ephemeral_key_exchange_with_aead) {
    ListenerScene scene;
    scene.certificates = {named("rsa", "DNS:proxy.test", "RSA-2048")};
    auto const context = scene.context();
    for (auto const* good : {"ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305"})
        EXPECT_EQ(TlsPair(*context, {.max_version = TLS1_2_VERSION, .ciphers = good}).cipher(), good);
    for (auto const* weak :
         {"AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA256", "ECDHE-RSA-AES128-SHA", "DHE-RSA-AES128-GCM-SHA256", "AECDH-AES128-SHA"})
        EXPECT_EQ(TlsPair(*context, {.max_version = TLS1_2_VERSION, .ciphers = weak}).alert(), alert_handshake_failure) << weak;
}

TEST(TlsServerContext, x25519_and_p_256_are_the_groups) {
    ListenerScene scene;
    scene.certificates = {named("rsa", "DNS:proxy.test", "RSA-2048")};
    auto const context = scene.context();
    for (int const version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        EXPECT_TRUE(TlsPair(*context, {.max_version = version, .groups = "X25519"}).done());
        EXPECT_TRUE(TlsPair(*context, {.max_version = version, .groups = "P-384:P-256"}).done());
        EXPECT_EQ(TlsPair(*context, {.max_version = version, .groups = "P-384"}).alert(), alert_handshake_failure);
    }
}

TEST(TlsServerContext, renegotiation_is_refused) {
    TlsPair const pair(*ListenerScene().context(), {.max_version = TLS1_2_VERSION});
    ASSERT_TRUE(pair.done());
    SSL_set_shutdown(pair.client(), 0);
    ASSERT_EQ(SSL_renegotiate(pair.client()), 1);
    char byte;
    SSL_do_handshake(pair.client());
    SSL_read(pair.server(), &byte, 1);
    SSL_do_handshake(pair.client());
    constexpr int no_renegotiation = 100;
    EXPECT_EQ(pair.alert(), no_renegotiation);
}

// ---- ALPN ----

TEST(TlsServerContext, alpn_prefers_h2_and_falls_back_to_http_1_1) {
    ListenerScene scene;
    std::string const h2 = "\x02h2", http1 = "\x08http/1.1", unknown = "\x06spdy/1";
    auto const protocol = [&](std::string const& offered) { return TlsPair(*scene.context(), {.protocols = offered}).protocol(); };
    EXPECT_EQ(protocol(http1 + h2), "h2");
    EXPECT_EQ(protocol(unknown + http1), "http/1.1");
    scene.http2 = false;
    EXPECT_EQ(protocol(h2 + http1), "http/1.1");
}

TEST(TlsServerContext, alpn_without_a_common_protocol_ends_the_handshake) {
    ListenerScene scene;
    EXPECT_EQ(TlsPair(*scene.context(), {.protocols = "\x06spdy/1"}).alert(), alert_no_application_protocol);
    TlsPair const silent(*scene.context(), {});
    EXPECT_TRUE(silent.done());
    EXPECT_EQ(silent.protocol(), "");
    scene.http2 = false;
    EXPECT_EQ(TlsPair(*scene.context(), {.protocols = "\x02h2"}).alert(), alert_no_application_protocol);
}

// ---- tickets ----

TEST(TlsServerContext, clients_get_one_ticket_and_those_with_several_connections_two) {
    auto const context = ListenerScene().context();
    EXPECT_EQ(TlsPair(*context, {.protocols = "\x02h2"}).tickets().size(), 1u);
    EXPECT_EQ(TlsPair(*context, {.protocols = "\x08http/1.1"}).tickets().size(), 2u);
    TlsPair const pair(*context, {});
    EXPECT_EQ(pair.tickets().size(), 1u);
    EXPECT_EQ(SSL_SESSION_get_max_early_data(pair.ticket().get()), 0u);
    EXPECT_EQ(SSL_SESSION_get_ticket_lifetime_hint(pair.ticket().get()), 7'200u);
}

TEST(TlsServerContext, a_session_is_resumed_after_a_reload) {
    ListenerScene scene;
    for (int const version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        TlsPair const first(*scene.context(), {.max_version = version});
        ASSERT_TRUE(first.ticket());
        EXPECT_FALSE(first.resumed());
        scene.certificates = {named("renewed", "DNS:proxy.test")};
        TlsPair const second(*scene.context(), {.max_version = version, .ticket = first.ticket()});
        EXPECT_TRUE(second.done());
        EXPECT_TRUE(second.resumed());
    }
}

TEST(TlsServerContext, each_resumption_under_tls_1_3_gives_a_new_ticket) {
    ListenerScene scene;
    auto const context = scene.context();
    auto ticket = TlsPair(*context, {}).ticket();
    for (int i = 0; i < 3; ++i) {
        TlsPair const pair(*context, {.protocols = "\x02h2", .ticket = ticket});
        EXPECT_TRUE(pair.resumed());
        ASSERT_EQ(pair.tickets().size(), 1u);
        ticket = pair.ticket();
    }
}

TEST(TlsServerContext, a_ticket_of_an_older_key_is_accepted_and_renewed) {
    for (int const version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        ListenerScene scene;
        auto const context = scene.context();
        auto const first = TlsPair(*context, {.max_version = version}).ticket();
        TlsPair const current(*context, {.max_version = version, .ticket = first});
        EXPECT_TRUE(current.resumed());
        EXPECT_EQ(bytes_of(current.ticket()) == bytes_of(first), version == TLS1_2_VERSION);
        scene.ticket_keys->current(steady_now() + 2 * TicketKeys::period);
        TlsPair const old(*context, {.max_version = version, .ticket = first});
        EXPECT_TRUE(old.resumed());
        EXPECT_NE(bytes_of(old.ticket()), bytes_of(first));
        scene.ticket_keys->current(steady_now() + 3 * TicketKeys::period);
        EXPECT_FALSE(scene.resumes(first));
        EXPECT_TRUE(scene.resumes(old.ticket()));
    }
}

TEST(TlsServerContext, a_ticket_is_of_no_use_to_another_listener_or_process) {
    ListenerScene scene;
    auto const ticket = TlsPair(*scene.context(), {}).ticket();
    EXPECT_TRUE(scene.resumes(ticket));
    scene.listener = "127.0.0.1:3130";
    EXPECT_FALSE(scene.resumes(ticket));
    scene.listener = "127.0.0.1:3129";
    scene.ticket_keys = std::make_shared<TicketKeys>(steady_now());
    EXPECT_FALSE(scene.resumes(ticket));
}

// ---- client certificates ----

TEST(TlsServerContext, a_required_client_certificate_must_be_valid) {
    ListenerScene scene;
    scene.ask_for_clients();
    IssuedCertificate const expired({.valid_until = -60}, &clients().authority);
    for (int const version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        TlsPair const pair(*scene.context(), {.max_version = version, .certificate = &clients().jo});
        EXPECT_TRUE(pair.done());
        EXPECT_THAT(pair.identity(), ElementsAre("jo.example", "jo@example.org"));
        EXPECT_EQ(sk_X509_NAME_num(SSL_get0_peer_CA_list(pair.client())), 1);
        EXPECT_FALSE(TlsPair(*scene.context(), {.max_version = version}).done());
        EXPECT_FALSE(TlsPair(*scene.context(), {.max_version = version, .certificate = &expired}).done());
        TlsPair const stranger(*scene.context(), {.max_version = version, .certificate = &clients().stranger});
        EXPECT_FALSE(stranger.done());
        EXPECT_EQ(stranger.alert(), alert_unknown_ca);
    }
}

TEST(TlsServerContext, an_optional_client_certificate_may_be_absent_but_not_invalid) {
    ListenerScene scene;
    scene.ask_for_clients(clients().authority.pem(), false);
    TlsPair const anonymous(*scene.context(), {});
    EXPECT_TRUE(anonymous.done());
    EXPECT_THAT(anonymous.identity(), IsEmpty());
    EXPECT_TRUE(TlsPair(*scene.context(), {.certificate = &clients().jo}).done());
    EXPECT_FALSE(TlsPair(*scene.context(), {.certificate = &clients().stranger}).done());
}

TEST(TlsServerContext, every_certificate_in_the_client_ca_file_is_a_trust_anchor) {
    IssuedCertificate const middle({.common_name = "middle", .is_ca = true}, &clients().authority);
    IssuedCertificate const client({.common_name = "client"}, &middle);
    ListenerScene scene;
    scene.ask_for_clients(middle.pem());
    EXPECT_TRUE(TlsPair(*scene.context(), {.certificate = &client}).done());
    EXPECT_FALSE(TlsPair(*scene.context(), {.certificate = &clients().jo}).done());
    scene.ask_for_clients(clients().stranger.pem());
    EXPECT_TRUE(TlsPair(*scene.context(), {.certificate = &clients().stranger}).done());
}

TEST(TlsServerContext, a_faulty_client_ca_file_is_an_error) {
    ListenerScene scene;
    scene.ask_for_clients("nothing");
    auto const result = TlsServerContext::make(scene.options, scene.certificates, scene.ticket_keys, true, scene.listener);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.fault().where, scene.options.client_ca);
    EXPECT_EQ(result.fault().what, "no certificate in PEM format");
}

TEST(TlsServerContext, resumption_keeps_the_identity) {
    ListenerScene scene;
    scene.ask_for_clients();
    for (int const version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        TlsPair const first(*scene.context(), {.max_version = version, .certificate = &clients().jo});
        TlsPair const second(*scene.context(), {.max_version = version, .ticket = first.ticket()});
        EXPECT_TRUE(second.resumed());
        EXPECT_THAT(second.identity(), ElementsAre("jo.example", "jo@example.org"));
    }
}

TEST(TlsServerContext, a_session_is_not_resumed_under_other_rules_for_clients) {
    ListenerScene scene;
    auto const open = TlsPair(*scene.context(), {}).ticket();
    scene.ask_for_clients(clients().authority.pem(), false);
    EXPECT_FALSE(scene.resumes(open));
    auto const anonymous = TlsPair(*scene.context(), {}).ticket();
    auto const jo = TlsPair(*scene.context(), {.certificate = &clients().jo}).ticket();
    EXPECT_TRUE(scene.resumes(anonymous));
    EXPECT_TRUE(scene.resumes(jo));
    scene.options.client_required = true;
    EXPECT_FALSE(TlsPair(*scene.context(), {.ticket = anonymous}).done());
    EXPECT_FALSE(scene.resumes(jo, &clients().jo));
    scene.ask_for_clients(clients().authority.pem() + clients().stranger.pem(), false);
    EXPECT_FALSE(scene.resumes(jo, &clients().jo));
}

TEST(TlsServerContext, a_session_is_not_resumed_after_its_client_certificate_has_expired) {
    ListenerScene scene;
    scene.ask_for_clients(clients().authority.pem(), false);
    IssuedCertificate const brief({.common_name = "brief", .valid_until = 2}, &clients().authority);
    TlsPair const older(*scene.context(), {.max_version = TLS1_2_VERSION, .certificate = &brief});
    TlsPair const newer(*scene.context(), {.certificate = &brief});
    EXPECT_TRUE(scene.resumes(newer.ticket()));
    ASSERT_TRUE(older.done());
    std::this_thread::sleep_until(not_after(brief.x509()));
    EXPECT_FALSE(scene.resumes(newer.ticket()));
    EXPECT_FALSE(scene.resumes(older.ticket()));
}

}   // namespace
}   // namespace garner::net
