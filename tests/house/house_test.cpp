// The house keeps its own rules: floors, pure rooms, and no co_await that g++ 12 miscompiles.
#include "house/await_forms.hpp"
#include "house/floors.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace garner::house {
namespace {

Sources the_house() {
    namespace fs = std::filesystem;
    fs::path const src = fs::path(GARNER_SOURCE_DIR) / "src";
    Sources sources;
    for (auto const& entry : fs::recursive_directory_iterator(src)) {
        auto const kind = entry.path().extension();
        if (kind != ".hpp" && kind != ".cpp") continue;
        std::ostringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        sources[fs::relative(entry.path(), src).generic_string()] = text.str();
    }
    return sources;
}

void expect_none(std::vector<Breach> const& breaches) {
    for (auto const& breach : breaches)
        ADD_FAILURE() << "src/" << breach.file << ":" << breach.line << ": " << breach.what;
}

std::string first(std::vector<Breach> const& breaches) {
    return breaches.empty() ? "" : breaches[0].file + ":" + std::to_string(breaches[0].line) + ": " + breaches[0].what;
}

std::string floors_of(std::string const& file, std::string_view text) { return first(breaches_of_floors(file, text)); }

std::string await_fault(std::string_view expression) {
    auto const found = first(breaches_of_await_forms("f", expression));
    return found.substr(0, found.find(" in a co_await"));
}

TEST(House, every_file_includes_its_own_room_or_lower_floors) {
    auto const sources = the_house();
    ASSERT_FALSE(sources.empty());
    for (auto const& [file, text] : sources) expect_none(breaches_of_floors(file, text));
}

TEST(House, the_pure_rooms_see_neither_asio_nor_beast) { expect_none(breaches_of_pure_rooms(the_house())); }

TEST(House, no_co_await_has_a_form_that_gcc_12_destroys_twice) {
    for (auto const& [file, text] : the_house()) expect_none(breaches_of_await_forms(file, text));
}

TEST(HouseRules, downwards_and_the_own_room_are_allowed) {
    EXPECT_EQ(floors_of("cache/fill.cpp", "#include \"cache/fill.hpp\"\n#include \"util/link.hpp\""), "");
    EXPECT_EQ(floors_of("util/link.hpp", "#include <vector>"), "");
    EXPECT_EQ(floors_of("main.cpp", "#include \"config/load.hpp\"\n#include \"admin/metrics.hpp\""), "");
}

TEST(HouseRules, upwards_and_sideways_are_breaches_with_their_line) {
    EXPECT_EQ(floors_of("http/uri.cpp", "\n  #  include \"cache/key.hpp\""),
              "http/uri.cpp:2: includes upwards: cache/key.hpp");
    EXPECT_EQ(floors_of("http/uri.cpp", "#include \"net/asio.hpp\""),
              "http/uri.cpp:1: includes sideways: net/asio.hpp");
    EXPECT_EQ(floors_of("config/load.cpp", "#include \"main.cpp\""), "config/load.cpp:1: includes upwards: main.cpp");
}

TEST(HouseRules, unknown_rooms_are_breaches) {
    EXPECT_EQ(floors_of("attic/box.cpp", ""), "attic/box.cpp:1: no room of the house: 'attic'");
    EXPECT_EQ(floors_of("box.cpp", ""), "box.cpp:1: no room of the house: ''");
    EXPECT_EQ(floors_of("http/uri.cpp", "#include \"uri.hpp\""),
              "http/uri.cpp:1: \"uri.hpp\" names no room of the house");
}

TEST(HouseRules, asio_in_a_pure_room_is_found_through_other_files_too) {
    Sources const sources{
        {"net/asio.hpp", "#include <boost/asio/ip/tcp.hpp>"},
        {"net/worker.hpp", "#include \"net/asio.hpp\""},
        {"crawl/direct.cpp", "\n#include <boost/beast/core.hpp>"},
        {"crawl/service.cpp", "#include <vector>\n#include \"net/worker.hpp\""},
        {"crawl/circle.hpp", "#include \"crawl/circle.hpp\""},
    };
    auto const breaches = breaches_of_pure_rooms(sources);
    ASSERT_EQ(breaches.size(), 2u);
    EXPECT_EQ(first(breaches), "crawl/direct.cpp:2: brings Asio or Beast into a pure room: boost/beast/core.hpp");
    EXPECT_EQ(breaches[1].file, "crawl/service.cpp");
    EXPECT_EQ(breaches[1].line, 2u);
}

TEST(HouseRules, lambdas_that_capture_by_value_are_not_awaited) {
    auto const fault = "f:1: a lambda that captures by value";
    EXPECT_EQ(await_fault("co_await run([=] { });"), fault);
    EXPECT_EQ(await_fault("co_await run([key] { });"), fault);
    EXPECT_EQ(await_fault("co_await run(a, [&x, owner = std::move(y)]() { });"), fault);
    EXPECT_EQ(await_fault("auto r = co_await [self]() -> awaitable<void> { co_return; }();"), fault);
    EXPECT_EQ(await_fault("co_await run([&] { f({1, 2}); }, [&x](int) { }, [this] { }, [] { }, list[i]);"), "");
}

TEST(HouseRules, brace_lists_are_not_awaited) {
    auto const fault = "f:1: a brace list";
    EXPECT_EQ(await_fault("co_await fetch(FetchOptions{.peer = peer});"), fault);
    EXPECT_EQ(await_fault("co_await fetch(url, {});"), fault);
    EXPECT_EQ(await_fault("co_await Awaiter{x};"), fault);
    EXPECT_EQ(await_fault("if (co_await ready()) { go(Options{1}); }"), "");
    EXPECT_EQ(await_fault("for (auto x : co_await all(y)) { }  Options o{co_await number()};"), "");
}

TEST(HouseRules, a_choice_between_temporaries_is_not_awaited) {
    auto const fault = "f:1: ?: between temporaries";
    EXPECT_EQ(await_fault("co_await send(ok ? Page(1) : Page(2));"), fault);
    EXPECT_EQ(await_fault("co_await (ok ? a() : b());"), fault);
    EXPECT_EQ(await_fault("co_await send(ok ? http::first : http::second, n ? 1 : 2);"), "");
    EXPECT_EQ(await_fault("auto n = ok ? co_await a() : co_await b();"), "");
}

TEST(HouseRules, nothing_is_awaited_behind_a_junction_in_the_condition_of_a_while) {
    auto const fault = "f:1: && or || of while";
    EXPECT_EQ(await_fault("while (open && co_await more()) { }").substr(0, 26), fault);
    EXPECT_EQ(await_fault("while (!open || (tries && co_await more())) { }").substr(0, 26), fault);
    EXPECT_EQ(await_fault("while (co_await more()) { }"), "");
    EXPECT_EQ(await_fault("while (a && b) { co_await more(); }"), "");
    EXPECT_EQ(await_fault("if (open && co_await more()) { }"), "");
}

TEST(HouseRules, comments_and_literals_are_not_code) {
    EXPECT_EQ(await_fault("// co_await f({})\n/* co_await f({}) */ g();"), "");
    EXPECT_EQ(await_fault("g(\"co_await f({})\", R\"x(co_await f({}))x\");"), "");
    EXPECT_EQ(await_fault("co_await f('{', \"{\\\"\", 1'000); my_co_await({});"), "");
    EXPECT_EQ(first(breaches_of_await_forms("f", "int a;\n\n// x {\nco_await f(\n  {});")).substr(0, 4), "f:4:");
}

}  // namespace
}  // namespace garner::house
