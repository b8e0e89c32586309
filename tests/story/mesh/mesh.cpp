#include "story/mesh/mesh.hpp"

#include <algorithm>
#include <random>
#include <sstream>

namespace garner::test {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// ---- caches ----

void CacheHost::add_peer(CacheHost const& peer, std::string const& type, std::string const& more) {
    auto const& address = peer.host_.address();
    json options{{"name", address}, {"type", type}, {"host", address}, {"http_port", port}, {"icp_port", icp_port}};
    options.merge_patch(json::parse(more));
    peers_.push_back(options);
}

void CacheHost::start(std::string const& patch) {
    patch_ = patch;
    start_again();
}

void CacheHost::start_again() {
    json configuration{{"access", {{{"allow", {{"source", {"10.9.0.0/24"}}}}}}},
                       {"icp", {{"address", host_.address() + ":" + std::to_string(icp_port)}, {"allow", {"10.9.0.0/24"}}}},
                       {"peers", peers_}};
    configuration.merge_patch(json::parse(patch_));
    Proxy::Setup const setup{.patch = configuration.dump(), .address = host_.address(), .port = port};
    proxy_ = host_.run([&] { return std::make_unique<Proxy>(setup); });
}

json CacheHost::stats() const {
    return host_.run([&] { return proxy_->stats(); });
}

std::string CacheHost::state_of(CacheHost const& peer) const {
    auto const peers = stats()["peers"];
    auto const found = std::find_if(peers.begin(), peers.end(), [&](auto& one) { return one["name"] == peer.host_.address(); });
    if (found == peers.end()) throw Trouble("no peer " + peer.host_.address() + " in the figures");
    return (*found)["state"];
}

// ---- the origin ----

OriginHost::OriginHost(Host& host) : host_(host) {
    Origin::Setup const setup{.address = host.address()};
    origin_ = host.run([&] { return std::make_unique<Origin>(setup); });
    // Caches send origin-form to an origin: the target is the path.
    origin_->otherwise([](Hand& hand) {
        hand.read_body();
        hand.answer(fresh(body_of(hand.request().head.target())));
    });
}

// ---- clients ----

namespace {

Seen ask_over(Client& client, OriginHost const& origin, std::string const& path) {
    Seen seen{.begun = Clock::now(), .path = path};
    try {
        auto const reply = client.get(origin.url(path));
        auto const& body = reply.body();
        if (reply.status() != 200)
            seen.wrong = "status " + std::to_string(reply.status()) + " " + reply.trouble() + " " + body.substr(0, 300);
        else if (body != OriginHost::body_of(path))
            seen.wrong = "another body: " + body.substr(0, 100) + " " + reply.trouble();
    } catch (Trouble const& trouble) {
        seen.wrong = trouble.what();
    }
    seen.took = std::chrono::duration_cast<Millis>(Clock::now() - seen.begun);
    return seen;
}

}   // namespace

Seen ask(Host const& from, CacheHost const& cache, OriginHost const& origin, std::string const& path) {
    return from.run([&] {
        Client client(cache.host().address(), CacheHost::port);
        return ask_over(client, origin, path);
    });
}

Load::Load(Host const& from, CacheHost const& cache, OriginHost const& origin, std::string const& name, unsigned clients) {
    for (unsigned i = 0; i < clients; ++i)
        clients_.emplace_back(
            [this, &from, &cache, &origin, name = name + std::to_string(i)] { from.run([&] { ask_on(cache, origin, name); }); });
}

void Load::stop() {
    over_ = true;
    for (auto& client : clients_) client.join();
    clients_.clear();
}

std::vector<Seen> Load::seen() const {
    std::lock_guard const lock(mutex_);
    return seen_;
}

void Load::ask_on(CacheHost const& cache, OriginHost const& origin, std::string const& name) {
    Client client(cache.host().address(), CacheHost::port);
    std::mt19937 random(static_cast<unsigned>(std::hash<std::string>{}(name)));
    ask_over(client, origin, "/known/0");   // includes the start of an instrumented program, so it is not judged
    for (unsigned turn = 0; !over_; ++turn) {
        auto const path = turn % 2 == 0 ? "/new/" + name + "/" + std::to_string(turn) : "/known/" + std::to_string(random() % 100);
        auto seen = ask_over(client, origin, path);
        if (!seen.wrong.empty()) client.close();
        {
            std::lock_guard const lock(mutex_);
            seen_.push_back(std::move(seen));
        }
        // Other tests run in parallel: without pauses, an instrumented mesh uses all processors.
        pause_for(Millis{50});
    }
}

void expect_unharmed(std::vector<Seen> const& all, std::vector<Seen::Time> const& faults, Clock::duration frozen) {
    constexpr Millis busy{1'000}, one_wait{2'000};
    EXPECT_GT(all.size(), 20u) << "the clients sent too few requests";
    int told = 0;
    for (auto const& seen : all) {
        // Includes requests that were in progress when the fault began, because they may have waited.
        bool const may_wait = std::any_of(faults.begin(), faults.end(), [&](auto fault) {
            return seen.begun <= fault + one_wait + busy && seen.begun + seen.took >= fault;
        });
        bool const was_on_its_way = std::any_of(faults.begin(), faults.end(), [&](auto fault) {
            return seen.begun <= fault + busy && seen.begun + seen.took >= fault;
        });
        auto const limit = was_on_its_way ? one_wait + frozen : may_wait ? one_wait : Clock::duration{};
        if (seen.wrong.empty() && seen.took <= limit + busy) continue;
        std::ostringstream since;
        for (auto fault : faults) since << " " << std::chrono::duration_cast<Millis>(seen.begun - fault).count();
        ADD_FAILURE() << seen.path << " took " << seen.took.count() << " ms: " << seen.wrong
                      << "; begun so many ms after the faults:" << since.str();
        if (++told == 10) return;
    }
}

// ---- the mesh ----

ThreeLevels::ThreeLevels(std::string const& as_peer) {
    for (int i = 0; i < 2; ++i) parents.emplace_back(network.add_host());
    for (int i = 0; i < 3; ++i) siblings.emplace_back(network.add_host());
    for (auto& sibling : siblings) {
        for (auto const& parent : parents) sibling.add_peer(parent, "parent", as_peer);
        for (auto const& other : siblings)
            if (&other != &sibling) sibling.add_peer(other, "sibling", as_peer);
        child.add_peer(sibling, "parent", as_peer);
    }
    for_all([&](CacheHost& cache) { cache.start(); });
}

void ThreeLevels::for_all(std::function<void(CacheHost&)> const& what) {
    for (auto& parent : parents) what(parent);
    for (auto& sibling : siblings) what(sibling);
    what(child);
}

}   // namespace garner::test
