// The documents: every configuration in them is valid, their commands succeed, and those of docs/getting-started.md and
// docs/guides/users.md have the outputs on the page.
#include <fnmatch.h>
#include <signal.h>

#include <map>
#include <regex>
#include <sstream>

#include "story/scene.hpp"
#include "support/places.hpp"
#include "support/programs.hpp"

namespace garner::test {

namespace {

/// A fenced block of a document.
struct Block {
    std::string language;
    std::string text;
    std::string place;     // "docs/guides/peering.md:12"
    bool checked = true;   // false if the comment above it excludes it
};

std::vector<Block> blocks_of(std::string const& document, std::string const& text) {
    std::vector<Block> blocks;
    std::istringstream lines(text);
    bool inside = false, skip_next = false;
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.starts_with("```")) {
            if (!inside) blocks.push_back({line.substr(3), "", document + ":" + std::to_string(number), !skip_next});
            inside = !inside;
            skip_next = false;
        } else if (inside) {
            blocks.back().text += line + "\n";
        } else if (!line.empty()) {
            skip_next = line.starts_with("<!-- fragment: not checked");
        }
    }
    EXPECT_FALSE(inside) << document << " has a block without an end";
    return blocks;
}

std::vector<Block> blocks_of(std::string const& document) { return blocks_of(document, read_file(source(document))); }

std::vector<std::string> documents_with_configurations() {
    std::vector<std::string> documents{"README.md", "docs/getting-started.md"};
    for (auto const& entry : std::filesystem::directory_iterator(source("docs/guides")))
        if (entry.path().extension() == ".md") documents.push_back("docs/guides/" + entry.path().filename().string());
    std::ranges::sort(documents);
    return documents;
}

/// True if `output` matches `expected`, in which "…" stands for any text.
bool looks_like(std::string const& output, std::string const& expected) {
    auto const escaped = std::regex_replace(expected, std::regex(R"([\[\]*?\\])"), R"(\$&)");
    auto const pattern = filled_in(escaped, {{"…", "*"}});
    return ::fnmatch(pattern.c_str(), filled_in(output, {{"\r", ""}}).c_str(), 0) == 0;
}

/// A reader of a document with commands, with a temporary folder, an origin in place of example.com, and free ports.
class GuideReader {
public:
    GuideReader() {
        origin_.answer("/", fresh("a page"));
        std::filesystem::create_directory(dir_.path("bin"));
        // clang-format off
        auto const program = dir_.write("bin/garner", "#!/bin/bash\n"
            "access=(--set 'access=[{\"allow\":{\"destination\":\"127.0.0.0/8\"}}]')\n"
            "ports=(--set listen[0].address=127.0.0.1:" + port("3128") + " --set admin.address=127.0.0.1:" + port("3131") + ")\n"
            "case \"$*\" in\n"
            "check*|--version|rules*) ;;\n"
            "*neighbour.json*) set -- \"${access[@]}\" --set icp.timeout_min=1s \"$@\" ;;\n"    // slow on a busy machine
            "*garner.json*) set -- \"${ports[@]}\" \"$@\" ;;\n"
            "*) set -- \"${ports[@]}\" \"${access[@]}\" \"$@\" ;;\n"
            "esac\n"
            "exec " + garner_binary() + " \"$@\"\n");
        // clang-format on
        std::filesystem::permissions(program, std::filesystem::perms(0755));
    }

    /// The page's text with this reader's ports and addresses.
    std::string adapted(std::string text) {
        for (auto const* standard : {"3128", "3130", "3228", "3231"})
            text = std::regex_replace(text, std::regex("\\b" + std::string(standard) + "\\b"), port(standard));
        auto const here = R"("source": ["127.0.0.0/8", "::1"])";
        return filled_in(text, {{"http://example.com", origin_.url()},
                                {here, here + std::string(R"(, "destination": "127.0.0.0/8")")},
                                {"tools/run", "garner"},
                                {"build/release/garner", "garner"}});
    }

