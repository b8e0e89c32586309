#include "admin/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <boost/beast/http/fields.hpp>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "admin/compressed.hpp"
#include "admin/explanation.hpp"
#include "admin/metrics.hpp"
#include "admin/page_changes.hpp"
#include "admin/page_sections.hpp"
#include "admin/web_files.hpp"
#include "peers.hpp"

namespace garner::admin {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::size_t wire_bytes_max = 20 * KiB;

proxy::Refused a_refusal(std::string url) {
    proxy::Refused one;
    one.id = "1764078120.123-9f3a0c1d";
    one.method = "GET";
    one.url = std::move(url);
    one.user = "alice";
    one.rule = "exams (access[0]: deny)";
    one.client = IpAddress::v4(10, 4, 0, 7);
    return one;
}

/// With a row in each list.
Report full_report() {
    auto report = report_with_peers();
    report.figures.requests = 1'234'567;
    group::GroupState group;
    group.name = "lab";
    group.is_voter = true;
    group.since = from_unix_seconds(1'764'000'060);
    group.why = "no lease of 10.0.0.3:3133";
    group.voters.push_back({.address = "10.0.0.2:3133",
                            .is_own = true,
                            .connected = true,
                            .trusted = true,
                            .instance = 0x9f3a0c1d5e6f7a8b,
                            .sequence = 17,
                            .left = milliseconds{1'500}});
    group.members.push_back(
        {.name = "cache4", .address = "10.0.0.4:3128", .acknowledged = 16, .lag = 1, .heard_before = milliseconds{250}});
    group.offers.push_back(
        {.url = "http://often.example/film", .validator = "\"5\"", .length = 20'000, .left = seconds{60}, .state = "stored"});
    group.watermarks.push_back({.at = from_unix_seconds(1'764'000'000), .reason = "the start of this member"});
    report.figures.group = group;
    report.figures.certificates = {{"CN = gate.example", wall_now() + std::chrono::hours(24 * 3)}};
    report.top.hosts = {{"often.example", 9, 1'536, 8}, {"seldom.example", 1, 7, 0}};
    report.top.clients = {{"10.0.0.7", 10, 1'543, 8}};
    report.top.misses = {{"http://often.example/a?b=c&d", 1, 7, 0, "no-store in response"}};
    report.refusals = {a_refusal("http://games.example/")};
    report.failures = {a_refusal("http://broken.example/")};
    report.failures[0].rule = "502 The server cannot be reached";
    report.figures.share.rates = {1'000'000, 0};
    report.figures.caps = {{"guests", {7'000, 0}}};
    report.subjects = {{"anna", {share::FlowFigures{.bytes = 2'048, .bytes_per_second = 512, .waiting = 1, .weight = 2}, {}}}};
    share::QuotaStanding guest;
    guest.rule.name = "guests";
    guest.rule.bytes = 2'000'000'000;
    guest.usage.bytes = 1'200'000'000;
    report.quotas = {guest};
    proxy::Sampling::Report sampled;
    sampled.policy = "lru";
    sampled.what_if.rate = 0.25;
    sampled.what_if.requests = 2'000;
    sampled.what_if.expected_requests = 2'000;
    sampled.what_if.expected_bytes = 1e6;
    std::uint64_t misses = 1'750;
    for (auto const* policy : {"lru", "gdsf"})
        for (Bytes size : {MiB, 2 * MiB}) sampled.what_if.rows.push_back({policy, size, misses -= 250, 250'000});
    report.figures.what_if = sampled;
    report.figures.cache.capacity = MiB;
    report.history = {{"requests", {1.0, 2.0, std::nullopt, 4.0}, {1.5, 2.5}}, {"hit_ratio", {0.5}, {0.25, std::nullopt}}};
    return report;
}

std::string html_of(Report const& report) { return page(page_model(stats_json(report))); }

std::size_t count(std::string const& text, std::string const& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++found;
    return found;
}

TEST(Page, has_its_sections_in_their_order) {
    auto const html = html_of(full_report());
    std::size_t last = 0;
    for (auto const* id :
         {"health", "explain", "explanation", "now", "top-hosts", "top-clients", "top-misses", "failures", "refusals", "share",
          "quotas", "mesh", "group", "what-if", "disk", "rules", "certificates", "configuration", "counters"}) {
        auto const at = html.find(" id=\"" + std::string(id) + "\"");
        ASSERT_NE(at, html.npos) << id;
        EXPECT_GT(at, last) << id;
        last = at;
    }
}

TEST(Page, names_each_figure_by_its_path_with_its_value) {
    auto const html = html_of(full_report());
    for (auto const* figure : {R"(data-stat="requests.total" data-value="1234567">1,234,567<)",
                               R"(data-stat="latest.requests" data-value="4.0" class="large">4.00<)",
                               R"(data-stat="top.hosts.0.bytes" data-value="1536" class="number">1.50 KiB<)",
                               R"(data-stat="share.limit_bytes.down" data-value="1000000" class="number">8 Mbit/s<)",
                               R"(data-stat="share.subjects.0.down_bytes" data-value="2048" class="number">2.00 KiB<)",
                               R"(data-stat="group.state" data-value="cut off" class="number">cut off<)",
                               R"(data-stat="group.since" data-value="2025-11-24T16:01:00Z" class="number">2025-11-24T16:01:00Z<)",
                               R"(data-stat="group.why" data-value="no lease of 10.0.0.3:3133">no lease of 10.0.0.3:3133<)",
                               R"(data-stat="group.lease_left_seconds" data-value="0.0" class="number">0 µs<)",
                               R"(data-stat="group.voters.0.instance" data-value="9f3a0c1d5e6f7a8b">9f3a0c1d5e6f7a8b<)",
                               R"(data-stat="group.voters.0.lease_left_seconds" data-value="1.5" class="number">1.50 s<)",
                               R"(data-stat="group.members.0.heard_seconds_ago" data-value="0.25" class="number">250 ms<)",
                               R"(data-stat="group.last_watermarks.0.at" data-value="2025-11-24T16:00:00Z" scope="row"><a )",
                               R"(data-stat="group.last_watermarks.0.reason" data-value="the start of this member">the start )",
                               R"(data-stat="group.voters.0.address" data-value="10.0.0.2:3133" scope="row"><a )",
                               R"(data-stat="failures.0.reason" data-value="502 The server cannot be reached">502 The server)",
                               R"(data-stat="group.members.0.lag" data-value="1" class="number">1<)",
                               R"(data-stat="caps.0.down_bytes" data-value="7000" class="number">6.84 KiB<)",
                               R"(data-stat="quotas.0.used" data-value="1200000000">1.2 GB of 2 GB<)",
                               R"(data-stat="top.misses.0.reason" data-value="no-store in response">no-store in response<)",
                               R"(data-stat="history.requests.1m.1" data-value="2.5" class="number">2.50<)",
                               R"(data-stat="history.hit_ratio.1m.1" data-value="null" class="number">-<)",
                               R"(data-stat="what_if.rows.0.object_hit_ratio" data-value="0.25" class="number">25.0 %<)",
                               R"(data-stat="certificates.0.days_left" data-value="2" class="number">2<)",
                               R"(data-stat="peers.0.query_rtt_ms" data-value="0.812" class="number">812 µs<)"})
        EXPECT_THAT(html, HasSubstr(figure));
}

TEST(Page, needs_nothing_from_elsewhere_and_no_inline_style_or_script) {
    auto const html = html_of(Report{});
    for (auto const* outside : {"http://", "https://", "url(", "@import", " style=", "<style", " onclick"})
        EXPECT_THAT(html, Not(HasSubstr(outside)));
    EXPECT_EQ(count(html, "<script"), 1u);
    EXPECT_EQ(count(html, "<h1"), 1u);
    EXPECT_THAT(html, HasSubstr("<html lang=\"en\">"));
    EXPECT_THAT(html, HasSubstr("<main>"));
    EXPECT_THAT(std::string(page_js), Not(HasSubstr("innerHTML")));
    EXPECT_THAT(std::string(page_css), Not(HasSubstr("url(")));
    EXPECT_THAT(std::string(page_policy), Not(HasSubstr("unsafe")));
}

TEST(Page, takes_at_most_20_KiB_with_its_style_and_script) {
    auto const bytes = gzip_of(html_of(full_report())).size() + gzip_of(page_css).size() + gzip_of(page_js).size();
    EXPECT_LE(bytes, wire_bytes_max);
    EXPECT_GT(bytes, 1'000u);
}

TEST(Page, takes_no_markup_from_figures) {
    std::string const hostile = "<img src=x onerror=alert(1)>\"'&";
    auto report = full_report();
    report.figures.log.last_error = report.figures.config.refused = hostile;
    report.figures.peers[0].options.name = report.figures.peers[0].options.host = hostile;
    report.top.hosts[0].name = report.top.clients[0].name = report.top.misses[0].name = report.top.misses[0].reason = hostile;
    report.failures[0].user = report.failures[0].url = report.failures[0].rule = report.failures[0].id = hostile;
    report.refusals[0].user = report.refusals[0].url = report.refusals[0].rule = report.refusals[0].id = hostile;
    report.figures.certificates = {{hostile, wall_now()}};
    auto& group = *report.figures.group;
    group.why = group.voters[0].trouble = group.members[0].name = group.offers[0].url = group.watermarks[0].reason = hostile;
    report.health = {HealthState::trouble, hostile, {{HealthState::trouble, hostile, hostile, hostile}}};
    Explained const explained{hostile, hostile, {{hostile, hostile}}};
    auto const html = page(page_model(stats_json(report)), &explained);
    EXPECT_THAT(html, Not(HasSubstr("<img")));
    EXPECT_THAT(html, HasSubstr("&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;"));
    EXPECT_THAT(html, HasSubstr("href=\"/?url=%3Cimg%20src%3Dx%20onerror%3Dalert%281%29%3E%22%27%26#explanation\""));
}

TEST(Page, tells_the_health_first_with_what_to_do) {
    auto report = full_report();
    report.health = {HealthState::attention,
                     "Attention: parent campus is dead.",
                     {{HealthState::attention, "parent campus is dead", "start it", "mesh"}}};
    auto const html = html_of(report);
    EXPECT_THAT(html, HasSubstr("<section id=\"health\" aria-label=\"Health\" data-state=\"attention\">"));
    EXPECT_THAT(html, HasSubstr(">Attention: parent campus is dead.</p>"));
    EXPECT_THAT(html, HasSubstr("<ul><li><span>start it: </span><a href=\"#mesh\">Origins and peers</a></li></ul>"))
        << "the sentence has the problem";
    EXPECT_THAT(html, HasSubstr("<title>Garner: attention</title>"));
    report.health.items.push_back({HealthState::attention, "lines of the log were lost", "move it"});
    EXPECT_THAT(html_of(report), HasSubstr("<li><strong>parent campus is dead: </strong><span>start it: </span>"
                                           "<a href=\"#mesh\">Origins and peers</a></li>"
                                           "<li><strong>lines of the log were lost: </strong><span>move it</span></li>"));
    EXPECT_THAT(html_of(full_report()), HasSubstr("<title>Garner</title>"));
}

TEST(Page, leads_from_each_problem_to_its_section) {
    auto report = full_report();
    auto& figures = report.figures;
    figures.disk.state = store::DiskStats::State::failing;
    figures.config.refused = "memory.size";
    figures.connections_now = figures.connections_limit = 10;
    Trend const trend{.last = {.requests = 100, .failed = 50, .refused = 95}};
    report.health = health_of(figures, trend, wall_now());
    auto const model = page_model(stats_json(report));
    ASSERT_EQ(model.health.items.size(), 8u);
    for (auto const& item : model.health.items) EXPECT_NE(item.title, "") << item.what << " " << item.section;
}

TEST(Page, has_dead_peers_first_and_marked) {
    auto const html = html_of(full_report());
    auto const dead = html.find("<tr class=\"trouble\"><th data-stat=\"peers.1.name\"");
    ASSERT_NE(dead, html.npos);
    EXPECT_GT(html.find("<th data-stat=\"peers.0.name\""), dead);
}

TEST(Page, draws_the_mesh_with_the_state_of_each_peer) {
    auto const html = html_of(full_report());
    auto const begin = html.find("<svg class=\"picture\"");
    ASSERT_NE(begin, html.npos);
    auto const picture = html.substr(begin, html.find("</svg>", begin) - begin);
    for (auto const* text : {">Origins<", ">This cache<", ">Clients<", ">Other caches<", ">campus<", ">next door<", ">parent<",
                             ">sibling<", "data-stat=\"peers.0.state\" data-value=\"alive\"",
                             "data-stat=\"peers.1.state\" data-value=\"dead\"", "data-stat=\"icp.queries\" data-value=\"4321\""})
        EXPECT_THAT(picture, HasSubstr(text));
    EXPECT_EQ(count(picture, "class=\"link\""), 5u) << "origins, two peers, clients, other caches";
}

TEST(Page, draws_at_most_12_peers_of_a_type_and_the_dead_ones_first) {
    auto report = full_report();
    for (int i = 0; i < 40; ++i) report.figures.peers.push_back(a_peer("p" + std::to_string(i), icp::PeerOptions::Type::parent));
    report.figures.peers.back().health = icp::Health::dead;
    auto const model = page_model(stats_json(report));
    auto const mesh = std::ranges::find(model.sections, "mesh", &PageSection::id);
    ASSERT_NE(mesh, model.sections.end());
    ASSERT_TRUE(mesh->picture);
    EXPECT_EQ(mesh->picture->parts.size(), 1u + 12 + 1 + 2 + 1);
    EXPECT_EQ(mesh->picture->parts[1].texts.front().figure.text, "p39");
    for (auto const& part : mesh->picture->parts)
        for (auto const& text : part.texts) {
            EXPECT_LT(text.x, mesh->picture->width);
            EXPECT_LT(text.y, mesh->picture->height);
        }
}

TEST(Page, draws_the_policies_with_a_scale_and_their_names_in_order) {
    auto const html = html_of(full_report());
    for (auto const* text :
         {R"(id="what-if-ratio-0" class="end">25.0 %<)", R"(id="what-if-ratio-2" class="end">65.0 %<)",
          R"(id="what-if-size-1" class="middle">2.00 MiB<)", R"(id="what-if-name-0">62.5 % gdsf<)",
          R"(id="what-if-name-1">37.5 % lru, in use<)", R"(<path id="curve-what-if-in-use" class="marked" d="M64 232L500 )"})
        EXPECT_THAT(html, HasSubstr(text));
}

TEST(Page, gives_each_row_its_reason) {
    auto report = full_report();
    report.figures.peers[1].options.name = "next <door>";
    report.figures.disk.state = store::DiskStats::State::working;
    auto const html = html_of(report);
    for (auto const* link :
         {"/?url=peer%20campus#explanation", "/?url=peer%20next%20%3Cdoor%3E#explanation",
          "/?url=certificate%20CN%20%3D%20gate.example#explanation", "/?url=often.example#explanation",
          "/?url=user%20anna#explanation", "/?url=cap%20guests#explanation", "/?url=quota%20guests#explanation",
          "/?url=policy%20lru#explanation", "/?url=figure%20disk.hits#explanation", "/?url=figure%20config.since#explanation",
          "/?url=watermark%202025-11-24T16%3A00%3A00Z#explanation", "/?url=http%3A%2F%2Foften.example%2Ffilm#explanation",
          "/?url=voter%2010.0.0.2%3A3133#explanation", "/?url=member%20cache4#explanation"})
        EXPECT_THAT(html, HasSubstr("href=\"" + std::string(link) + "\""));
    for (auto const& section : page_model(stats_json(report)).sections) {
        for (auto const& table : section.tables) EXPECT_TRUE(table.why || table.id == "history") << table.id;
        for (auto const& lines : section.lines)
            for (auto const& line : lines.lines) EXPECT_NE(line.why, "") << section.id << ": " << line.name;
    }
}

/// The script renews all figures of one path with one text. Names are cut in the picture, and lists are renewed by rows.
TEST(Page, shows_a_figure_that_is_there_twice_with_the_same_text) {
    auto const html = html_of(full_report());
    std::map<std::string, std::string> texts;
    std::regex const figure("data-stat=\"([^\"]+)\" data-value=\"[^\"]*\"[^>]*>([^<]*)<");
    for (std::sregex_iterator at(html.begin(), html.end(), figure), end; at != end; ++at) {
        auto const stat = (*at)[1].str(), text = (*at)[2].str();
        if (!stat.ends_with(".name")) EXPECT_EQ(texts.try_emplace(stat, text).first->second, text) << stat;
    }
    EXPECT_GT(texts.size(), 100u);
}

TEST(Page, says_what_twice_the_memory_would_bring) {
    auto const html = html_of(full_report());
    EXPECT_THAT(html, HasSubstr("With twice the memory (2.00 MiB) the hit ratio would be 37.5 % instead of 25.0 %"));
    EXPECT_THAT(html, HasSubstr("The policy gdsf would have the highest hit ratio with this size: 50.0 %."));
    EXPECT_THAT(html, HasSubstr(">lru (in use)<"));
    EXPECT_THAT(html_of(Report{}), HasSubstr("No traffic is sampled: memory.what_if is false."));
}

TEST(Page, of_another_versions_figures_has_dashes) {
    for (auto const* other :
         {"{}", "[]", "7", R"({"requests": 3, "cache": {"objects": "many"}, "latency": [], "top": 3, "rules": {},
                                                  "history": {"requests": 1}, "peers": {"a": 1}, "certificates": [3]})"}) {
        auto const html = page(page_model(nlohmann::ordered_json::parse(other)));
        EXPECT_THAT(html, HasSubstr("data-value=\"null\" class=\"large\">-<")) << other;
        EXPECT_THAT(html, HasSubstr("</html>"));
    }
}

TEST(Page, shows_the_explanation_that_a_form_asked_for) {
    Explained const explained{"often.example", "The next request for often.example", {{"verdict", "hit: fresh"}}};
    auto const html = page(page_model(stats_json(full_report())), &explained);
    EXPECT_THAT(html, HasSubstr("value=\"often.example\""));
    EXPECT_THAT(html, HasSubstr("<dt>verdict</dt><dd>hit: fresh</dd>"));
}

TEST(PageChanges, are_the_parts_that_differ) {
    auto report = full_report();
    auto const now = wall_now();
    auto const before = parts_of(page_model(stats_json(report), now));
    EXPECT_EQ(changes(before, before), "{}");
    report.figures.requests = 1'234'568;
    report.top.hosts[1].requests = 2;
    auto const after = parts_of(page_model(stats_json(report), now));
    auto const changed = nlohmann::json::parse(changes(before, after));
    EXPECT_EQ(changed.size(), 2u) << changed;
    EXPECT_EQ(changed["f:requests.total"], nlohmann::json::parse(R"(["1,234,568","1234568"])"));
    EXPECT_EQ(changed["t:top-hosts-table"][1], nlohmann::json::parse(R"([1,0,["seldom.example","2","0",["7 B","7"]]])"));
    EXPECT_EQ(nlohmann::json::parse(changes({}, after)).size(), after.size());
}

TEST(PageChanges, have_the_trouble_of_a_line_whose_figure_stays_the_same) {
    auto model = page_model(stats_json(full_report()));
    auto const before = parts_of(model);
    EXPECT_EQ(before.at("l:"), R"(["group.state"])");
    auto const group = std::ranges::find(model.sections, "group", &PageSection::id);
    ASSERT_NE(group, model.sections.end());
    auto& lines = group->lines.front().lines;
    lines[1].is_trouble = true;
    EXPECT_EQ(changes(before, parts_of(model)), R"({"l:":["group.state","group.while_cut_off"]})");
    lines[0].is_trouble = lines[1].is_trouble = false;
    EXPECT_EQ(changes(before, parts_of(model)), R"({"l:":[]})");
}

TEST(PageChanges, have_a_part_for_each_figure_of_the_page) {
    auto const model = page_model(stats_json(full_report()));
    auto const html = page(model);
    std::size_t figures = 0;
    for (auto const& [key, part] : parts_of(model))
        if (key.starts_with("f:")) {
            EXPECT_THAT(html, HasSubstr("data-stat=\"" + key.substr(2) + "\"")) << part;
            ++figures;
        }
    EXPECT_GT(figures, 50u);
}

TEST(PagePath, goes_from_left_to_right_with_gaps) {
    std::vector<double> const heights{0, 1, -1, 0.5};
    EXPECT_EQ(path_of(heights, 4), "M0 31h0l40 -30M120 16h0");
    EXPECT_EQ(path_of(std::vector<double>{1}, 120), "M120 1h0") << "the newest is at the right";
    EXPECT_EQ(path_of({}, 120), "");
}

TEST(Explanation, reads_hosts_ports_and_URLs) {
    EXPECT_EQ(url_of("example.com"), "http://example.com/");
    EXPECT_EQ(url_of("example.com/page"), "http://example.com/page");
    EXPECT_EQ(url_of("example.com:8080/page"), "http://example.com:8080/page");
    EXPECT_EQ(url_of("example.com:443"), "https://example.com:443/");
    EXPECT_EQ(url_of("example.com:80"), "http://example.com:80/");
    EXPECT_EQ(url_of("[2001:db8::1]:443"), "https://[2001:db8::1]:443/");
    EXPECT_EQ(url_of("https://example.com/"), "https://example.com/");
    EXPECT_EQ(url_of("no URL"), "no URL");
}

TEST(Compressed, parts_make_a_stream) {
    auto const stream = gzip_begin() + gzip_part("one ") + gzip_part("two");
    z_stream reader{};
    ASSERT_EQ(::inflateInit2(&reader, 15 + 16), Z_OK);
    std::string text(100, '\0');
    reader.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stream.data()));
    reader.avail_in = static_cast<uInt>(stream.size());
    reader.next_out = reinterpret_cast<Bytef*>(text.data());
    reader.avail_out = static_cast<uInt>(text.size());
    EXPECT_EQ(::inflate(&reader, Z_SYNC_FLUSH), Z_OK);
    text.resize(reader.total_out);
    ::inflateEnd(&reader);
    EXPECT_EQ(text, "one two");
}

TEST(Compressed, only_where_gzip_is_accepted) {
    auto const text = std::string(1'000, 'x');
    EXPECT_LT(gzip_of(text).size(), 100u);
    EXPECT_EQ(gzip_of(text).substr(0, 2), "\x1f\x8b");
    web::Fields fields;
    web::Request request;
    request.fields = &fields;
    EXPECT_EQ(compressed({200, text}, request).body, text);
    fields.set("Accept-Encoding", "gzip");
    EXPECT_EQ(compressed({200, text}, request).body, gzip_of(text));
}

}   // namespace
}   // namespace garner::admin
