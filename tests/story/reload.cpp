// garner reload and garner confirm: the configuration of a running proxy, by its control socket.
#include <sys/stat.h>
#include <unistd.h>

#include "story/scene.hpp"
#include "story/tls/secure_listener.hpp"
#include "support/programs.hpp"

namespace garner::test {

namespace {

/// A proxy with a control socket.
class Controlled {
public:
    explicit Controlled(std::string const& patch = "{}", std::string const& tls = {})
        : proxy_(Proxy::Setup{.patch = patch, .tls = tls, .arguments = {"--set", "control.path=" + path()}}) {
        // It is opened after the listening sockets.
        EXPECT_TRUE(eventually([&] { return std::filesystem::exists(path()); }));
    }

    Proxy& proxy() { return proxy_; }
    std::string path() const { return (dir_.path("") / "control").string(); }
    /// Runs a command for this proxy: {"reload", "--dry-run"}.
    Finished run(std::vector<std::string> words) const {
        words.insert(words.begin(), garner_binary());
        words.insert(words.end(), {"--config", proxy_.dir().path("garner.json").string(), "--set", "control.path=" + path()});
        return test::run(words);
    }
    nlohmann::json config() const { return proxy_.stats()["config"]; }

private:
    TempDir dir_;
    Proxy proxy_;
};

int status_of(Proxy& proxy, Origin const& origin) { return Client(proxy, origin).get("/page").status(); }

constexpr char const* denies =
    R"({"access": [{"deny": {"url_contains": ["/page"]}}, {"allow": {"destination": ["127.0.0.0/8"]}}]})";

}   // namespace

TEST(Reload, by_command_prints_each_change) {
    Controlled garner(R"({"htcp": {"secret": "0123456789abcdef"}})");
    garner.proxy().reconfigure(R"({"limits": {"hops_max": 9}, "htcp": {"secret": "fedcba9876543210"}})");
    auto const done = garner.run({"reload"});
    EXPECT_EQ(done.code, 0) << done.errors;
    EXPECT_THAT(done.output, HasSubstr("limits.hops_max: "));
    EXPECT_THAT(done.output, HasSubstr(" -> 9 (now)\n"));
    EXPECT_THAT(done.output, HasSubstr("htcp.secret: (changed) (now)\n"));
    EXPECT_THAT(done.output, HasSubstr("configuration reloaded: 2 keys changed\n"));
    EXPECT_THAT(done.output, Not(HasSubstr("fedcba")));
    EXPECT_TRUE(garner.proxy().says("changed: limits.hops_max: ")) << garner.proxy().errors();
    EXPECT_THAT(garner.proxy().errors(), Not(HasSubstr("fedcba")));
    EXPECT_EQ(garner.config()["generation"], 2);
}

TEST(Reload, exits_with_3_while_keys_wait_for_a_takeover) {
    Controlled garner;
    garner.proxy().reconfigure(R"({"workers": 3})");
    auto done = garner.run({"reload"});
    EXPECT_EQ(done.code, 3);
    EXPECT_THAT(done.output, HasSubstr("workers: 2 -> 3 (takeover)\n"));
    EXPECT_THAT(done.output, HasSubstr("1 key waits for a takeover: workers\n"));
    EXPECT_EQ(garner.config()["pending"], nlohmann::json({"workers"}));
    EXPECT_EQ(garner.proxy().stats()["workers"], 2);

    done = garner.run({"reload"});
    EXPECT_EQ(done.code, 3) << "it still waits";
    garner.proxy().reconfigure(R"({"workers": 2})");
    EXPECT_EQ(garner.run({"reload"}).code, 0);
    EXPECT_EQ(garner.config()["pending"], nlohmann::json::array());
}

TEST(Reload, is_refused_for_a_value_with_which_a_takeover_would_fail) {
    Controlled garner;
    auto const taken = listen_on("127.0.0.1");
    auto const place = "127.0.0.1:" + std::to_string(taken.port);
    std::vector<std::pair<std::string, std::string>> const cases{
        {R"({"user": "no-such-user"})", "user: there is no user no-such-user on this machine (create it"},
        {R"({"user": "root", "seen": {"address": ")" + place + R"("}})", "seen.address: cannot listen on " + place},
        {R"({"seen": {"address": "127.0.0.1:)" + std::to_string(free_port()) + R"(", "path": "/no/such/place/set"}})",
         "seen.path: there is no directory /no/such/place"},
    };
    for (auto const& [patch, trouble] : cases) {
        garner.proxy().reconfigure(patch);
        auto const done = garner.run({"reload"});
        EXPECT_EQ(done.code, 1) << patch;
        EXPECT_THAT(done.output, HasSubstr(trouble));
        EXPECT_EQ(garner.config()["generation"], 1);
    }
    ::close(taken.fd);
}

TEST(Reload, as_a_dry_run_changes_nothing) {
    Origin origin;
    origin.answer("/page", fresh("here"));
    Controlled garner;
    garner.proxy().reconfigure(denies);
    auto const done = garner.run({"reload", "--dry-run"});
    EXPECT_EQ(done.code, 0) << done.errors;
    EXPECT_THAT(done.output, HasSubstr("(now)\n"));
    EXPECT_THAT(done.output, HasSubstr("a reload would change "));
    EXPECT_EQ(status_of(garner.proxy(), origin), 200);
    EXPECT_EQ(garner.config()["generation"], 1);
}

TEST(Reload, as_a_dry_run_names_the_certificates_that_a_reload_would_replace) {
    CertificateFiles files;
    Controlled garner("{}", files.tls());
    files.write(Certificate("renewed.test"));
    auto const place = " (127.0.0.1:" + std::to_string(garner.proxy().secure()) + "), valid until ";
    auto const dry = garner.run({"reload", "--dry-run"});
    EXPECT_EQ(dry.code, 0) << dry.errors;
    EXPECT_THAT(dry.output, AllOf(HasSubstr("new certificate: CN = renewed.test" + place),
                                  HasSubstr("removed certificate: CN = proxy.test" + place),
                                  EndsWith("a reload would change no key; 1 new certificate; 1 removed certificate\n")));
    EXPECT_EQ(garner.config()["generation"], 1);
    auto const begin = dry.output.find("new certificate: ");
    auto const lines = dry.output.substr(begin, dry.output.find("a reload would") - begin);
    EXPECT_THAT(garner.run({"reload"}).output, HasSubstr(lines + "configuration reloaded: no key changed"));
    EXPECT_THAT(garner.run({"reload", "--dry-run"}).output, EndsWith("a reload would change nothing\n"));
}

TEST(Reload, of_a_faulty_file_names_its_line_and_changes_nothing) {
    Origin origin;
    origin.answer("/page", fresh("here"));
    Controlled garner;
    garner.proxy().rewrite("{\n  \"acess\": []\n}");
    for (std::vector<std::string> const& words : {std::vector<std::string>{"reload"}, {"reload", "--dry-run"}}) {
        auto const done = garner.run(words);
        EXPECT_EQ(done.code, 1);
        EXPECT_THAT(done.output + done.errors, HasSubstr("garner.json:2: acess: unknown key (did you mean access?)"));
    }
    EXPECT_EQ(status_of(garner.proxy(), origin), 200);
    EXPECT_EQ(garner.config()["generation"], 1);
}

TEST(Reload, returns_to_the_former_configuration_unless_it_is_confirmed) {
    Origin origin;
    origin.answer("/page", fresh("here"));
    Controlled garner;
    garner.proxy().reconfigure(denies);
    auto const done = garner.run({"reload", "--confirm", "3s"});
    EXPECT_EQ(done.code, 0) << done.errors;
    EXPECT_THAT(done.output, HasSubstr("the former configuration returns in 3s unless `garner confirm` comes before\n"));
    EXPECT_EQ(status_of(garner.proxy(), origin), 403);
    EXPECT_EQ(garner.config()["unconfirmed"], 1);
    EXPECT_TRUE(eventually([&] { return status_of(garner.proxy(), origin) == 200; }));
    EXPECT_TRUE(garner.proxy().says("the configuration was not confirmed in time")) << garner.proxy().errors();
    EXPECT_TRUE(eventually([&] { return garner.config()["unconfirmed"] == 0; }));
    EXPECT_THAT(garner.proxy().stats()["health"]["items"].dump(),
                HasSubstr("the file has a configuration that was not confirmed in time, and the one before it is in use"));
    EXPECT_EQ(garner.config()["returned"], 1);
    EXPECT_EQ(garner.run({"confirm"}).code, 1);
}

TEST(Reload, returns_as_soon_as_the_former_address_is_free_again) {
    Controlled garner;
    auto const place = [](std::uint16_t port) { return nlohmann::json{{"address", "127.0.0.1:" + std::to_string(port)}}; };
    auto const usual = place(garner.proxy().port());
    auto const second = free_port();
    garner.proxy().reconfigure(nlohmann::json{{"listen", {usual, place(second)}}}.dump());
    ASSERT_EQ(garner.run({"reload"}).code, 0);
    garner.proxy().reconfigure(nlohmann::json{{"listen", nlohmann::json::array({usual})}}.dump());
    ASSERT_EQ(garner.run({"reload", "--confirm", "3s"}).code, 0);
    Listening taken{-1, 0};
    EXPECT_TRUE(eventually([&] {
        try {
            taken = listen_on("127.0.0.1", second);
        } catch (Trouble const&) {   // the proxy still closes its sockets
        }
        return taken.fd >= 0;
    }));
    EXPECT_TRUE(garner.proxy().says("the former configuration cannot return")) << garner.proxy().errors();
    auto const config = garner.config();
    EXPECT_EQ(config["unconfirmed"], 1) << "it is tried again";
    EXPECT_THAT(config["refused"], HasSubstr("cannot listen on 127.0.0.1:" + std::to_string(second)));
    ::close(taken.fd);
    EXPECT_TRUE(eventually([&] { return garner.config()["unconfirmed"] == 0; }, Millis{30'000})) << garner.proxy().errors();
    EXPECT_EQ(garner.config()["refused"], "");
    EXPECT_NO_THROW(Wire::connect("127.0.0.1", second));
}

TEST(Reload, that_is_confirmed_stays) {
    Origin origin;
    origin.answer("/page", fresh("here"));
    Controlled garner;
    garner.proxy().reconfigure(denies);
    EXPECT_EQ(garner.run({"reload", "--confirm", "2s"}).code, 0);
    garner.proxy().reconfigure(R"({"acess": []})");
    auto const done = garner.run({"confirm"});
    EXPECT_EQ(done.code, 0) << "the file has an error meanwhile: " << done.errors;
    EXPECT_EQ(done.output, "the configuration is confirmed\n");
    std::this_thread::sleep_for(3s);
    EXPECT_EQ(status_of(garner.proxy(), origin), 403);
}

TEST(Reload, is_refused_to_other_users) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    Controlled garner;
    // Even if the file would admit them.
    ASSERT_EQ(::chmod(garner.path().c_str(), 0666), 0);
    ASSERT_EQ(::chmod(std::filesystem::path(garner.path()).parent_path().c_str(), 0755), 0);
    auto const done =
        run({"setpriv", "--reuid=65534", "--clear-groups", garner_binary(), "reload", "--set", "control.path=" + garner.path()});
    EXPECT_EQ(done.code, 1);
    EXPECT_THAT(done.errors, HasSubstr("garner: " + garner.path() + ": the connection is closed"));
}

TEST(Reload, without_a_control_socket_says_which_key_to_set) {
    auto const done = run({garner_binary(), "reload"});
    EXPECT_EQ(done.code, 1);
    EXPECT_THAT(done.errors, HasSubstr("set control.path"));
    auto const absent = run({garner_binary(), "confirm", "--set", "control.path=/nowhere/control"});
    EXPECT_EQ(absent.code, 1);
    EXPECT_THAT(absent.errors, HasSubstr("/nowhere/control: no proxy listens: No such file or directory"));
}

TEST(Reload, uses_the_runtime_directory_of_the_service_manager) {
    TempDir const dir;
    Proxy proxy(Proxy::Setup{.environment = {"RUNTIME_DIRECTORY=" + dir.path("").string()}});
    auto const done = run({"env", "RUNTIME_DIRECTORY=" + dir.path("").string(), garner_binary(), "reload"});
    EXPECT_EQ(done.code, 0) << done.errors;
    EXPECT_EQ(done.output, "configuration reloaded: nothing changed\n");
}

TEST(Reload, during_a_stop_is_refused) {
    Origin origin;
    auto const slow = origin.hold("/film");
    Controlled garner(R"({"deadlines": {"drain": "60s"}})");
    Client viewer(garner.proxy(), origin);
    auto film = viewer.get("/film");
    ASSERT_TRUE(eventually([&] { return origin.requests("/film") == 1; }));
    garner.proxy().signal(SIGTERM);
    ASSERT_TRUE(garner.proxy().refuses_connections());
    auto const done = garner.run({"reload"});
    EXPECT_EQ(done.code, 1);
    EXPECT_THAT(done.output, HasSubstr("the running proxy is shutting down"));
    viewer.close();
    EXPECT_EQ(garner.proxy().ended(), 0);
    EXPECT_FALSE(std::filesystem::exists(garner.path()));
}

}   // namespace garner::test
