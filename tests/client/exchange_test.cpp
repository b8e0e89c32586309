// One exchange with an origin: the end of its response, errors, and reuse of its connection.
#include "client/exchange.hpp"

#include <gtest/gtest.h>

#include <array>
#include <future>
#include <string>

#include "client/scripted_origin.hpp"

namespace garner::client {
namespace {

using namespace std::literals;
using http::Method;

/// An origin that sends `text` and waits for the client to close.
Scene::Script says(std::string text) {
    return [text = std::move(text)](OriginSide& origin) {
        origin.send(text);
        origin.wait_for_end();
    };
}

/// An origin that sends `text` and closes its side.
Scene::Script says_and_ends(std::string text) {
    return [text = std::move(text)](OriginSide& origin) {
        origin.send(text);
        origin.end();
        origin.wait_for_end();
    };
}

TEST(Exchange, sends_a_request_and_reads_a_body_of_known_length) {
    constexpr auto request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"sv;
    Scene scene([&](OriginSide& origin) {
        EXPECT_EQ(origin.receive(request.size()), request);
        origin.send("HTTP/1.1 200 Fine\r\nContent-Length: 5\r\nETag: \"1\"\r\n\r\nhello");
        origin.wait_for_end();
    });
    EXPECT_EQ(scene.send(request), Trouble::none);
    EXPECT_FALSE(scene.exchange->answered());
    ASSERT_EQ(scene.read_head(), Trouble::none);
    EXPECT_TRUE(scene.exchange->answered());
    EXPECT_EQ(scene.exchange->head().status, 200);
    EXPECT_EQ(scene.exchange->head().reason, "Fine");
    EXPECT_EQ(scene.exchange->head().fields.first(http::Name::etag), "\"1\"");
    EXPECT_FALSE(scene.exchange->body_done());
    auto body = scene.read_body();
    EXPECT_EQ(body.bytes, "hello");
    EXPECT_EQ(body.trouble, Trouble::none);
    EXPECT_TRUE(scene.exchange->body_done());
    EXPECT_TRUE(scene.exchange->reusable());
}

TEST(Exchange, decodes_chunks_and_keeps_their_trailers) {
    Scene scene(says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                     "5;x=1\r\nhello\r\n7\r\n, world\r\n0\r\nX-Sum: 12\r\nContent-Length: 9\r\n\r\n"));
    ASSERT_EQ(scene.read_head(), Trouble::none);
    EXPECT_EQ(scene.read_body().bytes, "hello, world");
    EXPECT_EQ(scene.exchange->trailers(), "X-Sum: 12\r\n");
    EXPECT_TRUE(scene.exchange->reusable());
}

TEST(Exchange, a_body_until_close_is_complete_at_an_orderly_end) {
    Scene scene(says_and_ends("HTTP/1.1 200 OK\r\n\r\nall of it"));
    ASSERT_EQ(scene.read_head(), Trouble::none);
    auto body = scene.read_body();
    EXPECT_EQ(body.bytes, "all of it");
    EXPECT_EQ(body.trouble, Trouble::none);
    EXPECT_TRUE(scene.exchange->body_done());
    EXPECT_FALSE(scene.exchange->reusable());
}

TEST(Exchange, a_body_until_close_that_is_reset_is_not_complete) {
    std::promise<void> read;
    Scene scene([&](OriginSide& origin) {
        origin.send("HTTP/1.1 200 OK\r\n\r\npart of it");
        read.get_future().wait();
        origin.reset();
    });
    ASSERT_EQ(scene.read_head(), Trouble::none);
    auto piece = scene.read_piece();
    EXPECT_EQ(piece.data, "part of it");
    read.set_value();
    EXPECT_EQ(scene.read_piece().trouble, Trouble::reset);
    EXPECT_FALSE(scene.exchange->body_done());
    EXPECT_FALSE(scene.exchange->reusable());
}

TEST(Exchange, what_ends_early_is_trouble_wherever_it_ends) {
    auto trouble_after = [](std::string text) {
        Scene scene(says_and_ends(std::move(text)));
        auto head = scene.read_head();
        if (head != Trouble::none) return head;
        auto body = scene.read_body();
        EXPECT_FALSE(scene.exchange->reusable());
        return body.trouble;
    };
    EXPECT_EQ(trouble_after(""), Trouble::closed);
    EXPECT_EQ(trouble_after("HTTP/1.1 200 OK\r\nContent-Le"), Trouble::closed);
    EXPECT_EQ(trouble_after("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"), Trouble::closed);
    EXPECT_EQ(trouble_after("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"), Trouble::closed);
    EXPECT_EQ(trouble_after("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"), Trouble::closed);
    EXPECT_EQ(trouble_after("HTTP/1.1 100 Continue\r\n\r\n"), Trouble::none) << "a head of its own";
}

TEST(Exchange, a_reset_before_the_head_is_told_from_an_end) {
    Scene scene([](OriginSide& origin) {
        origin.receive(1);
        origin.reset();
    });
    scene.send("x");
    EXPECT_EQ(scene.read_head(), Trouble::reset);
    EXPECT_FALSE(scene.exchange->answered());
}

TEST(Exchange, reads_interim_heads_one_by_one) {
    Scene scene(says("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                     "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
    ASSERT_EQ(scene.read_head(), Trouble::none);
    EXPECT_EQ(scene.exchange->head().status, 100);
    EXPECT_TRUE(scene.exchange->body_done());
    ASSERT_EQ(scene.read_head(), Trouble::none);
    EXPECT_EQ(scene.exchange->head().status, 103);
    ASSERT_EQ(scene.read_head(), Trouble::none);
    EXPECT_EQ(scene.exchange->head().status, 200);
    EXPECT_EQ(scene.read_body().bytes, "ok");
    EXPECT_TRUE(scene.exchange->reusable());
}

TEST(Exchange, what_follows_a_101_is_left_for_the_new_protocol) {
    Scene scene(says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nnew words"));
    ASSERT_EQ(scene.read_head(), Trouble::none);
    EXPECT_EQ(scene.exchange->head().status, 101);
    EXPECT_EQ(scene.exchange->leftover(), "new words");
    EXPECT_FALSE(scene.exchange->reusable());
    Scene silent(says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"));
    ASSERT_EQ(silent.read_head(), Trouble::none);
    EXPECT_FALSE(silent.exchange->reusable());
}

TEST(Exchange, repairs_a_response_and_does_not_use_its_connection_again) {
    struct Row {
        std::string text;
        bool is_doubtful;
    };
    std::string const ok = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\n", chunked = "Transfer-Encoding: chunked\r\n\r\n";
    for (auto const& row : {
             Row{ok + "X : y\r\nContent-Length: 5\r\n\r\nhello", false},
             Row{ok + chunked + "5 \r\nhello\r\n0 \r\n\r\n", false},
             Row{ok + chunked + "5\nhello\n0\n\n", true},
             Row{"HTTP/1.1 200 OK\nETag: \"1\"\nContent-Length: 5\n\nhello", true},
             Row{ok + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", true},
             Row{ok + "Content-Length: 9\r\n" + chunked + "5\r\nhello\r\n0\r\n\r\n", true},
             Row{"HTTP/1.1 103 Early\n\n" + ok + "Content-Length: 5\r\n\r\nhello", true},
         }) {
        SCOPED_TRACE(row.text);
        Scene scene([&](OriginSide& origin) {
            origin.trickle(row.text);
            origin.wait_for_end();
        });
        ASSERT_EQ(scene.read_head(), Trouble::none);
        if (scene.exchange->head().status == 103) ASSERT_EQ(scene.read_head(), Trouble::none);
        EXPECT_EQ(scene.exchange->head().fields.first(http::Name::etag), "\"1\"");
        auto const body = scene.read_body();
        EXPECT_EQ(body.trouble, Trouble::none);
        EXPECT_EQ(body.bytes, "hello");
        EXPECT_EQ(scene.exchange->is_doubtful(), row.is_doubtful);
        EXPECT_FALSE(scene.exchange->reusable());
    }
}

TEST(Exchange, knows_how_long_its_connection_may_be_idle) {
    auto const idle_max = [](std::string const& field) {
        Scene scene(says("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + field + "\r\n"));
        EXPECT_EQ(scene.read_head(), Trouble::none);
        return scene.exchange->idle_max();
    };
    EXPECT_EQ(idle_max(""), milliseconds::max());
    EXPECT_EQ(idle_max("Keep-Alive: timeout=5, max=9\r\n"), seconds{4});
    EXPECT_EQ(idle_max("Keep-Alive: timeout=0\r\n"), seconds{0});
    EXPECT_EQ(idle_max("Keep-Alive: 7\r\n"), milliseconds::max());
}

TEST(Exchange, a_silent_origin_is_timed_out_before_and_within_the_body) {
    Scene mute(says(""));
    EXPECT_EQ(mute.read_head(Method::get, 150ms), Trouble::timed_out);
    Scene stalls(says("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"));
    ASSERT_EQ(stalls.read_head(), Trouble::none);
    auto body = stalls.read_body(150ms);
    EXPECT_EQ(body.bytes, "half");
    EXPECT_EQ(body.trouble, Trouble::timed_out);
    EXPECT_FALSE(stalls.exchange->reusable());
}

TEST(Exchange, refuses_malformed_answers_and_says_why) {
    auto fault_of = [](std::string text) {
        Scene scene(says(std::move(text)));
        auto trouble = scene.read_head();
        if (trouble == Trouble::none) trouble = scene.read_body().trouble;
        EXPECT_EQ(trouble, Trouble::malformed);
        EXPECT_FALSE(scene.exchange->reusable());
        return std::string(scene.exchange->fault());
    };
    EXPECT_NE(fault_of("SMTP ready\r\n\r\n"), "");
    EXPECT_NE(fault_of("HTTP/1.1 200 OK\r\nA B: 1\r\n\r\n"), "");
    EXPECT_NE(fault_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"), "");
    EXPECT_NE(fault_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: gzip\r\n\r\n"), "");
    EXPECT_NE(fault_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"), "");
    EXPECT_NE(fault_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX"), "");
}

TEST(Exchange, refuses_a_head_that_never_ends) {
    Scene scene(says("HTTP/1.1 200 OK\r\nX: " + std::string(200'000, 'x')));
    EXPECT_EQ(scene.read_head(), Trouble::malformed);
    EXPECT_NE(scene.exchange->fault(), ""s);
    // Limits above the buffer size have no effect.
    http::HeadLimits wide{.bytes = MiB};
    Scene wider(says("HTTP/1.1 200 OK\r\nX: " + std::string(200'000, 'x')), wide);
    EXPECT_EQ(wider.read_head(), Trouble::malformed);
}

TEST(Exchange, reads_a_head_that_just_fits_behind_an_interim_one) {
    auto head = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX: "s;
    head += std::string(net::BufferPool::size - head.size() - 4, 'x') + "\r\n\r\n";
    ASSERT_EQ(head.size(), net::BufferPool::size);
    Scene scene(says("HTTP/1.1 100 Continue\r\n\r\n" + head + "abc"));
    ASSERT_EQ(scene.read_head(), Trouble::none);
    ASSERT_EQ(scene.read_head(), Trouble::none) << scene.exchange->fault();
    EXPECT_EQ(scene.exchange->head().status, 200);
    EXPECT_EQ(scene.read_body().bytes, "abc");
}

TEST(Exchange, is_used_again_only_when_both_sides_keep_the_connection_and_nothing_is_left) {
    auto reusable_after = [](std::string text, Method method = Method::get) {
        Scene scene(says(std::move(text)));
        EXPECT_EQ(scene.read_head(method), Trouble::none);
        scene.read_body();
        return scene.exchange->reusable();
    };
    EXPECT_TRUE(reusable_after("HTTP/1.1 204 No Content\r\n\r\n"));
    EXPECT_TRUE(reusable_after("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"));
    EXPECT_TRUE(reusable_after("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", Method::head));
    EXPECT_TRUE(reusable_after("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
    EXPECT_TRUE(reusable_after("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx"));
    EXPECT_FALSE(reusable_after("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx"));
    EXPECT_FALSE(reusable_after("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx"));
    EXPECT_FALSE(reusable_after("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n"));
    EXPECT_FALSE(reusable_after("HTTP/1.1 204 No Content\r\n\r\nstray"));
}

TEST(Exchange, is_not_used_again_before_its_body_is_read) {
    Scene scene(says("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"));
    ASSERT_EQ(scene.read_head(), Trouble::none);
    EXPECT_FALSE(scene.exchange->reusable());
}

TEST(Exchange, takes_what_is_at_hand_without_waiting) {
    Scene scene(says("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"));
    ASSERT_EQ(scene.read_head(), Trouble::none);
    EXPECT_EQ(scene.exchange->body_at_hand().data, "half");
    auto nothing = scene.exchange->body_at_hand();
    EXPECT_EQ(nothing.data, "");
    EXPECT_EQ(nothing.trouble, Trouble::none);
    EXPECT_FALSE(scene.exchange->body_done());
}

TEST(Exchange, is_cancelled_while_it_reads) {
    Scene scene(says(""));
    net::Timer soon(scene.loop.io, 50ms);
    soon.async_wait([&](net::Error const&) { scene.exchange->cancel(); });
    EXPECT_EQ(scene.read_head(), Trouble::cancelled);
    EXPECT_EQ(scene.read_head(), Trouble::cancelled);
    EXPECT_FALSE(scene.exchange->reusable());
}

// A transaction may be aborted after its connection went back to the pool.
TEST(Exchange, may_be_cancelled_when_its_connection_is_another_s_already) {
    Scene scene(says("HTTP/1.1 204 No Content\r\n\r\n"));
    ASSERT_EQ(scene.read_head(), Trouble::none);
    auto released = scene.exchange->release();
    scene.exchange->cancel();
    EXPECT_FALSE(scene.exchange->reusable());
}

TEST(Exchange, sends_a_large_request_to_an_origin_that_takes_it_slowly) {
    std::string request(3'000'000, 'r');
    std::promise<std::size_t> got;
    Scene scene([&](OriginSide& origin) {
        std::size_t count = 0;
        while (count < request.size()) count += origin.receive(100'000).size();
        got.set_value(count);
    });
    EXPECT_EQ(scene.send(request), Trouble::none);
    EXPECT_EQ(got.get_future().get(), request.size());
}

TEST(Exchange, gives_up_sending_to_an_origin_that_takes_nothing_or_is_gone) {
    std::promise<void> over;
    Scene stuck([&](OriginSide&) { over.get_future().wait(); });
    std::string request(30'000'000, 'r');
    iovec part{request.data(), request.size()};
    EXPECT_EQ(stuck.loop.run(stuck.exchange->send(std::span(&part, 1), 150ms)), Trouble::timed_out);
    over.set_value();
    Scene gone([](OriginSide& origin) {
        origin.receive(1);
        origin.reset();
    });
    EXPECT_EQ(gone.send(request), Trouble::reset);
}

/// The result of an exchange in one line.
std::string digest(Scene& scene) {
    std::string text;
    do {
        if (scene.read_head() != Trouble::none) return text + "no head";
        text += std::to_string(scene.exchange->head().status) + " ";
    } while (scene.exchange->head().status < 200);
    auto body = scene.read_body();
    text += body.bytes + " " + scene.exchange->trailers() + (body.trouble == Trouble::none ? "" : "trouble");
    return text + (scene.exchange->reusable() ? " reusable" : "");
}

TEST(Exchange, reads_the_same_wherever_the_bytes_are_split) {
    std::string const answer = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                               "5\r\nhello\r\nA;e=\"q\"\r\n, my world\r\n0\r\nX: y\r\n\r\n";
    Scene whole(says(answer));
    auto expected = digest(whole);
    EXPECT_EQ(expected, "100 200 hello, my world X: y\r\n reusable");
    for (std::size_t at = 1; at < answer.size(); ++at) {
        Scene scene([&](OriginSide& origin) {
            origin.send(answer.substr(0, at));
            // Loopback delivers each send alone if the reader has time to receive it.
            std::this_thread::sleep_for(2ms);
            origin.send(answer.substr(at));
            origin.wait_for_end();
        });
        ASSERT_EQ(digest(scene), expected) << "split at " << at;
    }
    Scene drops([&](OriginSide& origin) {
        origin.trickle(answer);
        origin.wait_for_end();
    });
    EXPECT_EQ(digest(drops), expected);
}

TEST(Exchange, reads_a_body_of_known_length_straight_into_its_place) {
    Scene scene([](OriginSide& origin) {
        origin.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab");
        origin.receive(1);
        origin.send("cdefghiHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nj");
        origin.wait_for_end();
    });
    ASSERT_EQ(scene.read_head(), Trouble::none);
    std::array<char, 64> place{};
    auto piece = scene.read_piece(seconds{5}, place);
    EXPECT_EQ(piece.data, "ab");
    EXPECT_NE(piece.data.data(), place.data());   // it arrived with the head
    ASSERT_EQ(scene.send("!"), Trouble::none);
    std::string rest;
    while (!(piece = scene.read_piece(seconds{5}, place)).data.empty()) {
        EXPECT_EQ(piece.data.data(), place.data());
        rest += piece.data;
    }
    EXPECT_EQ(piece.trouble, Trouble::none);
    EXPECT_EQ(rest, "cdefghi");
    EXPECT_TRUE(scene.exchange->body_done());
}

TEST(Exchange, a_body_that_ends_early_on_its_way_to_its_place_is_told) {
    for (bool drips : {false, true}) {
        Scene scene([drips](OriginSide& origin) {
            origin.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n");
            if (!drips) origin.end();
            origin.wait_for_end();
        });
        ASSERT_EQ(scene.read_head(), Trouble::none);
        std::array<char, 64> place{};
        EXPECT_EQ(scene.read_piece(150ms, place).trouble, drips ? Trouble::timed_out : Trouble::closed);
    }
}

TEST(Exchange, chunks_do_not_come_to_the_place) {
    Scene scene(says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"));
    ASSERT_EQ(scene.read_head(), Trouble::none);
    std::array<char, 64> place{};
    EXPECT_EQ(scene.read_piece(seconds{5}, place).data, "abc");
    EXPECT_EQ(scene.read_piece(seconds{5}, place).data, "");
    EXPECT_TRUE(scene.exchange->body_done());
    EXPECT_EQ(place[0], '\0');
}

}   // namespace
}   // namespace garner::client
