// The cost of logins, in release.
//   logins find [ENTRIES]                     the look-up of remembered credentials
//   logins storm [USERS [CONNECTIONS [COST]]] all connections of all users log in at once, by bcrypt
//   logins negotiate [COUNT]                  Kerberos tickets, beside the bare accept (MIT's KDC on loopback)
#include <crypt.h>
#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "auth/authenticator.hpp"
#include "util/base64.hpp"
#include "auth/htpasswd.hpp"
#include "auth/password_hash.hpp"
#include "support/kdc.hpp"

namespace {

using namespace garner;
using namespace garner::auth;

constexpr IpAddress client = IpAddress::v4(192, 0, 2, 1);

double seconds_since(SteadyTime begin) { return std::chrono::duration<double>(steady_now() - begin).count(); }

/// Processor time of the process.
double cpu_seconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    auto const of = [](timeval const& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6; };
    return of(usage.ru_utime) + of(usage.ru_stime);
}

std::string password_of(int user) { return "password-" + std::to_string(user); }
std::string basic(int user) { return "Basic " + encode_base64("user-" + std::to_string(user) + ":" + password_of(user)); }

std::string bcrypt(std::string const& password, unsigned cost) {
    auto const data = std::make_unique<crypt_data>();
    char salt[CRYPT_GENSALT_OUTPUT_SIZE];
    ::crypt_gensalt_rn("$2y$", cost, nullptr, 0, salt, sizeof salt);
    return ::crypt_r(password.c_str(), salt, data.get());
}

/// Calls job(0), ..., job(count - 1) on `threads` threads.
void on_threads(unsigned threads, int count, auto job) {
    std::atomic<int> next{0};
    std::vector<std::thread> all;
    for (unsigned i = 0; i < threads; ++i)
        all.emplace_back([&] {
            for (int at; (at = next++) < count;) job(at);
        });
    for (auto& thread : all) thread.join();
}

LoginAnswer wait_for(RunningCheck const& check) {
    for (;;) {
        if (auto answer = check.answer()) return *std::move(answer);
        std::this_thread::sleep_for(milliseconds{2});   // seldom: it is a part of the processor time
    }
}

std::shared_ptr<Sources const> load(Options const& options) {
    auto loaded = Sources::load(options);
    for (auto const& fault : loaded.faults) std::fprintf(stderr, "%s\n", fault.text().c_str());
    if (!loaded.sources) std::exit(1);
    return loaded.sources;
}

