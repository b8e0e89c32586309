#include "support/mutations.hpp"

#include <cstdlib>
#include <random>
#include <sstream>

namespace garner::test {

namespace {

constexpr std::size_t longest = 1000;

struct Amount {
    std::size_t count;
    unsigned seed = 9112;
};

Amount amount(std::size_t usual) {
    Amount asked{.count = usual};
    if (char const* text = std::getenv("GARNER_DIFFERENTIAL")) std::istringstream(text) >> asked.count >> asked.seed;
    return asked;
}

}   // namespace

std::vector<std::string> mutated(std::vector<std::string> const& sources, std::vector<std::string> const& words,
                                 std::size_t usual) {
    auto const [count, seed] = amount(usual);
    std::mt19937 random(seed);
    auto const below = [&](std::size_t bound) { return random() % bound; };
    std::vector<std::string> made;
    while (made.size() < count) {
        auto text = sources[below(sources.size())];
        if (text.size() > longest) continue;
        for (auto times = below(4) ? 1 : 2; times > 0 && !text.empty(); --times) {
            auto const at = below(text.size());
            auto const& word = words[below(words.size())];
            switch (below(4)) {
            case 0: text.erase(at, 1 + below(3)); break;
            case 1: text.insert(at, word); break;
            case 2: text.replace(at, 1, word); break;
            default: {
                auto const from = below(text.size());
                text.insert(at, text.substr(from, 1 + below(30)));
            }
            }
        }
        made.push_back(std::move(text));
    }
    return made;
}

}   // namespace garner::test
