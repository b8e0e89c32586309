// Lines of `garner rules decide`: each gets a decision or an error, as JSON on one line, and the same one again; the index of the
// rules finds what a walk finds.
#include "config/rule_lines.hpp"

#include <string>

#include "config/load.hpp"
#include "fuzzed.hpp"
#include "http/access_index.hpp"

namespace {

using namespace garner;

constexpr std::string_view rules = R"({
  "listen": [{"address": "127.0.0.1:3128"}, {"address": "127.0.0.1:8080", "origin": "http://a.example:8000"}],
  "matchers": {"office": {"source": ["10.1.0.0/16", "fd00::/8"]}, "ads": {"host": ".ads.example", "url_contains": "/ad/"}},
  "access": [
    {"name": "exams", "deny": {"source": "10.4.0.0/16", "time": "Mon-Fri 08:00-12:00"}, "because": "Until noon."},
    {"deny": {"is": "ads", "not": "office"}},
    {"deny": {"destination": "192.168.0.0/16"}},
    {"deny": {"decoded_path_matches": "\\.exe$", "header": "User-Agent: ^curl"}},
    {"deny": {"host_matches": "^ad[0-9]", "listener": 3128}},
    {"deny": {"decoded_url_matches": "free", "method": ["GET", "POST"]}},
    {"deny": {"content_type": "image/*"}},
    {"allow": {"is": "office"}},
    {"allow": {"port": "1-65535", "url_matches": "^http://b\\.example"}},
    {"deny": {"source": "10.0.0.0/8", "host": ["127.0.0.1", "::1", "localhost"]}},
    {"allow": {"source": "10.0.0.0/8"}}]})";

struct Scene {
    config::Config config = config::load_text("rules", rules, {}).config;
    std::span<http::AccessRule const> all = config.proxy.access.rules();
    http::AccessIndex index{all};
    proxy::RuleInquiry inquiry{config.proxy, {}};
};

void check_line(Scene& scene, std::string_view line) {
    constexpr WallTime now = from_unix_seconds(1'763'890'210);
    auto const answer = config::decide_line(scene.inquiry, line, now);
    auto const json = nlohmann::json::parse(answer);
    check(json.contains("verdict") != json.contains("error"));
    check(answer.find('\n') == answer.npos);
    check(answer == config::decide_line(scene.inquiry, line, now));
    if (json.contains("error")) return;
    auto const& destination = scene.inquiry.destination();
    auto const* address = destination ? &*destination : nullptr;
    auto const& facts = scene.inquiry.facts();
    check(scene.index.find(scene.all, facts, address) == http::first_match_by_walk(scene.all, facts, address));
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    static Scene scene;
    check(scene.all.size() == 11);
    std::string_view lines(reinterpret_cast<char const*>(data), size);
    while (!lines.empty()) {
        auto const line = lines.substr(0, lines.find('\n'));
        lines.remove_prefix(std::min(line.size() + 1, lines.size()));
        check_line(scene, line);
    }
    return 0;
}
