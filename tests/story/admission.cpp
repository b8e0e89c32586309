// Admission when memory is full: the replacement policy decides, and a refused object evicts nothing.
#include "story/scene.hpp"

namespace garner::test {

namespace {

constexpr int pages = 60;
constexpr std::size_t page_size = 20'000;

/// Memory filled with pages that are requested repeatedly.
class FullMemory {
public:
    FullMemory() : proxy(R"({"memory": {"size": "1 MiB", "policy": "garner", "what_if": false}})") {
        for (int page = 0; page < pages; ++page) origin.answer(path(page), fresh(std::string(page_size, 'p'), 600));
        for (int round = 0; round < 6; ++round)
            for (int page = 0; page < pages; ++page) Client(proxy, origin).get(path(page)).body();
    }
    static std::string path(int page) { return "/page" + std::to_string(page); }
    std::vector<int> stored() {
        std::vector<int> found;
        for (int page = 0; page < pages; ++page)
            if (Client(proxy, origin).get(path(page), {{"Cache-Control", "only-if-cached"}}).status() == 200) found.push_back(page);
        return found;
    }
    int refused() { return proxy.stats()["not_stored"].value("not admitted", 0); }

    Origin origin;
    Proxy proxy;
};

}   // namespace

TEST(Admission, a_large_newcomer_worth_less_than_what_is_stored_takes_no_more_than_its_window) {
    FullMemory scene;
    auto const before = scene.stored();
    ASSERT_GT(before.size(), 30u);
    ASSERT_LT(before.size(), std::size_t{pages});
    auto const refused = scene.refused();
    scene.origin.answer("/film", fresh(std::string(400'000, 'f'), 600));
    auto reply = Client(scene.proxy, scene.origin).get("/film");
    EXPECT_EQ(reply.body().size(), 400'000u);
    EXPECT_THAT(reply.head().field("Cache-Status"), Not(HasSubstr("stored")));
    EXPECT_THAT(reply.head().field("Cache-Status"), HasSubstr("detail=\"not admitted\""));
    EXPECT_EQ(scene.refused(), refused + 1);
    EXPECT_GT(scene.stored().size() + 15, before.size());   // it would have replaced about twenty pages
    EXPECT_EQ(Client(scene.proxy, scene.origin).get("/film", {{"Cache-Control", "only-if-cached"}}).status(), 504);
}

TEST(Admission, a_small_newcomer_is_refused_alike_and_says_why) {
    FullMemory scene;
    auto const before = scene.stored();
    auto const refused = scene.refused();
    scene.origin.answer("/once", fresh(std::string(60'000, 'o'), 600));
    auto reply = Client(scene.proxy, scene.origin).get("/once");
    EXPECT_EQ(reply.body().size(), 60'000u);
    EXPECT_THAT(reply.head().field("Cache-Status"), HasSubstr("detail=\"not admitted\""));
    EXPECT_EQ(scene.refused(), refused + 1);
    EXPECT_EQ(scene.stored(), before);
}

TEST(Admission, who_is_asked_for_often_enough_comes_in) {
    FullMemory scene;
    scene.origin.answer("/film", fresh(std::string(100'000, 'f'), 600));
    bool const stored = eventually([&] { return Client(scene.proxy, scene.origin).get("/film").hit(); });
    EXPECT_TRUE(stored);
}

TEST(Admission, those_who_wait_for_a_refused_body_read_it_from_one_fetch) {
    FullMemory scene;
    auto held = scene.origin.hold("/film");
    Client first(scene.proxy, scene.origin);
    auto reply = first.get("/film");
    held.arrived();
    held.head(fresh("", 600), 300'000);
    held.piece(std::string(150'000, 'f'));
    held.piece(std::string(150'000, 'f'));
    held.finish();
    EXPECT_EQ(reply.body().size(), 300'000u);
    EXPECT_EQ(scene.origin.requests("/film"), 1u);
}

TEST(Admission, what_is_stored_is_never_refused_its_newer_form) {
    FullMemory scene;
    auto const page = scene.stored().front();
    scene.origin.answer(FullMemory::path(page), fresh(std::string(60'000, 'n'), 600));
    Client client(scene.proxy, scene.origin);
    EXPECT_EQ(client.get(FullMemory::path(page), {{"Cache-Control", "no-cache"}}).body().size(), 60'000u);
    auto again = client.get(FullMemory::path(page));
    EXPECT_TRUE(again.hit());
    EXPECT_EQ(again.body().size(), 60'000u);
}

}   // namespace garner::test