int find(int entries) {
    Verified verified;
    auto const now = wall_now();
    std::vector<std::string> fields;
    for (int i = 0; i < entries; ++i) {
        fields.push_back(basic(i));
        auto identity = std::make_shared<http::Identity const>(http::Identity{"user", {}, "htpasswd", now + seconds{3'600}});
        verified.accept(verified.digest(fields.back()), {}, std::move(identity), now, now + seconds{3'600}, fields.size() + 1);
    }
    std::shuffle(fields.begin(), fields.end(), std::mt19937(1));
    std::size_t hits = 0;
    std::uint64_t sum = 0;
    constexpr int rounds = 10;
    auto begin = thread_seconds();
    for (int i = 0; i < rounds; ++i)
        for (auto const& field : fields) hits += verified.find(verified.digest(field), now).identity ? 1u : 0u;
    auto const all = thread_seconds() - begin;
    begin = thread_seconds();
    for (int i = 0; i < rounds; ++i)
        for (auto const& field : fields) sum += verified.digest(field)[0];
    auto const digests = thread_seconds() - begin;
    auto const count = static_cast<double>(rounds) * entries;
    std::printf("%d entries, random order: find %.0f ns of CPU, of it the digest %.0f ns (%zu hits, %d)\n", entries,
                all / count * 1e9, digests / count * 1e9, hits, static_cast<int>(sum & 1));
    return 0;
}

int storm(int users, int connections, unsigned cost) {
    unsigned const threads = 2;
    std::vector<std::string> hashes(static_cast<std::size_t>(users));
    on_threads(threads, users, [&](int i) { hashes[static_cast<std::size_t>(i)] = bcrypt(password_of(i), cost); });
    test::TempDir const dir;
    std::string text;
    for (int i = 0; i < users; ++i) text += "user-" + std::to_string(i) + ":" + hashes[static_cast<std::size_t>(i)] + "\n";
    auto const file = dir.write("users", text);

    for (int round = 0; round < 3; ++round) {
        auto begin = steady_now();
        auto cpu = cpu_seconds();
        on_threads(threads, users, [&](int i) {
            if (!matches_hash(Secret(password_of(i)), hashes[static_cast<std::size_t>(i)])) std::abort();
        });
        auto const bare = seconds_since(begin), bare_cpu = cpu_seconds() - cpu;

        Authenticator authenticator;
        (*authenticator.prepare(load({.threads = threads, .sources = {HtpasswdOptions{file}}})))();
        begin = steady_now();
        cpu = cpu_seconds();
        std::vector<std::shared_ptr<RunningCheck>> checks;
        for (int i = 0; i < connections; ++i)
            for (int user = 0; user < users; ++user) checks.push_back(authenticator.verify(basic(user), client, wall_now()));
        int accepted = 0;
        for (auto const& check : checks) accepted += wait_for(*check).kind == LoginAnswer::Kind::accepted ? 1 : 0;
        auto const all = seconds_since(begin), all_cpu = cpu_seconds() - cpu;
        std::printf(
            "%d users x %d, bcrypt %u, %u threads: bare hashes %.2f s (CPU %.2f s), logins %.2f s (CPU %.2f s), %d accepted\n",
            users, connections, cost, threads, bare, bare_cpu, all, all_cpu, accepted);
    }
    return 0;
}

std::string client_token() {
    OM_uint32 minor = 0;
    gss_buffer_desc text{14, const_cast<char*>("HTTP@localhost")};
    gss_name_t name = GSS_C_NO_NAME;
    gss_ctx_id_t context = GSS_C_NO_CONTEXT;
    gss_OID_desc spnego{6, const_cast<char*>("\x2b\x06\x01\x05\x05\x02")};
    gss_buffer_desc token = GSS_C_EMPTY_BUFFER;
    gss_import_name(&minor, &text, GSS_C_NT_HOSTBASED_SERVICE, &name);
    gss_init_sec_context(&minor, GSS_C_NO_CREDENTIAL, &context, name, &spnego, 0, 0, GSS_C_NO_CHANNEL_BINDINGS, GSS_C_NO_BUFFER,
                         nullptr, &token, nullptr, nullptr);
    std::string out(static_cast<char*>(token.value), token.length);
    gss_release_buffer(&minor, &token);
    gss_delete_sec_context(&minor, &context, GSS_C_NO_BUFFER);
    gss_release_name(&minor, &name);
    return out;
}

/// The processor time of accepting the tokens without Garner's code, on a thread of its own as in every server: the kernel and
/// the allocator take shorter ways in a process that has one thread.
double bare_accept(std::string const& keytab, std::vector<std::string> const& tokens) {
    OM_uint32 minor = 0;
    gss_cred_id_t credential = GSS_C_NO_CREDENTIAL;
    gss_key_value_element_desc element{"keytab", keytab.c_str()};
    gss_key_value_set_desc const store{1, &element};
    gss_acquire_cred_from(&minor, GSS_C_NO_NAME, GSS_C_INDEFINITE, GSS_C_NO_OID_SET, GSS_C_ACCEPT, &store, &credential, nullptr,
                          nullptr);
    auto const begin = cpu_seconds();
    on_threads(1, static_cast<int>(tokens.size()), [&](int i) {
        auto const& token = tokens[static_cast<std::size_t>(i)];
        gss_buffer_desc input{token.size(), const_cast<char*>(token.data())};
        gss_buffer_desc reply = GSS_C_EMPTY_BUFFER, text = GSS_C_EMPTY_BUFFER;
        gss_ctx_id_t context = GSS_C_NO_CONTEXT;
        gss_name_t name = GSS_C_NO_NAME;
        if (gss_accept_sec_context(&minor, &context, credential, &input, GSS_C_NO_CHANNEL_BINDINGS, &name, nullptr, &reply, nullptr,
                                   nullptr, nullptr) != GSS_S_COMPLETE)
            std::abort();
        gss_display_name(&minor, name, &text, nullptr);
        for (auto* buffer : {&reply, &text}) gss_release_buffer(&minor, buffer);
        gss_release_name(&minor, &name);
        gss_delete_sec_context(&minor, &context, GSS_C_NO_BUFFER);
    });
    return cpu_seconds() - begin;
}

int negotiate(int count) {
    test::Kdc const kdc;
    auto const set = [](std::vector<std::string> const& environment) {
        for (auto const& value : environment)
            ::setenv(value.substr(0, value.find('=')).c_str(), value.substr(value.find('=') + 1).c_str(), 1);
    };
    set(kdc.environment());
    kdc.add_user("alice", "secret");
    auto const keytab = kdc.add_service("HTTP/localhost");
    set(kdc.log_in("alice", "secret", "1h"));
    for (int round = 0; round < 3; ++round) {
        std::vector<std::string> bare, fields;
        for (int i = 0; i < count; ++i) bare.push_back(client_token());
        for (int i = 0; i < count; ++i) fields.push_back("Negotiate " + encode_base64(client_token()));
        auto const bare_cpu = bare_accept(keytab, bare);
        Authenticator authenticator;
        (*authenticator.prepare(load({.sources = {NegotiateOptions{keytab, test::Kdc::realm}}})))();
        auto const begin = cpu_seconds();
        std::vector<std::shared_ptr<RunningCheck>> checks;
        for (auto const& field : fields) checks.push_back(authenticator.verify(field, client, wall_now()));
        int accepted = 0;
        for (auto const& check : checks) accepted += wait_for(*check).kind == LoginAnswer::Kind::accepted ? 1 : 0;
        auto const cpu = cpu_seconds() - begin;
        std::printf("%d tickets with replay cache: bare accept %.1f us of CPU, logins %.1f us (%.2f times), %d accepted\n", count,
                    bare_cpu / count * 1e6, cpu / count * 1e6, cpu / bare_cpu, accepted);
    }
    return 0;
}

}   // namespace

int main(int argc, char** argv) {
    auto const number = [&](int at, int preset) { return argc > at ? std::max(1, std::atoi(argv[at])) : preset; };
    std::string const mode = argc > 1 ? argv[1] : "";
    if (mode == "find") return find(number(2, 100'000));
    if (mode == "storm") return storm(number(2, 5'000), number(3, 6), static_cast<unsigned>(number(4, 5)));
    if (mode == "negotiate") return negotiate(number(2, 2'000));
    return std::fprintf(stderr, "usage: logins find|storm|negotiate\n"), 1;
}
