// Objects that one member of a group has stored are stored by all, with one request to the origin.
#include <signal.h>

#include <chrono>
#include <numeric>
#include <thread>

#include "story/mesh/group_scene.hpp"
#include "support/child.hpp"
#include "support/hosts.hpp"

namespace garner::test {

using nlohmann::json;

namespace {

constexpr char const* replicates_all = R"({"group": {"replicate": ["all"]}})";
constexpr Millis after_start{15'000};   // a watermark makes requests pass caches for two leases

/// The state of the offer of this URL at a member; empty: there is none.
std::string offer_state(json const& group, std::string const& url) {
    for (auto const& offer : group["offers"])
        if (offer["url"] == url) return offer["state"];
    return "";
}

bool stored_by_all(Lab& lab, std::string const& path, std::size_t first = 0) {
    auto const url = lab.pages.origin().url(path);
    return eventually(
        [&] {
            for (std::size_t i = first; i < lab.size(); ++i) {
                auto const state = offer_state(lab.state(i), url);
                if (state != "stored" && state != "already stored" && state != "offered by this member") return false;
            }
            return true;
        },
        after_start);
}

std::string offers_of_all(Lab& lab) {
    std::string all;
    for (std::size_t i = 0; i < lab.size(); ++i) all += lab.state(i)["offers"].dump() + "\n";
    return all;
}

/// Bytes that a member has received of offered objects.
std::uint64_t replicated_bytes(json const& stats) {
    auto const bytes = stats["group"]["replicated_bytes"];
    return bytes["parent"].get<std::uint64_t>() + bytes["sibling"].get<std::uint64_t>() + bytes["origin"].get<std::uint64_t>();
}

bool fetch_for_all(Lab& lab, std::string const& path) {
    return lab.garner(0, {"group", "fetch", lab.pages.origin().url(path)}).code == 0 && stored_by_all(lab, path);
}

}   // namespace

TEST(GroupReplication, all_members_store_what_one_has_fetched) {
    Lab lab(4, 3, replicates_all);
    EXPECT_EQ(lab.ask(0, "/film"), "version 1");
    EXPECT_TRUE(stored_by_all(lab, "/film")) << offers_of_all(lab);
    for (std::size_t i = 0; i < lab.size(); ++i) EXPECT_EQ(lab.ask(i, "/film"), "version 1 hit") << i;
    EXPECT_EQ(lab.pages.origin().requests("/film"), 1u);
    auto const printed = lab.garner(1, {"group"}).output;
    EXPECT_THAT(printed, HasSubstr("offered objects:\n  " + lab.pages.origin().url("/film") + ": stored, first from 127.0.0.1:"));
    EXPECT_THAT(lab[1].metrics(), HasSubstr("garner_group_replicated_bytes_total{source=\"parent\"} "));
    EXPECT_THAT(lab.garner(1, {"explain", lab.pages.origin().url("/film")}).output, HasSubstr("the object is offered: stored"));
}

TEST(GroupReplication, only_what_the_rules_name_and_others_may_reach_is_fetched) {
    Lab lab(3, 3, R"({"group": {"replicate": [{"url_contains": "/films/"}]}})");
    lab[2].reconfigure(R"({"access": [{"deny": {"url_contains": "/films/secret"}},
                                      {"allow": {"destination": ["127.0.0.0/8", "::1"], "port": ["1-65535"]}}]})");
    lab[2].signal(SIGHUP);
    // Another URL than the one below: this member would store and offer it before it has read the rules.
    ASSERT_TRUE(eventually([&] { return lab.ask(2, "/films/secret-probe") == "403"; }));
    for (auto const* path : {"/page", "/films/1", "/films/secret"}) lab.ask(0, path);
    EXPECT_TRUE(stored_by_all(lab, "/films/1")) << offers_of_all(lab);
    auto const secret = lab.pages.origin().url("/films/secret");
    EXPECT_TRUE(eventually([&] { return offer_state(lab.state(2), secret).starts_with("not fetched: "); }, after_start))
        << offers_of_all(lab);
    EXPECT_EQ(offer_state(lab.state(1), lab.pages.origin().url("/page")), "");
    EXPECT_EQ(lab.pages.origin().requests("/films/1"), 1u);
    EXPECT_EQ(lab.ask(1, "/films/1"), "version 1 hit");
}

TEST(GroupReplication, a_newcomer_is_warmed) {
    Lab lab(4, 3, replicates_all);
    lab.ask(0, "/film");
    ASSERT_TRUE(stored_by_all(lab, "/film")) << offers_of_all(lab);
    lab.restart(3);
    ASSERT_TRUE(lab.become_current());
    EXPECT_TRUE(stored_by_all(lab, "/film", 3)) << offers_of_all(lab);
    EXPECT_EQ(lab.ask(3, "/film"), "version 1 hit");
    EXPECT_EQ(lab.pages.origin().requests("/film"), 1u);
}