    void follow(Block const& block) {
        bool const starts_proxy = std::regex_match(block.text, std::regex("garner( --config \\S+)?\n"));
        if (block.language == "text") {
            EXPECT_TRUE(looks_like(output_, block.text)) << block.place << " shows:\n" << block.text << "not:\n" << output_;
        } else if (starts_proxy) {
            bool const neighbour = block.text.find("neighbour") != block.text.npos;
            start(block, neighbour ? "3228" : "3128", neighbour ? "3231" : "3131");
        } else {
            auto const finished = run({"bash", "-c", in_folder("set -e\n" + block.text)});
            EXPECT_EQ(finished.code, 0) << block.place << "\n" << block.text << finished.errors;
            output_ = finished.output;
        }
    }

    void file(std::string const& name, std::string const& text) { dir_.write(name, text); }
    Origin& origin() { return origin_; }

    void press_ctrl_c() {
        while (!proxies_.empty()) stop(proxies_.begin()->first);
    }

private:
    std::string port(std::string const& standard) {
        auto& port = ports_[standard];
        if (port == 0) port = free_port();
        return std::to_string(port);
    }

    std::string in_folder(std::string const& commands) const {
        auto const folder = dir_.path().string();
        return "cd " + folder + "\nexport PATH=" + folder + "/bin:$PATH http_proxy= https_proxy=\n" + commands;
    }

    void start(Block const& block, std::string const& listens, std::string const& admin) {
        if (proxies_.contains(listens)) stop(listens);
        std::vector<std::string> const command{"bash", "-c", in_folder("exec " + block.text)};
        auto& proxy = proxies_[listens] = std::make_unique<Child>(command);
        bool const ready = eventually([&] {
            try {
                Wire::connect("127.0.0.1", ports_[listens]);
                auto const stats = nlohmann::json::parse(Client("127.0.0.1", ports_[admin]).get("/stats.json").body());
                return stats.value(nlohmann::json::json_pointer("/disk/state"), "") != "recovering";
            } catch (std::exception const&) {
                return !proxy->running();
            }
        });
        EXPECT_TRUE(ready && proxy->running()) << block.place << "\n" << proxy->errors();
    }

    void stop(std::string const& listens) {
        auto const proxy = std::move(proxies_.extract(listens).mapped());
        proxy->signal(SIGINT);
        EXPECT_EQ(proxy->exit_code(Millis{30'000}), 0) << proxy->errors();
    }

    TempDir dir_;
    Origin origin_;
    std::map<std::string, std::uint16_t> ports_;              // by port on the page
    std::map<std::string, std::unique_ptr<Child>> proxies_;   // by port on the page
    std::string output_;
};

/// Follows the blocks of a document up to the first failure, and returns their number.
std::size_t follow(GuideReader& reader, std::vector<Block> const& blocks) {
    std::size_t followed = 0;
    for (auto const& block : blocks) {
        reader.follow(block);
        if (::testing::Test::HasFailure()) break;
        ++followed;
    }
    return followed;
}

/// Follows the blocks of a document with a reader of its own.
std::size_t follow(std::string const& document) {
    GuideReader reader;
    auto const followed = follow(reader, blocks_of(document, reader.adapted(read_file(source(document)))));
    reader.press_ctrl_c();
    return followed;
}

/// True for commands that change the machine, need a registry or Redis, or start a server that does not end.
bool is_left_out(std::string const& commands) {
    for (auto const* word : {"sudo ", "podman ", "npm ", "redis-cli", "tools/test", "seen serve", "--set 'listen"})
        if (commands.find(word) != commands.npos) return true;
    return false;
}

/// Runs the commands of the documents one after the other beside one proxy, which has all that the guides configure.
class CommandReader {
public:
    CommandReader() {
        auto const* const config = R"({
            "user": "root",
            "listen": [{"address": "127.0.0.1:3128"},
                       {"address": "127.0.0.1:SITE", "origin": "http://127.0.0.1:8000"},
                       {"address": "127.0.0.1:REGISTRY", "origin": "https://registry.example"}],
            "forwarded_trust": ["127.0.0.0/8"],
            "auth": {"sources": [{"type": "address", "users": {"127.0.0.1": "anna"}}]},
            "access": [{"allow": {"destination": "127.0.0.0/8"}}],
            "disk": {"path": "cache", "size": "64 MiB"},
            "log": {"access": "access.log"},
            "quotas": [{"name": "daily", "user": "*", "per": "day", "bytes": "1 GB"},
                       {"name": "guests", "per": "day", "bytes": "1 GB"}],
            "group": {"name": "lab", "lease": "5s", "address": "127.0.0.1:GROUP", "voters": ["127.0.0.1:GROUP"],
                      "secret": "eight-random-words-or-64-hexadecimal-digits", "replicate": [{"url_contains": "/videos/"}]}
        })";
        auto const port = [] { return std::to_string(free_port()); };
        reader_.file("garner.json", filled_in(config, {{"SITE", port()}, {"REGISTRY", port()}, {"GROUP", port()}}));
        for (auto const* video : {"/videos/1.mp4", "/videos/2.mp4"}) reader_.origin().answer(video, fresh("a video"));
        reader_.origin().answer("/a.jpg", fresh("a picture"));
        reader_.file("squid.log",
                     "1066036250.603 310 10.0.0.7 TCP_MISS/200 1462 GET http://example.com/ - HIER_DIRECT/192.0.2.1 text/html\n");
        reader_.file("urls.txt", "http://example.com/b?y=2&x=1\n");
        reader_.file("trace.csv.zst", "1,/a,100\n2,/b,200\n3,/a,100\n");
        reader_.follow(Block{"sh", "garner --config garner.json\n", "the proxy of this test"});
        auto const fetch = "curl -x http://127.0.0.1:3128 -sf http://example.com/";
        reader_.follow(Block{"sh", reader_.adapted(std::string(fetch) + "a.jpg\n" + fetch + " -H 'X-Forwarded-For: 10.9.0.7'\n"),
                             "the fetches before the guides"});
    }

    ~CommandReader() { reader_.press_ctrl_c(); }

    std::size_t follow(std::string const& document) {
        auto const text = filled_in(read_file(source(document)), {{"/var/log/squid/access.log", "squid.log"},
                                                                  {"tools/chart", source("tools/chart")},
                                                                  {"/var/log/garner/", ""},
                                                                  {"/etc/garner/", ""},
                                                                  {"example.org", "example.com"},
                                                                  {"20000000", "20000"}});
        auto blocks = blocks_of(document, reader_.adapted(text));
        std::erase_if(blocks, [](Block const& block) { return block.language != "sh" || is_left_out(block.text); });
        return test::follow(reader_, blocks);
    }

private:
    GuideReader reader_;
};

}   // namespace

