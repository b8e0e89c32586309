// Rules for the source: layers, pure modules, checked mutexes, and no co_await that g++ 12 miscompiles.
#include "house/await_forms.hpp"
#include "house/documented.hpp"
#include "house/layers.hpp"
#include "house/links.hpp"
#include "house/mutexes.hpp"
#include "support/places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace garner::house {
namespace {

namespace fs = std::filesystem;

std::string text_of(fs::path const& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

Sources sources_below(char const* folder) {
    auto const root = fs::path(test::source(folder));
    Sources sources;
    for (auto const& entry : fs::recursive_directory_iterator(root)) {
        auto const kind = entry.path().extension();
        if (kind != ".hpp" && kind != ".cpp") continue;
        sources[fs::relative(entry.path(), root).generic_string()] = text_of(entry.path());
    }
    return sources;
}

Sources the_sources() { return sources_below("src"); }

void expect_none(std::vector<Breach> const& breaches) {
    for (auto const& breach : breaches) ADD_FAILURE() << "src/" << breach.file << ":" << breach.line << ": " << breach.what;
}

std::vector<fs::path> documents() {
    auto const root = fs::path(test::source(""));
    std::vector<fs::path> files;
    auto add = [&](fs::path const& file) {
        if (file.extension() == ".md") files.push_back(file);
    };
    for (auto const& entry : fs::directory_iterator(root)) add(entry.path());
    for (auto const* folder : {"docs", "tests", "tools"})
        for (auto const& entry : fs::recursive_directory_iterator(root / folder)) add(entry.path());
    return files;
}

std::string first(std::vector<Breach> const& breaches) {
    return breaches.empty() ? "" : breaches[0].file + ":" + std::to_string(breaches[0].line) + ": " + breaches[0].what;
}

std::string layers_of(std::string const& file, std::string_view text) { return first(breaches_of_layers(file, text)); }

std::string await_fault(std::string_view expression) {
    auto const found = first(breaches_of_await_forms("f", expression));
    return found.substr(0, found.find(" in a co_await"));
}

TEST(House, every_file_includes_its_own_module_or_lower_layers) {
    auto const sources = the_sources();
    ASSERT_FALSE(sources.empty());
    for (auto const& [file, text] : sources) expect_none(breaches_of_layers(file, text));
}

TEST(House, the_pure_modules_include_neither_asio_nor_beast) { expect_none(breaches_of_pure_modules(the_sources())); }

TEST(House, no_co_await_has_a_form_that_gcc_12_destroys_twice) {
    for (auto const& [file, text] : the_sources()) expect_none(breaches_of_await_forms(file, text));
}

TEST(House, every_mutex_is_one_that_is_checked_and_guards_something) {
    for (auto const& [file, text] : the_sources()) expect_none(breaches_of_mutexes(file, text));
}

TEST(House, every_test_that_the_conformance_table_names_exists) {
    std::string const file = "docs/results/conformance.md";
    std::set<std::string> tests;
    for (auto const& [source, text] : sources_below("tests")) collect_tests(text, tests);
    auto const document = text_of(test::source(file));
    ASSERT_NE(document, "") << file << " is not there";
    for (auto const& breach : breaches_of_named_tests(file, document, tests))
        ADD_FAILURE() << breach.file << ":" << breach.line << ": " << breach.what;
}

TEST(House, every_relative_link_of_a_document_leads_somewhere) {
    ASSERT_FALSE(documents().empty());
    for (auto const& document : documents()) {
        for (auto const& link : relative_links(text_of(document))) {
            auto const target = link.file.empty() ? document : document.parent_path() / link.file;
            EXPECT_TRUE(fs::exists(target)) << document.string() << ":" << link.line << ": no file " << link.file;
            if (!link.anchor.empty() && fs::is_regular_file(target))
                EXPECT_TRUE(anchors_of(text_of(target)).contains(link.anchor))
                    << document.string() << ":" << link.line << ": " << link.file << " has no heading for #" << link.anchor;
        }
    }
}

TEST(House, only_the_module_h2_includes_nghttp2) {
    for (auto const& [file, text] : the_sources())
        for (auto const& include : includes(text))
            EXPECT_TRUE(!include.path.starts_with("nghttp2/") || file.starts_with("h2/")) << "src/" << file << ":" << include.line;
}

TEST(House, only_io_log_includes_spdlog_and_fmt) {
    for (auto const& [file, text] : the_sources())
        for (auto const& include : includes(text))
            EXPECT_TRUE(!(include.path.starts_with("spdlog/") || include.path.starts_with("fmt/")) || file == "io/log.hpp" ||
                        file == "io/stderr_log.cpp")
                << "src/" << file << ":" << include.line;
}

TEST(House, the_proxy_names_no_type_of_the_disk) {
    for (auto const& [file, text] : the_sources()) {
        if (!file.starts_with("proxy/")) continue;
        auto const code = code_only(text);
        for (auto const* word : {"DiskStore", "DiskFill", "DiskOptions", "DiskTier", "NotStored", "disk_"})
            EXPECT_EQ(code.find(word), code.npos) << "src/" << file << " names " << word << ": the cache decides what goes to disk";
    }
}

TEST(House, a_file_is_found_by_its_name_alone) {
    std::map<std::string, std::string> folders;
    for (auto const& [file, text] : the_sources()) {
        auto const name = fs::path(file).stem().string(), folder = fs::path(file).parent_path().string();
        if (name == "options") continue;   // each module may have its own
        auto const known = folders.emplace(name, folder).first->second;
        EXPECT_EQ(known, folder) << "src/" << file << ": " << known << " has a file of this name";
    }
}

TEST(HouseRules, mutexes_of_the_standard_library_are_breaches) {
    auto const found = [](std::string_view text) { return first(breaches_of_mutexes("a/b.hpp", text)); };
    EXPECT_EQ(found("\nstd::mutex mutex_;"), "a/b.hpp:2: std::mutex is not checked: take what util/mutex.hpp has");
    EXPECT_EQ(found("std::unique_lock lock(mutex_);"), "a/b.hpp:1: std::unique_lock is not checked: take what util/mutex.hpp has");
    EXPECT_NE(found("std::shared_mutex a;"), "");
    EXPECT_NE(found("std::condition_variable a;"), "");
    EXPECT_EQ(found("MutexLock const lock(mutex_);   // std::mutex"), "");
    EXPECT_EQ(first(breaches_of_mutexes("util/mutex.hpp", "std::mutex mutex_;")), "");
}

TEST(HouseRules, a_class_with_a_mutex_and_nothing_guarded_is_a_breach) {
    auto const found = [](std::string_view text) { return first(breaches_of_mutexes("f", text)); };
    auto const fault = "f:1: has a Mutex, and nothing that is GUARDED_BY it";
    EXPECT_EQ(found("class A final : public B { void f(); mutable Mutex mutex_; int a_; };"), fault);
    EXPECT_EQ(found("struct A { struct B { Mutex b; int c GUARDED_BY(b); }; Mutex a; };"), fault);
    EXPECT_EQ(found("struct A { Mutex a; int b GUARDED_BY(a) = 0; };"), "");
    EXPECT_EQ(found("struct A { Mutex& of(int); Mutex& other_; struct B { Mutex b; int c GUARDED_BY(b){}; }; };"), "");
}

TEST(HouseRules, downwards_and_the_own_module_are_allowed) {
    EXPECT_EQ(layers_of("cache/fill.cpp", "#include \"cache/fill.hpp\"\n#include \"util/intrusive_list.hpp\""), "");
    EXPECT_EQ(layers_of("util/intrusive_list.hpp", "#include <vector>"), "");
    EXPECT_EQ(layers_of("main.cpp", "#include \"config/load.hpp\"\n#include \"admin/metrics.hpp\""), "");
}

TEST(HouseRules, upwards_and_sideways_are_breaches_with_their_line) {
    EXPECT_EQ(layers_of("http/uri.cpp", "\n  #  include \"cache/key.hpp\""), "http/uri.cpp:2: includes upwards: cache/key.hpp");
    EXPECT_EQ(layers_of("http/uri.cpp", "#include \"net/asio.hpp\""), "http/uri.cpp:1: includes sideways: net/asio.hpp");
    EXPECT_EQ(layers_of("config/load.cpp", "#include \"main.cpp\""), "config/load.cpp:1: includes upwards: main.cpp");
}

TEST(HouseRules, unknown_modules_are_breaches) {
    EXPECT_EQ(layers_of("attic/box.cpp", ""), "attic/box.cpp:1: no module: 'attic'");
    EXPECT_EQ(layers_of("box.cpp", ""), "box.cpp:1: no module: ''");
    EXPECT_EQ(layers_of("http/uri.cpp", "#include \"uri.hpp\""), "http/uri.cpp:1: \"uri.hpp\" names no module");
}

TEST(HouseRules, asio_in_a_pure_module_is_found_through_other_files_too) {
    Sources const sources{
        {"net/asio.hpp", "#include <boost/asio/ip/tcp.hpp>"},
        {"net/worker.hpp", "#include \"net/asio.hpp\""},
        {"crawl/direct.cpp", "\n#include <boost/beast/core.hpp>"},
        {"crawl/service.cpp", "#include <vector>\n#include \"net/worker.hpp\""},
        {"crawl/circle.hpp", "#include \"crawl/circle.hpp\""},
    };
    auto const breaches = breaches_of_pure_modules(sources);
    ASSERT_EQ(breaches.size(), 2u);
    EXPECT_EQ(first(breaches), "crawl/direct.cpp:2: brings Asio or Beast into a pure module: boost/beast/core.hpp");
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

TEST(HouseRules, a_document_names_only_tests_that_exist) {
    std::set<std::string> tests;
    collect_tests("TEST(Age, is_a_number) {}\nTEST_F( Parts,\n  are_joined ) {}\n// TEST(Age, is_old)\nMY_TEST(A, b)", tests);
    EXPECT_EQ(tests, (std::set<std::string>{"Age.is_a_number", "Parts.are_joined"}));
    auto const found = [&](std::string const& text) { return first(breaches_of_named_tests("d.md", text, tests)); };
    EXPECT_EQ(found("`Age.is_a_number`, `Parts.are_joined`; `memory.size` and Age.is_plain are no tests"), "");
    EXPECT_EQ(found("x\n\n| `Age.is_old` |"), "d.md:3: names a test that does not exist: Age.is_old (renamed? removed?)");
}

TEST(HouseRules, links_and_the_anchors_of_headings_are_found) {
    auto const text = "# Disk & `memory`\n[a](b.md#c)\n```\n# no heading [x](y.md)\n```\n## More\n## More\n"
                      "`[d](e)` [f](http://g) [h](#more)";
    EXPECT_EQ(anchors_of(text), (std::set<std::string>{"disk--memory", "more", "more-1"}));
    auto const links = relative_links(text);
    ASSERT_EQ(links.size(), 2u);
    EXPECT_EQ(links[0].file + "#" + links[0].anchor, "b.md#c");
    EXPECT_EQ(links[0].line, 2u);
    EXPECT_EQ(links[1].file + "#" + links[1].anchor, "#more");
    EXPECT_EQ(links[1].line, 8u);
}

TEST(HouseRules, comments_and_literals_are_not_code) {
    EXPECT_EQ(await_fault("// co_await f({})\n/* co_await f({}) */ g();"), "");
    EXPECT_EQ(await_fault("g(\"co_await f({})\", R\"x(co_await f({}))x\");"), "");
    EXPECT_EQ(await_fault("co_await f('{', \"{\\\"\", 1'000); my_co_await({});"), "");
    EXPECT_EQ(first(breaches_of_await_forms("f", "int a;\n\n// x {\nco_await f(\n  {});")).substr(0, 4), "f:4:");
}

}   // namespace
}   // namespace garner::house
