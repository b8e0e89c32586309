// Cost of canonical URLs, layers and fingerprints: canonical_urls FILE [ROUNDS]
// FILE has a URL a line. Reports the best of ROUNDS passes (7) over the whole file for each kind of text: ns per URL, ns per input
// byte, allocations per URL.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "crawl/canonical_url.hpp"
#include "crawl/fingerprint.hpp"
#include "crawl/host_splitter.hpp"
#include "crawl/url_layers.hpp"
#include "papers/rabin.hpp"

namespace {

using namespace garner;
using namespace garner::crawl;

std::uint64_t allocations = 0;

using Texts = std::vector<std::string>;

Texts read_lines(char const* file) {
    std::ifstream in(file);
    Texts lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

Texts each(Texts const& from, std::function<std::string(std::string const&)> change) {
    Texts to;
    for (auto const& text : from) to.push_back(change(text));
    return to;
}

std::size_t host_end(std::string const& url) { return std::min(url.find_first_of("/?#", url.find("//") + 2), url.size()); }

std::string with_upper_case_host(std::string url) {
    std::transform(url.begin(), url.begin() + static_cast<std::ptrdiff_t>(host_end(url)), url.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return url;
}

std::string insert(std::string url, std::size_t at, char const* text) { return url.insert(std::min(at, url.size()), text); }

std::uint64_t sink = 0;   // keeps the compiler from removing the work

void measure(char const* what, Texts const& texts, int rounds, auto call) {
    std::size_t bytes = 0;
    for (auto const& text : texts) bytes += text.size();
    double best = 1e300;
    std::uint64_t allocated = 0;
    for (int round = 0; round < rounds; ++round) {
        auto const before = allocations;
        auto const start = std::chrono::steady_clock::now();
        for (auto const& text : texts) sink += call(text);
        std::chrono::duration<double, std::nano> const taken = std::chrono::steady_clock::now() - start;
        best = std::min(best, taken.count());
        allocated = allocations - before;
    }
    auto const count = static_cast<double>(texts.size());
    std::printf("%-34s %7.1f ns a URL %6.2f ns a byte %6.2f allocations\n", what, best / count, best / static_cast<double>(bytes),
                static_cast<double>(allocated) / count);
}

}   // namespace

void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

int main(int count, char** words) {
    if (count < 2) return std::fprintf(stderr, "usage: canonical_urls FILE [ROUNDS]\n"), 2;
    int const rounds = count > 2 ? std::atoi(words[2]) : 7;
    auto const given = read_lines(words[1]);
    CanonicalUrl url, base;
    canonicalise("http://www.example.org/a/b/c.html?d", base);
    Texts canonical;
    for (auto const& text : given)
        if (canonicalise(text, url) == UrlFault::none) canonical.push_back(url.text);
    std::printf("%zu lines, %zu of them URLs\n", given.size(), canonical.size());

    auto absolute = [&](std::string const& text) {
        canonicalise(text, url);
        return url.text.size();
    };
    auto relative = [&](std::string const& text) {
        canonicalise(text, base, url);
        return url.text.size();
    };
    auto behind_host = [&](char const* part) {
        return each(canonical, [=](auto& text) { return insert(text, host_end(text), part); });
    };
    measure("unchanged from the file", given, rounds, absolute);
    measure("canonical", canonical, rounds, absolute);
    measure("canonical, the long way", each(canonical, [](auto& text) { return " " + text; }), rounds, absolute);
    measure("host in upper case", each(canonical, with_upper_case_host), rounds, absolute);
    measure("with a port", behind_host(":8080"), rounds, absolute);
    measure("with dots in the path", behind_host("/a/./b/../.."), rounds, absolute);
    auto const encoded = each(canonical, [](auto& text) { return text + "/a b\xc3\xa9"; });
    measure("with spaces and letters to encode", encoded, rounds, absolute);
    auto const references = each(canonical, [](auto& text) { return text.substr(host_end(text)); });
    measure("relative references", references, rounds, relative);
    auto const international = each(canonical, [](auto& text) { return insert(text, text.find("//") + 2, "b\xc3\xbc."); });
    measure("international hosts", international, 1, absolute);

    auto const layers = *UrlLayers::read("www-strip,default-document,query-sort");
    auto const layered = [&](std::string const& text) {
        canonicalise(text, url);
        layers.apply(url);
        return url.text.size();
    };
    measure("canonical, and three layers", canonical, rounds, layered);
    measure("fingerprint, 64 bits", canonical, rounds, [](std::string const& text) { return fingerprint64(text); });
    measure("fingerprint, 128 bits", canonical, rounds, [](std::string const& text) { return fingerprint128(text).low; });
    papers::Rabin const rabin;
    measure("fingerprint, Rabin's", canonical, rounds, [&](std::string const& text) { return rabin(text); });
    HostSplitter const splitter(5);
    measure("text to fingerprint and partition", given, rounds, [&](std::string const& text) {
        if (canonicalise(text, url) != UrlFault::none) return std::uint64_t{0};
        return fingerprint64(url.text) + splitter.partition_of(url);
    });
    return sink == 0;
}
