// HTCP: parsed data lie inside the datagram, generated responses parse again, and changed messages fail their signature.
#include <string>

#include "fuzzed.hpp"
#include "icp/htcp_auth.hpp"

namespace {

using namespace garner;
namespace htcp = icp::htcp;

constexpr WallTime now{seconds{1'700'000'000}};

void check_inside(htcp::Message const& message, std::string_view datagram) {
    auto const& specifier = message.specifier;
    auto const& detail = message.detail;
    for (auto const part : {specifier.method, specifier.uri, specifier.version, specifier.fields, detail.response, detail.entity,
                            detail.cache, message.data})
        check(fuzz::lies_inside(part, datagram));
    if (!message.auth) return;
    check(fuzz::lies_inside(message.auth->key_name, datagram));
    check(fuzz::lies_inside(message.auth->signature, datagram));
}

htcp::Message read(std::string_view text) {
    htcp::Message message;
    check(htcp::parse(text, message) == nullptr);
    return message;
}

void check_answers(htcp::Message const& message) {
    if (message.opcode != htcp::Opcode::tst) return;
    htcp::Detail const detail{message.specifier.fields, message.detail.entity, message.detail.cache};
    auto text = htcp::tst_answer(message, true, detail);
    htcp::seal(text, {}, now);
    auto const answer = read(text);
    check(answer.is_response && answer.number == message.number && answer.minor == message.minor);
    check(answer.detail.response == message.specifier.fields && answer.detail.entity == message.detail.entity);
}

void check_news(htcp::Detail const& detail) {
    auto const news = htcp::news_of(detail);
    if (news.age) check(*news.age >= 0);
    if (news.source_rtt) check(news.source_rtt->count() >= 0 && news.source_rtt->count() <= 3'600'000);
}

void check_signature(std::string_view url, std::uint32_t seed) {
    auto text = htcp::clr_request(seed, url);
    if (text.empty()) return;
    htcp::seal(text, "secret", now);
    check(htcp::judge(read(text), "secret", now) == htcp::Verdict::good);
    auto const bit = seed * 2654435761u % (text.size() * 8);
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ 1 << bit % 8);
    htcp::Message message;
    if (!htcp::parse(text, message)) check(htcp::judge(message, "secret", now) != htcp::Verdict::good);
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz::Input const input(data, size);
    fuzz::Exact const bytes(input.bytes);
    htcp::Message message;
    if (!htcp::parse(bytes.view(), message)) {
        check_inside(message, bytes.view());
        check_answers(message);
        check_news(message.detail);
        check(htcp::judge(message, "a secret that no input has", now) != htcp::Verdict::good);
    }
    check_news({.response = bytes.view(), .entity = {}, .cache = bytes.view()});
    check_signature(bytes.view(), input.seed);
    return 0;
}
