// Request smuggling needs two parsers that disagree: compares Garner's with Node's.
#include "hostile/hostile.hpp"
#include "support/child.hpp"
#include "support/places.hpp"
#include "support/programs.hpp"

namespace garner::test {

TEST(HostileParsers, garner_and_llhttp_read_alike_or_differ_as_documented) {
    NEEDS("node");
    auto const compared = run({"node", source("tests/parsers/compare.js"), built("request_verdicts"), "5000", "1"});
    EXPECT_EQ(compared.code, 0) << compared.output << compared.errors;
    EXPECT_THAT(compared.output, HasSubstr("read alike"));
    auto const documented = read_file(source("docs/results/conformance.md"));
    for (std::size_t at = compared.output.find('\n'); at + 1 < compared.output.size(); at = compared.output.find('\n', at + 1)) {
        auto const line = compared.output.substr(at + 1, compared.output.find('\n', at + 1) - at - 1);
        auto const name = line.substr(line.find_first_not_of(" 0123456789"));
        EXPECT_THAT(documented, HasSubstr("| " + name + " |"));
    }
}

}   // namespace garner::test
