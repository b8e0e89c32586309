// ICP over real sockets: a mesh on two workers that the test drives itself, and a peer that replies as the scene says.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <functional>
#include <random>
#include <thread>

#include "cache/scene.hpp"
#include "icp/htcp.hpp"
#include "icp/icp_message.hpp"
#include "icp/mesh.hpp"
#include "net/udp_port.hpp"
#include "support/made.hpp"

namespace garner::icp {
namespace {

IpAddress loopback(std::uint8_t last) { return IpAddress::v4(127, 0, 0, last); }

/// A foreign UDP socket and the messages received on it.
struct Socket {
    Socket(net::asio::io_context& io, IpAddress const& address, std::uint16_t port = 0) {
        udp = test::made(net::UdpPort::open(io, {address, port}, false));
        udp->start(
            [](void* self, std::span<char const> datagram, IpEndpoint const& from) {
                static_cast<Socket*>(self)->take({datagram.data(), datagram.size()}, from);
            },
            this);
    }
    ~Socket() { udp->stop(); }
    void take(std::string_view datagram, IpEndpoint const& from) {
        IcpMessage message;
        auto const* error = parse_message(datagram, message);
        EXPECT_FALSE(error) << error;
        if (error) return;
        heard.push_back(message);
        urls.emplace_back(message.url);
        if (answer) answer(message, from);
    }
    void send(IcpMessage const& message, IpEndpoint const& to) {
        std::string out;
        write_message(message, out);
        raw(out, to);
    }
    void raw(std::string_view datagram, IpEndpoint const& to) {
        udp->send(datagram, to);
        udp->flush();
    }
    void query(std::uint32_t number, std::string_view url, IpEndpoint const& to) {
        std::string out;
        write_query(number, url, false, out);
        raw(out, to);
    }
    std::uint16_t port() const { return udp->local().port; }
    std::unique_ptr<net::UdpPort> udp;
    std::vector<IcpMessage> heard;   // URLs of these messages are in `urls`
    std::vector<std::string> urls;
    std::function<void(IcpMessage const&, IpEndpoint const&)> answer;
};

std::uint16_t free_port() {
    net::asio::io_context io;
    return test::made(net::UdpPort::open(io, {loopback(1), 0}, false))->local().port;
}

struct LookupScene {
    LookupScene() {
        options.address = "127.0.0.1";
        options.port = free_port();
        options.allow = {*parse_network("127.0.0.0/8")};
        net::WorkerOptions of_worker;
        of_worker.dns.hosts_file = "";
        for (unsigned i = 0; i < 2; ++i) workers.push_back(std::make_unique<net::Worker>(i, names, nullptr, of_worker));
    }
    ~LookupScene() {
        for (unsigned i = 0; mesh && i < workers.size(); ++i) mesh->stop(i);
        turn();
        turn();
    }

    Socket& peer(PeerOptions::Type type = PeerOptions::Type::sibling) {
        sockets.push_back(std::make_unique<Socket>(outside, loopback(2)));
        PeerOptions peer;
        peer.name = "peer";
        peer.type = type;
        peer.host = "127.0.0.2";
        peer.icp = sockets.back()->port();
        options.peers.push_back(peer);
        return *sockets.back();
    }
    Mesh& start() {
        std::vector<net::Worker*> all;
        for (auto& worker : workers) all.push_back(worker.get());
        mesh = test::made(Mesh::make(options, all, cache.cache));
        mesh->start();
        return *mesh;
    }
    void turn() {
        outside.restart();
        outside.poll();
        for (auto& worker : workers) {
            worker->io.restart();
            worker->io.poll();
        }
    }
    template <class Condition>
    void run_until(Condition done) {
        auto const give_up = steady_now() + seconds{20};
        for (turn(); !done(); turn()) {
            ASSERT_LT(steady_now(), give_up) << "the scene does not end";
            std::this_thread::sleep_for(milliseconds{1});
        }
    }
    void run_for(milliseconds time) {
        auto const end = steady_now() + time;
        run_until([&] { return steady_now() >= end; });
    }
    Resolution resolve(std::string_view url = "http://h/a", unsigned worker = 0) {
        std::optional<Resolution> result;
        Question question;
        question.url = url;
        question.host = "h";
        net::asio::co_spawn(workers[worker]->io, mesh->agent(worker).resolve(question, nullptr),
                            [&](std::exception_ptr, Resolution resolution) { result = std::move(resolution); });
        run_until([&] { return result.has_value(); });
        return std::move(*result);
    }
    IpEndpoint ours() const { return {loopback(1), options.port}; }
    AgentFigures figures() const { return mesh->figures(); }

