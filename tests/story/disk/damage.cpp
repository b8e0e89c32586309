// A store file that changed while the proxy was stopped or running: every kind of structure, in every way. Damaged data are never
// served. GARNER_DAMAGES: number of places (default 240). See tools/soak.
#include <algorithm>
#include <fstream>
#include <random>
#include <set>

#include "story/disk/disk.hpp"

namespace garner::test {

namespace {

using Kinds = std::set<std::string>;
Kinds const of_records{"record head", "key", "meta", "checksums", "body"};
Kinds const of_footers{"footer entries", "footer tail"};
Kinds const of_segments{"segment head", "footer entries", "footer tail"};

/// Damages copies of a store's file.
class Vandal {
public:
    Vandal(DiskImage const& image, unsigned seed) : image_(image), bytes_(image.bytes()), random_(seed) {}

    /// Damages one place of one of these kinds, in a random way.
    void damage(Kinds const& wanted) {
        std::vector<DiskImage::Kinds> kinds;
        for (auto& kind : image_.structures())
            if (wanted.contains(kind.name) && !kind.places.empty()) kinds.push_back(std::move(kind));
        auto const& kind = one_of(kinds);
        auto const place = one_of(kind.places), other = one_of(kind.places);
        switch (random_() % 7) {
        case 0:
        case 1: return flip(place);
        case 2: return zero(place);
        case 3: return zero_sector(place);
        case 4: return scribble(place);
        case 5: return swap(place, other);
        default: return copy(other, place);
        }
    }
    void flip(DiskImage::Place place) {
        auto& byte = bytes_[place.at + random_() % place.bytes];
        byte = static_cast<char>(byte ^ (1u << random_() % 8));
    }
    void swap(DiskImage::Place a, DiskImage::Place b) {
        auto const count = std::min(a.bytes, b.bytes);
        auto const was = bytes_.substr(a.at, count);
        bytes_.replace(a.at, count, bytes_.substr(b.at, count));
        bytes_.replace(b.at, count, was);
    }
    void cut(std::uint64_t size) { bytes_.resize(size); }
    std::uint64_t below(std::uint64_t end) { return random_() % end; }

    std::string const& bytes() const { return bytes_; }

private:
    template <class T>
    T const& one_of(std::vector<T> const& all) {
        return all[random_() % all.size()];
    }
    void zero(DiskImage::Place place) { bytes_.replace(place.at, place.bytes, place.bytes, '\0'); }
    void zero_sector(DiskImage::Place place) {
        constexpr std::uint64_t sector = 512;
        zero({(place.at + random_() % place.bytes) / sector * sector, sector});
    }
    void scribble(DiskImage::Place place) {
        auto const from = random_() % place.bytes;
        for (auto at = from; at < place.bytes && at < from + 100; ++at) bytes_[place.at + at] = static_cast<char>(random_());
    }
    void copy(DiskImage::Place from, DiskImage::Place to) {
        auto const count = std::min(from.bytes, to.bytes);
        bytes_.replace(to.at, count, bytes_.substr(from.at, count));
    }

    DiskImage const& image_;
    std::string bytes_;
    std::mt19937_64 random_;
};

/// A stopped store in which every third work was replaced, or purged and stored again.
struct Damage : DiskScene {
    static constexpr std::size_t some = 150, damages_a_round = 40;

    void fill(std::string const& more = "{}") {
        start(more);
        ask_all(some);
        Client client(proxy(), origin());
        for (std::size_t i = 0; i < some; i += 3) {
            library().renew(Library::path(i));
            if (i % 2 == 0) EXPECT_EQ(client.send("PURGE", Library::path(i)).status(), 200);
            EXPECT_EQ(ask(Library::path(i), {{"Cache-Control", "no-cache"}}), 2);
        }
    }
    void write(std::string const& bytes) { std::ofstream(file(), std::ios::binary | std::ios::trunc) << bytes; }

