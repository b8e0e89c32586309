#include <gtest/gtest.h>

#include <random>

#include "support.hpp"
#include "support/rounds.hpp"

namespace garner::config {
namespace {

// clang-format off
// Tokens that change a configuration's meaning more often than single bytes do.
constexpr char const* pieces[]{"{", "}", "[", "]", ",", ":", "\"", "null", "true", "-1", "1e999", "0.5", "\"all\"",
                               "\"64 MiB\"", "//", "/*", "\n", "\\u0000", "\xff", "18446744073709551616", "\"(\"",
                               "\"::/0\"", "{\"allow\":", "[[[[[[[[", "\"time\": \"Mon\"", "\"port\": \"1-2\""};
// clang-format on

std::string mutated(std::string text, std::mt19937& random) {
    auto const any = [&](std::size_t below) { return random() % below; };
    for (std::size_t changes = 1 + any(8); changes > 0 && !text.empty(); --changes) {
        auto const at = any(text.size());
        switch (any(5)) {
        case 0: text[at] = static_cast<char>(any(256)); break;
        case 1: text.erase(at, 1 + any(20)); break;
        case 2: text.insert(at, pieces[any(std::size(pieces))]); break;
        case 3: text.insert(any(text.size()), text.substr(at, any(200))); break;
        default: text.replace(at, 1, pieces[any(std::size(pieces))]); break;
        }
    }
    return text;
}

TEST(Mutation, no_text_breaks_the_loader) {
    auto const example = contents(repository() / "etc/garner.json");
    ASSERT_FALSE(example.empty());
    std::mt19937 random(2024);
    std::size_t faulty = 0;
    for (auto left = test::rounds(3'000); left > 0; --left) {
        auto const loaded = load(mutated(example, random));
        for (auto const& fault : loaded.faults) EXPECT_FALSE(text_of(fault).empty());
        faulty += loaded.faults.empty() ? 0 : 1;
    }
    EXPECT_GT(faulty, 100u);
}

TEST(Mutation, no_override_breaks_the_loader) {
    std::mt19937 random(7);
    for (char const* set : {"memory.size=64MiB", "listen[0].address=[::1]:80", "access[0].allow.source[1]=::1",
                            "caching.rules=[{\"host\":\".a\",\"never\":true}]"})
        for (auto left = test::rounds(500); left > 0; --left) {
            auto const loaded = load("{\"access\": [{\"deny\": \"all\"}]}", {mutated(set, random)});
            for (auto const& fault : loaded.faults) EXPECT_FALSE(text_of(fault).empty());
        }
}

}   // namespace
}   // namespace garner::config