    Options options;
    cache::Scene cache;
    net::NameCache names{net::ResolverOptions{}};
    net::asio::io_context outside;
    std::vector<std::unique_ptr<net::Worker>> workers;
    std::unique_ptr<Mesh> mesh;
    std::vector<std::unique_ptr<Socket>> sockets;
};

void says(Socket& peer, Opcode opcode, std::uint32_t flags = 0, std::uint32_t data = 0) {
    peer.answer = [&peer, opcode, flags, data](IcpMessage const& query, IpEndpoint const& from) {
        peer.send({opcode, query.number, flags, data, query.url}, from);
    };
}

TEST(IcpLookup, a_sibling_that_says_hit_is_the_source) {
    LookupScene scene;
    auto& peer = scene.peer();
    says(peer, Opcode::hit);
    scene.start();
    auto const resolution = scene.resolve();
    EXPECT_EQ(resolution.sources.front().why, Hierarchy::sibling_hit);
    ASSERT_EQ(peer.heard.size(), 1u);
    EXPECT_EQ(peer.heard[0].opcode, Opcode::query);
    EXPECT_EQ(peer.heard[0].options, flag_source_rtt);
    EXPECT_NE(peer.heard[0].number, 0u);
    EXPECT_EQ(peer.urls[0], "http://h/a");
}

TEST(IcpLookup, an_answer_about_another_url_is_no_answer) {
    LookupScene scene;
    scene.options.timeout = milliseconds{50};
    auto& peer = scene.peer();
    peer.answer = [&peer](IcpMessage const& query, IpEndpoint const& from) {
        peer.send({Opcode::hit, query.number, 0, 0, "http://h/other"}, from);
    };
    scene.start();
    EXPECT_EQ(scene.resolve().sources.front().why, Hierarchy::direct);
    EXPECT_EQ(scene.figures().unexpected, 1u);
}

TEST(IcpLookup, nobody_is_asked_for_a_url_that_no_datagram_holds) {
    LookupScene scene;
    auto& peer = scene.peer();
    says(peer, Opcode::hit);
    scene.start();
    auto const longest = "http://h/" + std::string(std::min(url_max, htcp::url_max) - 9, 'a');
    EXPECT_EQ(scene.resolve(longest).sources.front().why, Hierarchy::sibling_hit);
    EXPECT_EQ(scene.resolve(longest + "a").sources.front().why, Hierarchy::direct);
    EXPECT_EQ(scene.resolve(std::string(40'000, 'a')).sources.front().why, Hierarchy::direct);
    EXPECT_EQ(peer.heard.size(), 1u);
}

TEST(IcpLookup, what_every_answer_means) {
    struct Case {
        Opcode opcode;
        ReplyKind said;
    };
    for (auto const& [opcode, said] : {Case{Opcode::hit_obj, ReplyKind::hit}, Case{Opcode::miss, ReplyKind::miss},
                                       Case{Opcode::miss_nofetch, ReplyKind::miss_nofetch}, Case{Opcode::denied, ReplyKind::denied},
                                       Case{Opcode::err, ReplyKind::error}}) {
        LookupScene scene;
        says(scene.peer(), opcode);
        scene.start();
        auto const resolution = scene.resolve();
        ASSERT_EQ(resolution.words.size(), 1u);
        EXPECT_EQ(resolution.words[0].reply, said);
        EXPECT_FALSE(resolution.timed_out);
    }
}

TEST(IcpLookup, parents_tell_how_far_the_origin_is_from_them) {
    LookupScene scene;
    says(scene.peer(PeerOptions::Type::parent), Opcode::miss, flag_source_rtt, 0x00030007);
    scene.start();
    EXPECT_EQ(scene.resolve().sources.front().why, Hierarchy::closest_parent_miss);
}

TEST(IcpLookup, only_the_peer_itself_answers_for_it) {
    LookupScene scene;
    scene.options.timeout = milliseconds{300};
    auto& peer = scene.peer();
    Socket elsewhere(scene.outside, loopback(3), peer.port());   // the peer's port, but another address
    Socket other_port(scene.outside, loopback(2));
    peer.answer = [&](IcpMessage const& query, IpEndpoint const& from) {
        for (auto* liar : {&elsewhere, &other_port}) liar->send({Opcode::hit, query.number, 0, 0, query.url}, from);
        peer.send({Opcode::hit, query.number + 1, 0, 0, query.url}, from);   // unknown query number
        peer.send({Opcode::decho, query.number, 0, 0, query.url}, from);
        peer.send({Opcode::secho, query.number, 0, 0, query.url}, from);   // neither is a reply
    };
    scene.start();
    auto const resolution = scene.resolve();
    EXPECT_EQ(resolution.words.front().reply, ReplyKind::nothing);
    EXPECT_EQ(resolution.sources.front().why, Hierarchy::direct);
    EXPECT_EQ(scene.figures().unexpected, 5u);
}

TEST(IcpLookup, answers_that_come_to_another_worker_find_the_one_that_asked) {
    LookupScene scene;
    says(scene.peer(), Opcode::hit);
    scene.start();
    unsigned hits = 0;
    for (unsigned i = 0; i < 20; ++i) hits += scene.resolve("http://h/a", i % 2).sources.front().why == Hierarchy::sibling_hit;
    EXPECT_GT(hits, 10u) << "some replies are late on a busy machine; one worker alone would have 10 hits";
    // The kernel delivers all datagrams of one sender to one socket.
    EXPECT_EQ(scene.figures().moved, 10u);
}

TEST(IcpLookup, queries_are_answered_from_the_port_they_came_to) {
    LookupScene scene;
    scene.cache.store("fhttp://h/a");
    scene.start();
    Socket asker(scene.outside, loopback(5));
    IpEndpoint from;
    asker.answer = [&](IcpMessage const&, IpEndpoint const& at) { from = at; };
    asker.query(1, "http://h/a", scene.ours());
    asker.query(2, "http://h/b", scene.ours());
    asker.query(3, "no url", scene.ours());
    scene.run_until([&] { return asker.heard.size() == 3; });
    EXPECT_EQ(from, scene.ours());
    EXPECT_EQ(asker.heard[0].opcode, Opcode::hit);
    EXPECT_EQ(asker.heard[1].opcode, Opcode::miss);
    EXPECT_EQ(asker.heard[2].opcode, Opcode::err);
    EXPECT_EQ(asker.heard[1].number, 2u);
    scene.mesh->drain();
    asker.query(4, "http://h/a", scene.ours());
    scene.run_until([&] { return asker.heard.size() == 4; });
    EXPECT_EQ(asker.heard[3].opcode, Opcode::miss_nofetch);
}

TEST(IcpLookup, random_datagrams_version_3_and_number_0_get_no_answer) {
    LookupScene scene;
    scene.start();
    Socket asker(scene.outside, loopback(5));
    std::mt19937 random(7);
    std::string query;
    for (int i = 0; i < 1'000; ++i) {
        std::string datagram(random() % 100, '\0');
        for (char& c : datagram) c = static_cast<char>(random());
        asker.raw(datagram, scene.ours());
        if (i % 20 == 0) scene.turn();
    }
    write_query(9, "http://h/a", true, query);
    auto other = query;
    other[1] = 3;
    asker.raw(other, scene.ours());
    other = query;
    other[7] = 0;
    asker.raw(other, scene.ours());
    asker.raw(query.substr(0, query.size() - 1), scene.ours());
    scene.run_until([&] { return scene.figures().malformed == 1'003; });
    EXPECT_TRUE(asker.heard.empty());
    asker.raw(query, scene.ours());
    scene.run_until([&] { return asker.heard.size() == 1; });
    EXPECT_EQ(asker.heard[0].opcode, Opcode::miss);
}

TEST(IcpLookup, without_a_port_of_ours_nobody_is_answered_and_peers_are_asked) {
    LookupScene scene;
    scene.options.address.clear();
    auto& peer = scene.peer();
    IpEndpoint asked_from;
    peer.answer = [&](IcpMessage const& query, IpEndpoint const& from) {
        asked_from = from;
        peer.send({Opcode::hit, query.number, 0, 0, query.url}, from);
    };
    scene.start();
    EXPECT_EQ(scene.resolve().sources.front().why, Hierarchy::sibling_hit);
    EXPECT_NE(asked_from.port, scene.options.port);
    peer.query(5, "http://h/a", asked_from);
    scene.run_for(milliseconds{50});
    EXPECT_EQ(peer.heard.size(), 1u);
}

TEST(IcpLookup, a_peer_that_a_reload_brings_is_asked) {
    LookupScene scene;
    scene.options.address.clear();
    scene.start();
    says(scene.peer(), Opcode::hit);
    test::made(scene.mesh->prepare(scene.options))();
    EXPECT_EQ(scene.resolve().sources.front().why, Hierarchy::sibling_hit);
}

TEST(IcpLookup, the_fault_names_a_port_that_others_have) {
    LookupScene scene;
    Socket other(scene.outside, loopback(1), scene.options.port);
    std::vector<net::Worker*> all{scene.workers[0].get()};
    auto const fault = Mesh::make(scene.options, all, scene.cache.cache).fault_text();
    EXPECT_NE(fault.find(scene.ours().text()), std::string::npos) << fault;
}

TEST(IcpLookup, our_own_questions_are_not_answered) {
    LookupScene scene;
    scene.options.timeout = milliseconds{200};
    PeerOptions self;
    self.name = "self";
    self.host = "127.0.0.1";
    self.icp = scene.options.port;
    scene.options.peers.push_back(self);
    scene.start();
    EXPECT_EQ(scene.resolve().words.front().reply, ReplyKind::nothing);
    EXPECT_EQ(scene.figures().queries, 0u);
}

}   // namespace
}   // namespace garner::icp