    /// A long body is truncated at a damaged piece: the received part is correct, and a repeated request succeeds.
    int ask_again_where_it_breaks_off(std::string const& path, bool& hit) {
        for (int tries = 0; tries < 4; ++tries) {
            auto reply = Client(proxy(), origin()).get(path);
            if (reply.complete()) break;
            bool begun = reply.body().empty();
            for (int version = 1; version <= 3; ++version) begun |= Library::body(path, version).starts_with(reply.body());
            EXPECT_TRUE(begun) << path;
            EXPECT_GT(Library::size_of(path), 60'000u) << path << ": short objects are complete or fetched again";
        }
        return ask(path, {}, &hit);
    }
    /// Requests every work twice: each response is correct, and never older than an earlier one.
    std::size_t ask_for_all(bool may_be_older = false) {
        std::size_t hits = 0;
        for (int turn = 0; turn < 2; ++turn)
            for (std::size_t i = 0; i < some; ++i) {
                bool hit = false;
                auto const version = ask_again_where_it_breaks_off(Library::path(i), hit);
                if (i % 3 == 0 && !may_be_older) EXPECT_GE(version, 2) << Library::path(i);
                if (turn == 0) hits += hit;
            }
        return hits;
    }
    void damage_again_and_again(Kinds const& kinds, bool may_be_older = false) {
        auto const image = this->image();
        auto const rounds = times("GARNER_DAMAGES", 240) / damages_a_round / 4 + 1;
        std::size_t hits = 0, damaged = 0;
        library().renew_all();
        for (std::size_t round = 0; round < rounds; ++round) {
            SCOPED_TRACE(round);
            Vandal vandal(image, static_cast<unsigned>(round));
            for (std::size_t i = 0; i < damages_a_round; ++i) vandal.damage(kinds);
            write(vandal.bytes());
            start();
            hits += ask_for_all(may_be_older);
            damaged += figure("damaged");
            stop();
        }
        EXPECT_GT(hits, 0u);
        if (kinds.contains("body")) EXPECT_GT(damaged, rounds * 3);
    }
};

std::vector<DiskImage::Record> with_body(DiskImage const& image) {
    auto records = image.records();
    std::erase_if(records, [](DiskImage::Record const& record) { return record.body.bytes == 0; });
    return records;
}

}   // namespace

TEST_F(Damage, of_bodies_is_counted_to_the_last_one_and_everything_else_is_a_hit) {
    start();
    ask_all(some);
    stop();
    auto const image = this->image();
    Vandal vandal(image, 1);
    std::set<std::string> damaged;
    auto const records = with_body(image);
    for (std::size_t i = 0; i < records.size(); i += 7) {
        if (records[i].kind != DiskImage::Kind::object) continue;
        vandal.flip(records[i].body);
        damaged.insert(records[i].key);
    }
    ASSERT_GT(damaged.size(), 5u);
    write(vandal.bytes());
    library().renew_all();
    start();
    EXPECT_EQ(ask_all(some), some - damaged.size());
    EXPECT_EQ(figure("damaged"), damaged.size());
    EXPECT_EQ(ask_all(some), some) << "the damaged objects were fetched and stored again";
    EXPECT_EQ(figure("damaged"), damaged.size());
}

TEST_F(Damage, of_records_is_never_served_and_brings_nothing_older_back) {
    fill();
    stop();
    damage_again_and_again(of_records);
}

TEST_F(Damage, of_footers_is_never_served_and_brings_nothing_older_back) {
    fill();
    stop();
    damage_again_and_again(of_footers);
}

// A segment without head and footer is lost, and so are its tombstones for older records.
TEST_F(Damage, of_segments_is_never_served) {
    fill();
    stop();
    damage_again_and_again(of_segments, true);
}

TEST_F(Damage, of_everything_at_once_is_never_served) {
    fill();
    stop();
    auto all = of_records;
    all.insert(of_segments.begin(), of_segments.end());
    damage_again_and_again(all, true);
}

TEST_F(Damage, of_what_a_kill_has_left_is_never_served) {
    fill();
    kill();
    auto all = of_records;
    all.insert(of_segments.begin(), of_segments.end());
    damage_again_and_again(all, true);
}

TEST_F(Damage, of_the_header_is_seen_and_the_proxy_goes_on) {
    fill();
    stop();
    auto const image = this->image();
    std::vector<DiskImage::Place> copies;
    for (auto const& kind : image.structures())
        if (kind.name == "header") copies = kind.places;
    for (unsigned round = 0; round < 6; ++round) {
        SCOPED_TRACE(round);
        Vandal vandal(image, round);
        for (std::size_t copy = 0; copy < copies.size(); ++copy)
            if (round % 2 == 0 || copy == 0) vandal.flip(copies[copy]);
        write(vandal.bytes());
        Proxy proxy(patch());
        for (std::size_t i = 0; i < some; ++i) {
            auto const path = Library::path(i);
            auto const version = Library::version_of(path, get(proxy, origin(), path).body());
            EXPECT_GE(version.value_or(0), i % 3 == 0 ? 2 : 1) << path;
        }
    }
}

TEST_F(Damage, by_a_cut_anywhere_is_never_served) {
    fill();
    stop();
    auto const image = this->image();
    library().renew_all();
    for (unsigned round = 0; round < 8; ++round) {
        Vandal vandal(image, round);
        // Most of the file may be space that was never used.
        vandal.cut(65'536 + vandal.below(round < 6 ? 8u << 20 : image.bytes().size() - 65'536));
        SCOPED_TRACE(vandal.bytes().size());
        write(vandal.bytes());
        start();
        ask_for_all(true);
        stop();
    }
}

TEST_F(Damage, by_segments_that_were_swapped_is_never_served) {
    fill();
    stop();
    auto const image = this->image();
    library().renew_all();
    for (unsigned round = 0; round < 4; ++round) {
        Vandal vandal(image, round);
        for (int i = 0; i < 4; ++i) vandal.swap(image.segments()[vandal.below(12)].place, image.segments()[vandal.below(12)].place);
        write(vandal.bytes());
        start();
        EXPECT_GT(ask_for_all(true), 0u);
        stop();
    }
}

TEST_F(Damage, of_one_piece_of_a_long_body_is_mended_and_sends_nothing_wrong) {
    auto const body = pattern(5'000'000, 3);
    origin().answer("/film", fresh(body, 600, {{"ETag", R"("1")"}}));
    start();
    EXPECT_TRUE(get(proxy(), origin(), "/film").body() == body);
    stop();
    auto const image = this->image();
    auto const records = with_body(image);
    for (std::size_t i = 0; i < records.size(); i += 4) {
        SCOPED_TRACE(i);
        Vandal vandal(image, static_cast<unsigned>(i));
        vandal.flip(records[i].body);
        write(vandal.bytes());
        start();
        auto reply = get(proxy(), origin(), "/film");
        EXPECT_TRUE(reply.complete());
        EXPECT_TRUE(reply.body() == body);
        auto again = get(proxy(), origin(), "/film");
        EXPECT_TRUE(again.body() == body) << again.body().size() << again.field("Cache-Status");
        EXPECT_TRUE(get(proxy(), origin(), "/film").body() == body);
        EXPECT_GE(figure("damaged"), 1u);
        stop();
    }
}

TEST_F(Damage, while_the_proxy_runs_is_never_served) {
    fill(little_memory);
    ASSERT_TRUE(eventually([&] { return figure("buffered_bytes") == 0; }));
    auto const image = this->image();
    Vandal vandal(image, 1);
    for (int i = 0; i < 60; ++i) vandal.damage(of_records);
    // Writes in place, because the proxy has this file open.
    std::fstream(file(), std::ios::binary | std::ios::in | std::ios::out)
        .write(vandal.bytes().data(), static_cast<std::streamsize>(vandal.bytes().size()));
    library().renew_all();
    ask_for_all();
    EXPECT_GT(figure("damaged"), 5u);
}

}   // namespace garner::test
