// Cost of a crawler's links from their text to their answers: seen_links URLS LINKS.u32 [GARNER [CONNECTIONS]]
// URLS has a URL a line; LINKS.u32 has their numbers in crawl order, as little-endian u32. Sends batches of 10,000 lines of text,
// first on one thread of this process, then, if GARNER is given, to `garner seen serve` over loopback.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "catalog/seen_caches.hpp"
#include "catalog/url_sets.hpp"
#include "crawl/fronted_set.hpp"
#include "seen/body_forms.hpp"
#include "util/check.hpp"

using namespace garner;

extern char** environ;

namespace {

constexpr std::size_t batch_links = 10'000;
constexpr std::size_t links_max = 4'000'000;
constexpr int rounds = 5;

double cpu_now() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
double wall_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Bodies {
    std::vector<std::string> texts;
    std::uint64_t links = 0, bytes = 0;
};

Bodies read_bodies(char const* urls_file, char const* links_file) {
    std::vector<std::string> urls;
    std::ifstream in(urls_file);
    for (std::string line; std::getline(in, line);) urls.push_back(line + "\n");
    std::vector<std::uint32_t> links(links_max);
    std::ifstream numbers(links_file, std::ios::binary);
    numbers.read(reinterpret_cast<char*>(links.data()), static_cast<std::streamsize>(links.size() * sizeof links[0]));
    links.resize(static_cast<std::size_t>(numbers.gcount()) / sizeof links[0] / batch_links * batch_links);
    Bodies bodies;
    for (auto const link : links) {
        if (bodies.links++ % batch_links == 0) bodies.texts.emplace_back();
        bodies.texts.back() += urls.at(link);
        bodies.bytes += urls.at(link).size();
    }
    return bodies;
}

/// Seconds of one thread that each step takes for all links; the best of the rounds.
struct Steps {
    double parse = 0, set = 0, write = 0;
    double all() const { return parse + set + write; }
};

Steps measure_here(Bodies const& bodies, char const* kind, std::uint64_t& fresh) {
    seen::Sorting const sorting;
    seen::LinkSorter sorter(sorting);
    seen::Batch batch;
    std::vector<seen::LinkStatus> answers;
    std::string piece;
    Steps best{1e9, 0, 0};
    for (int round = 0; round < rounds; ++round) {
        auto set = catalog::make_url_set(kind, {.expected = 200'000, .directory = "seen_links.set"});
        check(bool(set));
        crawl::FrontedSet fronted(*catalog::make_cache("line", {.entries = 1 << 16}), *std::move(set));
        Steps steps;
        fresh = 0;
        for (auto const& text : bodies.texts) {
            auto const begin = cpu_now();
            batch.clear(1);
            sorter.begin(batch);
            auto const reader = seen::body_form("text/plain")->make(sorter);
            for (std::size_t at = 0; at < text.size(); at += 64 * KiB) reader->read(std::string_view(text).substr(at, 64 * KiB));
            check(bool(reader->finish()));
            auto const parsed = cpu_now();
            answers.resize(batch.own.size());
            auto const added = fronted.add(batch.own, answers);
            check(added.fault.empty());
            fresh += added.fresh;
            auto const asked = cpu_now();
            batch.take_own(answers);
            seen::ReplyWriter writer(seen::ReplyForm::text, batch.answers);
            check(writer.length() > 0);
            while (writer.next(piece)) {
            }
            steps.parse += parsed - begin, steps.set += asked - parsed, steps.write += cpu_now() - asked;
        }
        if (steps.all() < best.all()) best = steps;
        std::error_code ignored;
        std::filesystem::remove_all("seen_links.set", ignored);
    }
    return best;
}

// ---- over loopback ----

int connect_to(std::uint16_t port) {
    sockaddr_in place{};
    place.sin_family = AF_INET, place.sin_port = htons(port), place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int tries = 0; tries < 200; ++tries) {
        int const fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (::connect(fd, reinterpret_cast<sockaddr*>(&place), sizeof place) == 0) return fd;
        ::close(fd);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    std::fprintf(stderr, "no server listens on port %u\n", port), std::exit(1);
}

void send_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        auto const sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        check(sent > 0);
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

/// Reads one 200 response and returns the length of its body.
std::size_t receive_answer(int fd, std::vector<char>& buffer) {
    std::size_t have = 0, want = SIZE_MAX, length = 0;
    while (have < want) {
        auto const got = ::recv(fd, buffer.data() + have, buffer.size() - have, 0);
        check(got > 0);
        have += static_cast<std::size_t>(got);
        if (want != SIZE_MAX) continue;
        std::string_view const text(buffer.data(), have);
        auto const end = text.find("\r\n\r\n");
        if (end == text.npos) continue;
        check(text.starts_with("HTTP/1.1 200"));
        length = std::strtoul(text.data() + text.find("Content-Length: ") + 16, nullptr, 10);
        want = end + 4 + length;
    }
    return length;
}

void ask(std::uint16_t port, Bodies const& bodies, std::size_t from, std::size_t step) {
    int const fd = connect_to(port);
    std::vector<char> buffer(1 << 20);
    for (auto i = from; i < bodies.texts.size(); i += step) {
        auto const& text = bodies.texts[i];
        send_all(fd, "POST /seen HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\nContent-Length: " +
                         std::to_string(text.size()) + "\r\n\r\n");
        send_all(fd, text);
        check(receive_answer(fd, buffer) >= 4 * batch_links);
    }
    ::close(fd);
}

struct Served {
    double wall = 0, cpu = 0;
};

Served measure_served(Bodies const& bodies, char const* garner, std::size_t connections, bool on_disk) {
    constexpr std::uint16_t port = 31'320;
    std::vector<std::string> words{garner, "seen", "serve", "--listen", "127.0.0.1:" + std::to_string(port)};
    if (on_disk) words.insert(words.end(), {"--path", "seen_links.set"});
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t child = 0;
    check(::posix_spawn(&child, garner, nullptr, nullptr, arguments.data(), environ) == 0);
    ::close(connect_to(port));
    auto const begin = wall_now();
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < connections; ++i) threads.emplace_back([&, i] { ask(port, bodies, i, connections); });
    for (auto& thread : threads) thread.join();
    Served served{wall_now() - begin, 0};
    ::kill(child, SIGTERM);
    rusage used{};
    check(::wait4(child, nullptr, 0, &used) == child);
    auto const seconds = [](timeval time) { return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec); };
    served.cpu = seconds(used.ru_utime) + seconds(used.ru_stime);
    std::error_code ignored;
    std::filesystem::remove_all("seen_links.set", ignored);
    return served;
}

}   // namespace