TEST(GroupReplication, an_invalidation_ends_the_offer_and_the_new_version_is_replicated) {
    Lab lab(3, 3, replicates_all);
    lab.ask(0, "/film");
    ASSERT_TRUE(stored_by_all(lab, "/film")) << offers_of_all(lab);
    lab.pages.renew();
    lab.purge(1, {"--tag", "f", "--origin", lab.pages.origin().url("/"), "--wait"});
    for (std::size_t i = 0; i < lab.size(); ++i) EXPECT_EQ(offer_state(lab.state(i), lab.pages.origin().url("/film")), "") << i;
    EXPECT_EQ(lab.ask(2, "/film"), "version 2");
    EXPECT_TRUE(stored_by_all(lab, "/film")) << offers_of_all(lab);
    for (std::size_t i = 0; i < lab.size(); ++i) EXPECT_EQ(lab.ask(i, "/film"), "version 2 hit") << i;
    EXPECT_EQ(lab.pages.origin().requests("/film"), 2u);
}

TEST(GroupReplication, a_reload_changes_which_objects_are_offered) {
    Lab lab(3, 3);
    lab.ask(0, "/before");
    auto const reload = [&](json const& rules, int generation) {
        lab[0].reconfigure(lab.patch_of(0, {{"replicate", rules}}));
        lab[0].signal(SIGHUP);
        return eventually([&] { return lab[0].stats()["config"]["generation"] == generation; });
    };
    ASSERT_TRUE(reload(json::array({"all"}), 2));
    EXPECT_EQ(lab.ask(0, "/film"), "version 1");
    EXPECT_TRUE(stored_by_all(lab, "/film")) << offers_of_all(lab);
    EXPECT_EQ(lab.ask(0, "/before"), "version 1 hit");
    EXPECT_EQ(offer_state(lab.state(0), lab.pages.origin().url("/before")), "") << "it was stored before the reload";

    ASSERT_TRUE(reload(json::array(), 3));
    EXPECT_EQ(lab.ask(0, "/later"), "version 1");
    // Offers arrive in their order.
    EXPECT_EQ(lab.garner(0, {"group", "fetch", lab.pages.origin().url("/last")}).code, 0);
    EXPECT_TRUE(stored_by_all(lab, "/last")) << offers_of_all(lab);
    for (std::size_t i = 0; i < lab.size(); ++i) EXPECT_EQ(offer_state(lab.state(i), lab.pages.origin().url("/later")), "") << i;
    EXPECT_EQ(offer_state(lab.state(1), lab.pages.origin().url("/film")), "stored") << "offers outlive the rule";
}

TEST(GroupReplication, the_command_fetches_for_the_whole_group) {
    Lab lab(3, 3);
    auto const film = lab.pages.origin().url("/film"), book = lab.pages.origin().url("/book");
    auto const done = lab.garner(0, {"group", "fetch", film, book});
    EXPECT_EQ(done.code, 0) << done.output << done.errors;
    EXPECT_THAT(done.output, AllOf(HasSubstr("accepted " + film + ": stored by "), HasSubstr("accepted " + book + ": stored by ")));
    EXPECT_TRUE(stored_by_all(lab, "/film")) << offers_of_all(lab);
    EXPECT_TRUE(stored_by_all(lab, "/book")) << offers_of_all(lab);
    for (std::size_t i = 0; i < lab.size(); ++i) EXPECT_EQ(lab.ask(i, "/film"), "version 1 hit") << i;
    EXPECT_EQ(lab.pages.origin().requests("/film"), 1u);

    lab.pages.more = {{"Vary", "Accept-Language"}};
    auto const refused = lab.garner(0, {"group", "fetch", film, lab.pages.origin().url("/varied"), "https://127.0.0.1/x"});
    EXPECT_EQ(refused.code, 1) << refused.errors;
    EXPECT_THAT(refused.output, AllOf(HasSubstr("accepted " + film), HasSubstr("the response has Vary"),
                                      HasSubstr("Only http:// URLs are replicated")));
    EXPECT_EQ(lab.garner(0, {"group", "fetch", "nonsense"}).code, 2);
    EXPECT_EQ(lab.garner(0, {"group", "fetch"}).code, 2);
}