TEST(Documents, every_configuration_has_no_error) {
    std::size_t checked = 0;
    for (auto const& document : documents_with_configurations()) {
        for (auto const& block : blocks_of(document)) {
            if (block.language != "json" || !block.checked) continue;
            TempDir dir;
            auto text = filled_in(block.text, {{"/var/cache", dir.path().string()}, {"/var/log/garner", dir.path().string()}});
            if (!text.starts_with("{")) text = "{" + text + "}";
            auto const finished = run({garner_binary(), "check", dir.write("garner.json", text)});
            EXPECT_EQ(finished.code, 0) << block.place << "\n" << finished.output << finished.errors << text;
            ++checked;
        }
    }
    EXPECT_GT(checked, 10u);
}

TEST(Documents, getting_started_does_what_it_shows) {
    NEEDS("curl");
    EXPECT_GE(follow("docs/getting-started.md"), 15u);
}

TEST(Documents, the_guide_to_users_does_what_it_shows) {
    NEEDS("curl");
    NEEDS("htpasswd");
    EXPECT_GE(follow("docs/guides/users.md"), 10u);
}

TEST(Documents, the_commands_of_every_guide_succeed) {
    NEEDS("curl");
    NEEDS("openssl");
    CommandReader reader;
    std::size_t run = 0;
    for (auto const& document : documents_with_configurations())
        if (!document.ends_with("getting-started.md") && !document.ends_with("users.md")) run += reader.follow(document);
    EXPECT_GE(run, 15u);
}

TEST(Documents, an_ellipsis_stands_for_any_text) {
    EXPECT_TRUE(looks_like("garner-1; detail=\"access[0]: deny\"\r\n", "garner-…; detail=\"access[0]: deny\"\n"));
    EXPECT_FALSE(looks_like("Cache-Status: garner-1; hit\n", "Cache-Status: …; fwd=uri-miss\n"));
    EXPECT_TRUE(looks_like("one\ntwo\nthree\n", "one\n…\n"));
}

}   // namespace garner::test