int main(int count, char** words) {
    if (count < 3) return std::fprintf(stderr, "usage: seen_links URLS LINKS.u32 [GARNER [CONNECTIONS]]\n"), 2;
    auto const bodies = read_bodies(words[1], words[2]);
    auto const links = static_cast<double>(bodies.links);
    std::printf("%.0f links of %.1f bytes in batches of %zu\n", links, static_cast<double>(bodies.bytes) / links, batch_links);
    for (char const* kind : {"lines", "runs"}) {
        std::uint64_t fresh = 0;
        auto const steps = measure_here(bodies, kind, fresh);
        auto const ns = [&](double seconds) { return 1e9 * seconds / links; };
        std::printf("in this process, %-6s %7.2f M links a CPU second; ns a link: %.1f text to fingerprint, %.1f set, %.1f answer; "
                    "%llu new\n",
                    kind, 1e-6 * links / steps.all(), ns(steps.parse), ns(steps.set), ns(steps.write),
                    static_cast<unsigned long long>(fresh));
    }
    if (count < 4) return 0;
    auto const most = static_cast<std::size_t>(count > 4 ? std::atoi(words[4]) : 2);
    for (bool const on_disk : {false, true})
        for (std::size_t connections = 1; connections <= most; ++connections) {
            Served best{1e9, 1e9};
            for (int round = 0; round < rounds; ++round) {
                auto const served = measure_served(bodies, words[3], connections, on_disk);
                if (served.wall < best.wall) best = served;
            }
            std::printf("over loopback, %-6s %zu connections %7.2f M links/s, %.2f M a CPU second of the service\n",
                        on_disk ? "runs" : "lines", connections, 1e-6 * links / best.wall, 1e-6 * links / best.cpu);
        }
}