TEST(GroupReplication, an_invalidation_during_the_fetches_leaves_the_old_version_at_no_member) {
    Lab lab(4, 3);
    ASSERT_TRUE(fetch_for_all(lab, "/first")) << offers_of_all(lab);   // the watermark of the start no longer delays fetches
    auto const body = pattern(2'000'000);
    auto slow = lab.pages.origin().hold("/film");
    Finished done;
    std::jthread command([&] { done = lab.garner(0, {"group", "fetch", lab.pages.origin().url("/film")}); });
    std::string const version_1 = "version 1 " + body;
    slow.head(fresh("", 600, {{"ETag", "\"1\""}}), version_1.size());
    slow.piece(version_1.substr(0, body.size() / 2));
    command.join();
    EXPECT_EQ(done.code, 0) << done.output << done.errors;
    for (std::size_t i = 1; i < lab.size(); ++i)
        EXPECT_TRUE(eventually([&] { return replicated_bytes(lab[i].stats()) > body.size() / 4; }, after_start)) << i;

    lab.pages.origin().answer("/film", fresh("version 2 " + body, 600, {{"ETag", "\"2\""}}));
    lab.purge(3, {"--group", lab.pages.origin().url("/film"), "--wait"});
    slow.piece(version_1.substr(body.size() / 2));
    slow.finish();
    for (std::size_t i = 0; i < lab.size(); ++i) EXPECT_EQ(lab.ask(i, "/film"), "version 2") << i;
}

// ---- lines ----

