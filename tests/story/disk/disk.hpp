// A proxy with a disk that is stopped, killed and started again, and an origin whose bodies can be verified.
#pragma once
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "story/scene.hpp"
#include "support/disk_image.hpp"

namespace garner::test {

/// A number of objects that fits in memory and on disk.
inline constexpr std::size_t some = 32;

/// A number from the environment: repetitions of a scene in a long run.
inline std::size_t times(char const* name, std::size_t otherwise) {
    auto const* text = std::getenv(name);
    return text ? std::stoul(text) : otherwise;
}

/// An origin with a work for every path "/17", in versions from 1. Each body is determined by path and version.
class Library {
public:
    Library() {
        origin_.otherwise([this](Hand& hand) { answer(hand); });
    }
    Origin& origin() { return origin_; }
    static std::string path(std::size_t number) { return "/" + std::to_string(number); }

    int version(std::string const& path) const {
        std::lock_guard const lock(mutex_);
        auto const found = versions_.find(path);
        return found == versions_.end() ? all_ : found->second;
    }
    /// The origin has the next version from now on.
    int renew(std::string const& path) {
        std::lock_guard const lock(mutex_);
        auto const found = versions_.try_emplace(path, all_).first;
        return ++found->second;
    }
    void renew_all() {
        std::lock_guard const lock(mutex_);
        ++all_;
        for (auto& [path, version] : versions_) version = std::max(version + 1, all_);
    }

    static std::string body(std::string const& path, int version) {
        auto const title = path + " version " + std::to_string(version) + "\n";
        auto const seed = std::hash<std::string>{}(title);
        return title + pattern(size_of(path), static_cast<unsigned>(seed));
    }
    /// The version of a body, verified to the last byte; empty if it is no version of this path.
    static std::optional<int> version_of(std::string const& path, std::string const& body) {
        auto const begins = path + " version ";
        if (!body.starts_with(begins)) return std::nullopt;
        int const version = std::atoi(body.c_str() + begins.size());
        if (body != Library::body(path, version)) return std::nullopt;
        return version;
    }

    static std::size_t size_of(std::string const& path) {
        // Small ones, those close to the limit of one record, and those in several pieces.
        constexpr std::size_t sizes[] = {300,  1000,    20'000, 700, 65'490,  5000,   65'536, 0,
                                         2000, 100'000, 9000,   800, 270'000, 30'000, 4000,   60'000};
        return sizes[static_cast<std::size_t>(std::atoi(path.c_str() + 1)) % std::size(sizes)];
    }

private:
    void answer(Hand& hand) {
        hand.read_body();
        auto const& request = hand.request().head;
        if (request.method() != "GET") return hand.answer(no_store("done"));
        auto path = request.target();
        if (!path.starts_with('/')) path = path.substr(path.find('/', 7));
        auto const now = version(path);
        auto const tag = "\"" + std::to_string(now) + "\"";
        auto reply = fresh(body(path, now), 100'000, {{"ETag", tag}});
        if (request.field("If-None-Match") == tag) {
            reply.status = 304;
            reply.body.clear();
        }
        hand.answer(reply);
    }

    mutable std::mutex mutex_;
    std::map<std::string, int> versions_;
    int all_ = 1;
    Origin origin_;
};

/// One disk, and successive proxies on it.
class DiskScene : public ::testing::Test {
public:
    /// Fills always get memory, and after a start all objects come from disk.
    /// With little memory they come from disk at other times too.
    static constexpr auto enough_memory = R"({"memory": {"size": "32 MiB", "object_max": "1 MiB"}})";
    static constexpr auto little_memory = R"({"memory": {"size": "2 MiB"}})";

    std::string patch(std::string const& more = "{}") const {
        // A shared disk may be slow, but must be used all the same.
        auto patch = nlohmann::json{{"disk", {{"path", folder().string()}, {"size", "64 MiB"}, {"timeout", "10s"}}}};
        patch.merge_patch(nlohmann::json::parse(enough_memory));
        patch.merge_patch(nlohmann::json::parse(more));
        return patch.dump();
    }
    Proxy& start(std::string const& more = "{}") {
        proxy_.reset();
        proxy_ = std::make_unique<Proxy>(patch(more));
        EXPECT_TRUE(eventually([&] { return disk()["state"] == "working"; })) << disk().dump(1);
        return *proxy_;
    }
    /// SIGTERM.
    void stop() {
        proxy_->stop();
        proxy_.reset();
    }
    /// SIGKILL.
    void kill() {
        proxy_->kill();
        proxy_.reset();
    }
    Proxy& proxy() { return *proxy_; }
    nlohmann::json disk() { return proxy_->stats()["disk"]; }
    std::uint64_t figure(char const* name) { return disk()[name].get<std::uint64_t>(); }

    /// Waits until `count` objects were stored and written to the file.
    void wait_until_written(std::size_t count) {
        EXPECT_TRUE(eventually([&] {
            auto const now = disk();
            return now["stored"].get<std::size_t>() >= count && now["buffered_bytes"] == 0;
        })) << disk().dump(1);
    }

    Library& library() { return library_; }
    Origin& origin() { return library_.origin(); }
    std::filesystem::path folder() const { return dir_.path("disk"); }
    std::filesystem::path file() const { return folder() / "store"; }
    DiskImage image() const { return DiskImage::read(file()); }
    TempDir const& dir() const { return dir_; }

    /// Requests a work and returns the version. A wrong body fails the test.
    int ask(std::string const& path, Fields const& fields = {}, bool* hit = nullptr) {
        auto reply = Client(proxy(), origin()).get(path, fields);
        auto const version = Library::version_of(path, reply.body());
        EXPECT_EQ(reply.status(), 200) << path << reply.trouble();
        EXPECT_TRUE(reply.complete()) << path;
        EXPECT_TRUE(version.has_value()) << path << ": " << reply.body().size() << " bytes: " << reply.body().substr(0, 60);
        if (hit) *hit = reply.hit();
        return version.value_or(0);
    }
    /// Requests the first `count` works; returns the number of hits.
    std::size_t ask_all(std::size_t count) {
        std::size_t hits = 0;
        for (std::size_t i = 0; i < count; ++i) {
            bool hit = false;
            ask(Library::path(i), {}, &hit);
            hits += hit;
        }
        return hits;
    }

private:
    TempDir dir_;
    Library library_;
    std::unique_ptr<Proxy> proxy_;
};

}   // namespace garner::test
