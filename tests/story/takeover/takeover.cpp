// garner takeover: another process takes the place of the running one, and no request fails.
#include <unistd.h>

#include <atomic>

#include "story/takeover/takeovers.hpp"

namespace garner::test {

using nlohmann::json;

TEST_F(Takeovers, leave_the_disk_to_the_new_process) {
    Service service(with_disk(disk));
    EXPECT_EQ(get(service.proxy(), origin, "/page").body(), "page");
    ASSERT_TRUE(service.take_over()) << service.refused();
    auto const again = get(service.proxy(), origin, "/page");
    EXPECT_TRUE(again.hit()) << again.outcome();
    EXPECT_EQ(origin.requests("/page"), 1u);
    EXPECT_EQ(service.run({"reload"}).code, 0) << "the new process has the control socket";
    service.expect_former_to_end();
    EXPECT_EQ(service.run({"reload"}).code, 0);
}

TEST_F(Takeovers, an_unsafe_request_in_the_former_process_holds_in_the_new_one) {
    std::atomic<bool> go{false};
    std::atomic<int> gets{0};
    origin.by_hand("/thing", [&](Hand& hand) {
        hand.read_body();
        if (hand.request().head.method() == "GET") return hand.answer(fresh("version " + std::to_string(++gets)));
        while (!go) pause_for(5ms);
        hand.answer(no_store("changed"));
    });
    for (bool const on_disk : {false, true}) {
        SCOPED_TRACE(on_disk ? "with a disk" : "in memory");
        go = false;
        gets = 0;
        Service service(on_disk ? with_disk(disk) : patch());
        EXPECT_EQ(get(service.proxy(), origin, "/thing").body(), "version 1");
        Client writer(service.proxy(), origin);
        auto const change = writer.post("/thing", "new");
        pause_for(200ms);
        ASSERT_TRUE(service.take_over()) << service.refused();
        auto const kept = get(service.proxy(), origin, "/thing").body();
        EXPECT_EQ(kept, on_disk ? "version 1" : "version 2") << "memory leaves out what a running request may change";
        EXPECT_EQ(get(service.proxy(), origin, "/thing").body(), kept);
        go = true;
        EXPECT_EQ(change.body(), "changed");
        EXPECT_EQ(get(service.proxy(), origin, "/thing").body(), on_disk ? "version 2" : "version 3");
        writer.close();
    }
}

TEST_F(Takeovers, a_newer_response_in_the_former_process_holds_in_the_new_one) {
    std::atomic<bool> go{false};
    origin.by_hand("/thing", [&](Hand& hand) {
        if (!hand.request().head.has("Cache-Control")) return hand.answer(fresh("older"));
        while (!go) pause_for(5ms);
        hand.answer(fresh("newer"));
    });
    Service service(with_disk(disk));
    EXPECT_EQ(get(service.proxy(), origin, "/thing").body(), "older");
    Client reader(service.proxy(), origin);
    auto const newer = reader.get("/thing", {{"Cache-Control", "no-cache"}});
    pause_for(200ms);
    ASSERT_TRUE(service.take_over()) << service.refused();
    EXPECT_TRUE(get(service.proxy(), origin, "/thing").hit());
    go = true;
    EXPECT_EQ(newer.body(), "newer");
    EXPECT_FALSE(get(service.proxy(), origin, "/thing").hit());
    reader.close();
}

TEST_F(Takeovers, exchange_an_address_for_all_addresses_of_its_port) {
    Service service;
    auto const all = "0.0.0.0:" + std::to_string(service.proxy().port());
    service.proxy().reconfigure(nlohmann::json{{"listen", {{{"address", all}}}}}.dump());
    ASSERT_TRUE(service.take_over()) << service.refused();
    EXPECT_THAT(service.current().errors(), HasSubstr("garner listens on " + all));
    service.expect_former_to_end();
    origin.otherwise([](Hand& hand) { hand.answer(fresh("page")); });
    EXPECT_EQ(Client("127.0.0.2", service.proxy().port()).get(origin.url("/page")).body(), "page") << service.errors();
}

TEST_F(Takeovers, change_the_number_of_workers) {
    Service service(patch());
    for (auto const* workers : {"workers=4", "workers=1", "workers=3"}) {
        ASSERT_TRUE(service.take_over({"--set", workers})) << service.refused();
        service.expect_former_to_end();
        for (int i = 0; i < 40; ++i) ASSERT_EQ(status(service.proxy(), origin), 200) << workers;
    }
    EXPECT_EQ(service.proxy().stats()["workers"], 3);
}

TEST_F(Takeovers, leave_no_descriptor_open) {
    Service service(with_disk(disk));
    EXPECT_EQ(status(service.proxy(), origin), 200);
    ASSERT_TRUE(service.take_over()) << service.refused();
    EXPECT_EQ(status(service.proxy(), origin), 200);
    service.expect_former_to_end();
    std::size_t const one = descriptors_of(service.current().pid());
    ASSERT_TRUE(service.take_over()) << service.refused();
    EXPECT_EQ(status(service.proxy(), origin), 200);
    service.expect_former_to_end();
    EXPECT_TRUE(eventually([&] { return descriptors_of(service.current().pid()) <= one; }))
        << descriptors_of(service.current().pid()) << ", before " << one;
}

TEST_F(Takeovers, in_the_background_return_when_the_new_process_serves) {
    Service service(patch());
    service.proxy().reconfigure(R"({"workers": 3})");
    auto const done = service.run({"reload", "--or-takeover"});
    EXPECT_EQ(done.code, 0) << done.output << done.errors;
    EXPECT_THAT(done.output, HasSubstr("1 key waits for a takeover: workers\n"));
    EXPECT_THAT(done.output, HasSubstr(" serves\n"));
    EXPECT_EQ(service.proxy().stats()["workers"], 3);
    EXPECT_EQ(service.proxy().child().exit_code(30s).value_or(-1), 0);
    EXPECT_TRUE(service.proxy().says("garner listens on")) << "the new one writes to the same standard error";
    auto const text = done.output.substr(done.output.find("process ") + 8);
    pid_t const background = std::stoi(text);
    EXPECT_EQ(service.run({"reload", "--or-takeover"}).code, 0) << "nothing waits";
    EXPECT_EQ(service.proxy().stats()["workers"], 3);
    ::kill(background, SIGTERM);
    EXPECT_TRUE(eventually([&] { return ::kill(background, 0) != 0 || service.run({"reload"}).code == 1; }));
    (void)service.proxy().ended();
}

TEST_F(Takeovers, a_stop_of_the_new_process_stops_the_former_one) {
    Service service(R"({"deadlines": {"drain": "1s"}})");
    Tunnel tunnel(service.proxy());
    EXPECT_EQ(tunnel.exchange(), "");
    ASSERT_TRUE(service.take_over()) << service.refused();
    EXPECT_EQ(tunnel.exchange(), "");
    service.current().signal(SIGTERM);
    EXPECT_EQ(service.current().exit_code().value_or(-1), 0) << service.errors();
    EXPECT_EQ(service.proxy().child().exit_code().value_or(-1), 0) << service.errors();
    EXPECT_TRUE(service.proxy().says("takeover: the new process stops")) << service.proxy().errors();
    EXPECT_TRUE(service.proxy().refuses_connections());
}

// ---- failures ----

TEST_F(Takeovers, a_new_process_that_ends_at_any_step_changes_nothing) {
    Service service(with_disk(disk));
    EXPECT_EQ(get(service.proxy(), origin, "/page").body(), "page");
    std::vector<std::string> const steps{"hello", "ready", "serving", "settled"}, answers{"sockets", "disk", "go", ""};
    for (std::size_t last = 0; last < steps.size(); ++last) {
        SCOPED_TRACE(steps[last]);
        {
            Partner fresh(service.path());
            for (std::size_t step = 0; step <= last; ++step) {
                ASSERT_TRUE(fresh.send(step == 0 ? Partner::hello() : json{{"do", steps[step]}, {"number", 0}}));
                if (!answers[step].empty()) ASSERT_TRUE(fresh.until(answers[step]).is_object());
            }
        }
        EXPECT_TRUE(eventually([&] {
            auto const text = service.errors();
            std::size_t times = 0;
            for (auto from = text.find("; this process goes on"); from != text.npos;
                 from = text.find("; this process goes on", from + 1))
                ++times;
            return times == last + 1;
        })) << service.errors();
        EXPECT_EQ(status(service.proxy(), origin), 200);
        EXPECT_TRUE(eventually([&] { return service.run({"reload"}).code == 0; }));
        EXPECT_TRUE(eventually([&] { return service.proxy().stats()["disk"]["state"] == "working"; }));
        EXPECT_TRUE(get(service.proxy(), origin, "/page").hit());
    }
    EXPECT_EQ(origin.requests("/page"), 1u) << "the disk still has it";
    ASSERT_TRUE(service.take_over()) << service.refused();
    EXPECT_TRUE(get(service.proxy(), origin, "/page").hit());
}

TEST_F(Takeovers, a_new_process_that_is_killed_while_it_serves_is_followed_by_the_former_one) {
    Service service(with_disk(disk));
    EXPECT_EQ(get(service.proxy(), origin, "/page").body(), "page");
    auto& proxy = service.proxy();
    {
        Child fresh(service.command({"takeover"}));
        ASSERT_TRUE(eventually([&] { return fresh.errors().find("garner listens on") != std::string::npos; })) << fresh.errors();
        // An object that is removed there is not served here afterwards.
        EXPECT_EQ(Client(proxy, origin).post("/page", "changed").status(), 200);
        fresh.signal(SIGKILL);
        EXPECT_TRUE(fresh.exit_code());
    }
    EXPECT_TRUE(eventually([&] { return service.errors().find("; this process goes on") != std::string::npos; }));
    EXPECT_EQ(status(proxy, origin), 200);
    EXPECT_FALSE(get(proxy, origin, "/page").hit());
    EXPECT_TRUE(eventually([&] { return proxy.stats()["disk"]["state"] == "working"; })) << service.errors();
}

/// A new process that speaks by hand, until the old one has released the disk.
bool begin_by_hand(Partner& fresh) {
    bool const has_sockets = fresh.send(Partner::hello()) && fresh.until("sockets").is_object();
    return has_sockets && fresh.send({{"do", "ready"}}) && fresh.until("disk").is_object();
}

TEST_F(Takeovers, send_many_removals_to_a_new_process_that_reads_slowly) {
    Service service(with_disk(disk));
    constexpr int pages = 300;
    auto const page = [](int number) { return "/" + std::to_string(number) + "?" + std::string(6'000, 'x'); };
    for (int i = 0; i < pages; ++i) origin.answer(page(i), fresh("page"));
    Partner fresh(service.path());
    ASSERT_TRUE(begin_by_hand(fresh));
    Client client(service.proxy(), origin);
    auto const begun = std::chrono::steady_clock::now();
    for (int i = 0; i < pages; ++i) ASSERT_EQ(client.get(page(i)).body(), "page");
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 60s) << "a response waits for no acknowledgement before `go`";
    ASSERT_TRUE(fresh.send({{"do", "serving"}}));
    pause_for(3s);
    std::size_t messages = 0, keys = 0;
    json message;
    do {
        message = fresh.receive();
        ASSERT_TRUE(message.is_object()) << service.errors();
        ASSERT_THAT(message.value("do", ""), AnyOf("forget", "go"));
        EXPECT_EQ(message["number"] != 0, message["do"] == "go") << "only the last message is acknowledged";
        ++messages;
        keys += message["keys"].size();
    } while (message["do"] != "go");
    EXPECT_EQ(keys, std::size_t{pages});
    EXPECT_GT(messages, 70u);
    EXPECT_THAT(service.errors(), Not(HasSubstr("this process goes on")));
    fresh.end();
    EXPECT_TRUE(eventually([&] { return service.errors().find("this process goes on") != std::string::npos; }));
    EXPECT_EQ(status(service.proxy(), origin), 200);
}

TEST_F(Takeovers, a_purge_before_the_new_process_serves_waits_for_it) {
    Service service(with_disk(disk));
    EXPECT_EQ(get(service.proxy(), origin, "/page").body(), "page");
    Partner fresh(service.path());
    ASSERT_TRUE(begin_by_hand(fresh));
    Client client(service.proxy(), origin);
    auto const purged = client.send("PURGE", "/page");
    pause_for(500ms);
    ASSERT_TRUE(fresh.send({{"do", "serving"}}));
    auto const go = fresh.until("go");
    ASSERT_TRUE(go.is_object());
    EXPECT_EQ(go["power"], true) << go;
    ASSERT_TRUE(fresh.send({{"do", "settled"}, {"number", go["number"]}}));
    EXPECT_EQ(purged.status(), 200);
    client.close();
    fresh.end();
    EXPECT_TRUE(eventually([&] { return service.errors().find("this process goes on") != std::string::npos; }));
}

TEST_F(Takeovers, an_invalidation_before_the_new_process_serves_goes_to_it) {
    Service service(with_disk(disk));
    origin.answer("/tagged", fresh("tagged", 600, {{"Cache-Tag", "t"}}));
    EXPECT_EQ(get(service.proxy(), origin, "/tagged").body(), "tagged");
    Partner fresh_one(service.path());
    ASSERT_TRUE(begin_by_hand(fresh_one));
    Client admin("127.0.0.1", service.proxy().admin());
    auto const purged = admin.post("/purge", "tag=t", {{"Garner-Admin", "1"}});
    pause_for(500ms);
    ASSERT_TRUE(fresh_one.send({{"do", "serving"}}));
    auto const go = fresh_one.until("go");
    ASSERT_TRUE(go.is_object());
    auto const& key = go["keys"].at(0).get_binary();
    EXPECT_THAT(std::string(key.begin(), key.end()), AllOf(StartsWith("!"), EndsWith(" hard tag * t")));
    ASSERT_TRUE(fresh_one.send({{"do", "settled"}, {"number", go["number"]}}));
    EXPECT_EQ(purged.status(), 200);
    admin.close();
    fresh_one.end();
    EXPECT_TRUE(eventually([&] { return service.errors().find("this process goes on") != std::string::npos; }));
    EXPECT_FALSE(get(service.proxy(), origin, "/tagged").hit());
}

TEST_F(Takeovers, an_invalidation_holds_in_the_new_process) {
    Service service(with_disk(disk));
    std::atomic<int> version{1};
    origin.by_hand("/tagged", [&](Hand& hand) { hand.answer(fresh(std::to_string(version), 600, {{"Cache-Tag", "t"}})); });
    EXPECT_EQ(get(service.proxy(), origin, "/tagged").body(), "1");
    EXPECT_TRUE(eventually([&] { return service.proxy().stats()["disk"]["buffered_bytes"] == 0; }));
    version = 2;
    Client admin("127.0.0.1", service.proxy().admin());
    EXPECT_EQ(admin.post("/purge", "tag=t", {{"Garner-Admin", "1"}}).status(), 200);
    admin.close();
    ASSERT_TRUE(service.take_over()) << service.refused();
    EXPECT_EQ(get(service.proxy(), origin, "/tagged").body(), "2");
    EXPECT_TRUE(get(service.proxy(), origin, "/tagged").hit());
}

TEST_F(Takeovers, the_groups_of_a_late_POST_are_invalid_in_the_new_process) {
    Service service(with_disk(disk));
    std::atomic<int> version{1};
    origin.by_hand("/tagged", [&](Hand& hand) { hand.answer(fresh(std::to_string(version), 600, {{"Cache-Groups", "\"g\""}})); });
    auto slow = origin.hold("/form");
    Client poster(service.proxy(), origin);
    auto posted = poster.post("/form", "x");
    slow.arrived(1);
    ASSERT_TRUE(service.take_over()) << service.refused();
    EXPECT_EQ(get(service.proxy(), origin, "/tagged").body(), "1");
    EXPECT_TRUE(get(service.proxy(), origin, "/tagged").hit());
    version = 2;
    auto thanks = no_store("thanks");
    thanks.fields.emplace_back("Cache-Group-Invalidation", "\"g\"");
    slow.release(thanks);
    EXPECT_EQ(posted.body(), "thanks");
    EXPECT_EQ(get(service.proxy(), origin, "/tagged").body(), "2");
    poster.close();
}

TEST_F(Takeovers, with_other_paths_leave_no_socket_and_no_outdated_object) {
    TempDir other;
    Service service(with_disk(disk));
    auto& proxy = service.proxy();
    EXPECT_EQ(get(proxy, origin, "/page").body(), "page");
    std::vector<std::string> const command{garner_binary(), "takeover",
                                           "--from",        service.path(),
                                           "--config",      proxy.dir().path("garner.json").string(),
                                           "--set",         "control.path=" + (other.path("") / "control").string(),
                                           "--set",         "disk.path=" + (other.path("") / "disk").string()};
    auto const serves = [](Child& fresh) {
        return eventually([&] { return fresh.errors().find("garner listens on") != std::string::npos; });
    };
    {
        Child fresh(command);
        ASSERT_TRUE(serves(fresh)) << fresh.errors();
        auto const reload = service.run({"reload"});
        EXPECT_EQ(reload.code, 1);
        EXPECT_THAT(reload.output, HasSubstr("a takeover is running"));
        fresh.signal(SIGKILL);
        EXPECT_TRUE(fresh.exit_code());
    }
    EXPECT_TRUE(eventually([&] { return service.run({"reload"}).code == 0; })) << service.errors();
    EXPECT_TRUE(eventually([&] { return proxy.stats()["disk"]["state"] == "working"; })) << service.errors();
    EXPECT_FALSE(get(proxy, origin, "/page").hit()) << "the new process may have removed it";
    Child fresh(command);
    ASSERT_TRUE(serves(fresh)) << fresh.errors();
    EXPECT_EQ(proxy.child().exit_code(Millis{60'000}).value_or(-1), 0) << service.errors();
    EXPECT_FALSE(std::filesystem::exists(service.path()));
    EXPECT_EQ(status(proxy, origin), 200);
    fresh.signal(SIGTERM);
    EXPECT_EQ(fresh.exit_code().value_or(-1), 0) << fresh.errors();
    (void)proxy.ended();
}

TEST_F(Takeovers, that_cannot_succeed_are_refused_with_the_reason) {
    Service service(patch());
    auto& proxy = service.proxy();
    auto const refused = [&](std::string const& reason) {
        EXPECT_FALSE(service.take_over());
        EXPECT_EQ(service.refused_code(), 1);
        EXPECT_THAT(service.refused(), HasSubstr(reason));
        EXPECT_EQ(status(proxy, origin), 200);
    };
    auto const goes_on = [&] { return eventually([&] { return service.run({"reload"}).code == 0; }); };
    auto const good = proxy.configuration();
    proxy.rewrite("{\n  \"acess\": []\n}");
    refused("garner.json:2: acess: unknown key");
    auto const taken = listen_on("127.0.0.1");
    auto other = good;
    other["listen"].push_back({{"address", "127.0.0.1:" + std::to_string(taken.port)}});
    proxy.rewrite(other.dump());
    refused("cannot listen on 127.0.0.1:" + std::to_string(taken.port));
    ::close(taken.fd);
    proxy.rewrite(good.dump());
    ASSERT_TRUE(goes_on());

    Partner later(service.path());
    ASSERT_TRUE(later.send(Partner::hello(7, 9)));
    EXPECT_THAT(later.receive().value("reason", ""), HasSubstr("garner 9.9.9 takes over by protocol 7 to 9"));

    Partner first(service.path());
    ASSERT_TRUE(first.send(Partner::hello()));
    ASSERT_TRUE(first.until("sockets").is_object());
    refused("a takeover is running");
    auto const reload = service.run({"reload"});
    EXPECT_EQ(reload.code, 1);
    EXPECT_THAT(reload.output, HasSubstr("a takeover is running"));
    first.end();
    ASSERT_TRUE(goes_on());

    if (::geteuid() != 0) return;
    auto const nobody = run({"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", garner_binary(), "takeover", "--set",
                             "control.path=" + service.path()});
    EXPECT_EQ(nobody.code, 1);
    EXPECT_THAT(nobody.errors, HasSubstr("only root and the user of the running proxy may use it"));
}

TEST_F(Takeovers, are_refused_while_a_url_set_is_only_in_memory) {
    Service service(patch(R"("seen": {"address": "127.0.0.1:)" + std::to_string(free_port()) + R"("})"));
    EXPECT_FALSE(service.take_over());
    EXPECT_THAT(service.refused(), HasSubstr("seen.path"));
    EXPECT_EQ(status(service.proxy(), origin), 200);
}

TEST_F(Takeovers, keep_the_url_set) {
    TempDir set;
    auto const port = free_port();
    Service service(patch(R"("seen": {"address": "127.0.0.1:)" + std::to_string(port) + R"(", "memory": "64 MiB", "path": ")" +
                          set.path("").string() + R"("})"));
    auto const status_of = [&] {
        auto const reply = Client("127.0.0.1", port).post("/seen", "http://a.example/\n", {{"Content-Type", "text/plain"}});
        return std::to_string(reply.status()) + " " + reply.body();
    };
    auto const first = status_of(), again = status_of();
    EXPECT_THAT(first, StartsWith("200 "));
    EXPECT_NE(first, again);
    ASSERT_TRUE(service.take_over()) << service.refused();
    EXPECT_EQ(status_of(), again) << "the link is known";
    {
        Partner fresh(service.path());
        ASSERT_TRUE(begin_by_hand(fresh));
    }
    EXPECT_EQ(status_of(), again) << "that process has ended";
}

TEST_F(Takeovers, messages_that_are_wrong_harm_only_their_takeover) {
    Service service(patch());
    std::vector<json> const messages{{{"do", "hello"}},
                                     {{"do", "hello"}, {"least", "one"}, {"most", 1}, {"version", ""}, {"record_format", 3}},
                                     {{"do", "hello"}, {"least", -1}, {"most", 1}, {"version", ""}, {"record_format", 3}}};
    for (auto const& message : messages) {
        Partner fresh(service.path());
        ASSERT_TRUE(fresh.send(message));
        EXPECT_EQ(fresh.receive().value("do", ""), "refused") << message;
    }
    for (auto const* wrong : {"serving", "bye", "nonsense"}) {
        Partner fresh(service.path());
        ASSERT_TRUE(fresh.send(Partner::hello()));
        ASSERT_TRUE(fresh.until("sockets").is_object());
        ASSERT_TRUE(fresh.send({{"do", wrong}}));
        EXPECT_EQ(fresh.until("refused").value("do", ""), "refused") << wrong;
        EXPECT_TRUE(eventually([&] { return service.run({"reload"}).code == 0; }));
    }
    EXPECT_EQ(status(service.proxy(), origin), 200);
}

}   // namespace garner::test