namespace {

constexpr std::size_t film_bytes = 20'000'000;
constexpr std::uint16_t proxy_port = 3128, group_port = 3133;

/// Hosts behind lines of different rates. The first three members are voters, and are fast.
class Lines {
public:
    struct Line {
        unsigned uplink, downlink;   // Mbit/s
    };
    explicit Lines(std::vector<Line> lines) : lines_(std::move(lines)) {
        auto& place = network_.add_host();
        origin_ = place.run([&] { return std::make_unique<Origin>(Origin::Setup{.address = place.address()}); });
        film_ = pattern(film_bytes);
        origin_->answer("/film", fresh(film_, 600, {{"ETag", "\"1\""}}));
        origin_->answer("/small", fresh(pattern(10'000), 600, {{"ETag", "\"1\""}}));
        for (auto const& line : lines_) {
            auto& host = hosts_.emplace_back(&network_.add_host());
            host->limit(line.uplink, line.downlink);
            members_.emplace_back();
        }
        for (std::size_t i = 0; i < lines_.size(); ++i) start(i);
    }
    void start(std::size_t i) {
        json voters = json::array();
        for (std::size_t voter = 0; voter < 3; ++voter)
            voters.push_back(hosts_[voter]->address() + ":" + std::to_string(group_port));
        json group{{"name", "lab"},
                   {"member", "cache" + std::to_string(i)},
                   {"voters", voters},
                   {"secret", "open sesame, please"},
                   {"lease", "4s"},
                   {"uplink", std::to_string(lines_[i].uplink) + " Mbit/s"},
                   {"downlink", std::to_string(lines_[i].downlink) + " Mbit/s"}};
        if (i < 3) group["address"] = voters[i];
        json const patch{
            {"group", group},
            {"workers", 1},
            {"memory", {{"size", "128 MiB"}, {"object_max", "64 MiB"}}},
            {"access",
             {{{"allow", {{"source", {"10.9.0.0/24", "127.0.0.1"}}, {"destination", "10.9.0.0/24"}, {"port", {"1-65535"}}}}}}}};
        Proxy::Setup const setup{.patch = patch.dump(), .address = hosts_[i]->address(), .port = proxy_port};
        members_[i] = hosts_[i]->run([&] { return std::make_unique<Proxy>(setup); });
    }
    std::size_t size() const { return members_.size(); }
    Proxy& operator[](std::size_t i) { return *members_[i]; }
    Origin& origin() { return *origin_; }
    std::string const& film() const { return film_; }

    json state(std::size_t i) {
        return hosts_[i]->run([&] { return json::parse(Client("127.0.0.1", members_[i]->admin()).get("/group").body()); });
    }
    json stats(std::size_t i) {
        return hosts_[i]->run([&] { return members_[i]->stats(); });
    }
    bool become_current() {
        return eventually(
            [&] {
                for (std::size_t i = 0; i < size(); ++i)
                    if (state(i)["state"] != "current") return false;
                return true;
            },
            Millis{60'000});
    }
    Finished fetch(std::size_t i, std::string const& path) {
        return hosts_[i]->run([&] {
            return run({garner_binary(), "group", "fetch", origin_->url(path), "--set",
                        "admin.address=127.0.0.1:" + std::to_string(members_[i]->admin())},
                       Millis{120'000});
        });
    }
    std::string state_of(std::size_t i, std::string const& path) { return offer_state(state(i), origin_->url(path)); }
    std::uint64_t received(std::size_t i) { return replicated_bytes(stats(i)); }
    std::string parent_of(std::size_t i, std::string const& path) {
        auto const all = state(i)["offers"];
        for (auto const& offer : all)
            if (offer["url"] == origin_->url(path) && !offer["parents"].empty()) return offer["parents"][0];
        return "";
    }
    std::string place_of(std::size_t i) const { return hosts_[i]->address() + ":" + std::to_string(proxy_port); }
    std::string body_at(std::size_t i, std::string const& path) {
        return hosts_[i]->run([&] { return Client(hosts_[i]->address(), proxy_port).get(origin_->url(path)).body(); });
    }

private:
    Network network_;
    std::vector<Line> lines_;
    std::unique_ptr<Origin> origin_;
    std::string film_;
    std::vector<Host*> hosts_;
    std::vector<std::unique_ptr<Proxy>> members_;
};

std::vector<Lines::Line> twelve_lines() {
    std::vector<Lines::Line> lines(3, {160, 160});
    lines.resize(6, {80, 80});
    lines.resize(12, {8, 40});
    return lines;
}

/// The heads of the requests that the origin has received for this path.
std::string seen_by(Origin& origin, std::string const& path) {
    std::string all;
    for (auto const& request : origin.seen(path)) all += request.head.text() + "\n";
    return all;
}

double seconds_since(std::chrono::steady_clock::time_point begun) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

}   // namespace

#define NEEDS_LINES()                                   \
    NEEDS_HOSTS();                                      \
    try {                                               \
        Network().add_host().limit(10, 10);             \
    } catch (Trouble const& trouble) {                  \
        GTEST_SKIP() << "no lines: " << trouble.what(); \
    }

TEST(GroupReplication, twelve_members_behind_lines_store_a_film_with_one_request_to_the_origin) {
    NEEDS_LINES();
    Lines lines(twelve_lines());
    ASSERT_TRUE(lines.become_current());
    std::this_thread::sleep_for(9s);   // two leases after the watermark

    auto begun = std::chrono::steady_clock::now();
    EXPECT_EQ(lines.fetch(0, "/small").code, 0);
    auto const all_have = [&](std::string const& path) {
        for (std::size_t i = 1; i < lines.size(); ++i)
            if (lines.state_of(i, path) != "stored") return false;
        return true;
    };
    EXPECT_TRUE(eventually([&] { return all_have("/small"); }, Millis{10'000}));
    RecordProperty("seconds_small", std::to_string(seconds_since(begun)));

    begun = std::chrono::steady_clock::now();
    auto const done = lines.fetch(0, "/film");
    EXPECT_EQ(done.code, 0) << done.output << done.errors;
    EXPECT_TRUE(eventually([&] { return all_have("/film"); }, Millis{60'000})) << lines.state(11).dump(2);
    auto const took = seconds_since(begun);
    RecordProperty("seconds_film", std::to_string(took));
    std::cout << "the last of twelve had its 20 MB after " << took << " s; its own line takes 4 s\n";
    EXPECT_EQ(lines.origin().requests("/film"), 1u) << seen_by(lines.origin(), "/film");
    EXPECT_EQ(lines.origin().requests("/small"), 1u);
    for (std::size_t i = 1; i < lines.size(); ++i) EXPECT_EQ(lines.stats(i)["group"]["replicated_bytes"]["origin"], 0) << i;
    EXPECT_EQ(lines.body_at(11, "/film"), lines.film());
}

TEST(GroupReplication, a_parent_that_dies_costs_its_children_no_byte_twice) {
    NEEDS_LINES();
    // The root can send to one member at full rate, and that one to the others.
    Lines lines({{20, 80}, {80, 20}, {80, 80}, {8, 20}, {8, 20}});
    ASSERT_TRUE(lines.become_current());
    std::this_thread::sleep_for(9s);
    EXPECT_EQ(lines.fetch(0, "/film").code, 0);
    std::vector<std::size_t> children;
    std::size_t dying = 0;
    ASSERT_TRUE(eventually([&] {
        for (std::size_t parent = 1; parent < lines.size(); ++parent) {
            children.clear();
            for (std::size_t i = 1; i < lines.size(); ++i)
                if (lines.parent_of(i, "/film") == lines.place_of(parent)) children.push_back(i);
            dying = parent;
            if (!children.empty()) return true;
        }
        return false;
    }));
    ASSERT_TRUE(eventually([&] {
        for (auto const child : children)
            if (lines.received(child) < film_bytes / 10) return false;
        return true;
    }));
    lines[dying].kill();
    for (auto const child : children) EXPECT_LT(lines.received(child), film_bytes * 9 / 10) << "killed too late";
    for (auto const child : children) {
        EXPECT_TRUE(eventually([&] { return lines.state_of(child, "/film") == "stored"; }, Millis{60'000}))
            << lines.state(child).dump(2);
        EXPECT_LT(lines.received(child), film_bytes + 100'000) << child << ": the body once, and the heads";
        EXPECT_EQ(lines.body_at(child, "/film"), lines.film());
    }
    EXPECT_EQ(lines.origin().requests("/film"), 1u);
}

}   // namespace garner::test
