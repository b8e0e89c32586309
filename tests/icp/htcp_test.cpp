// HTCP messages: those of Squid 5.7, and malformed ones.
#include "icp/htcp.hpp"

#include <gtest/gtest.h>

#include <random>

#include "icp/htcp_auth.hpp"

namespace garner::icp::htcp {
namespace {

/// Bytes from hexadecimal digits and quoted text: "0014 0001 'GET'".
std::string bytes(std::string_view text) {
    std::string out;
    int high = -1;
    for (bool quoted = false; char c : text) {
        if (c == '\'') {
            quoted = !quoted;
        } else if (quoted) {
            out += c;
        } else if (c != ' ') {
            int const digit = c <= '9' ? c - '0' : c - 'a' + 10;
            if (high >= 0) out += static_cast<char>(high * 16 + digit);
            high = high >= 0 ? -1 : digit;
        }
    }
    return out;
}

/// A message and the datagram that its views point into.
struct Parsed : Message {
    explicit Parsed(std::string datagram) : text(std::move(datagram)) {
        auto const* fault = parse(text, *this);
        EXPECT_EQ(fault, nullptr) << fault;
    }
    Parsed(Parsed const&) = delete;
    std::string const text;
};
Parsed parsed(std::string datagram) { return Parsed(std::move(datagram)); }

std::string fault_of(std::string const& datagram) {
    Message message;
    auto const* fault = parse(datagram, message);
    return fault ? fault : "";
}

std::string sealed(std::string message) {
    seal(message, {}, wall_now());
    return message;
}

std::string const query = bytes("003d 0001 0037 10 02 00000001 0003'GET' 0021'http://127.0.0.1:25180/dir/a1.txt' "
                                "0003'1/1' 0000 0002");

TEST(Htcp, reads_the_query_that_Squid_sends) {
    auto const message = parsed(query);
    EXPECT_EQ(message.minor, 1);
    EXPECT_EQ(message.opcode, Opcode::tst);
    EXPECT_FALSE(message.is_response);
    EXPECT_TRUE(message.flag);
    EXPECT_EQ(message.number, 1u);
    EXPECT_EQ(message.specifier.method, "GET");
    EXPECT_EQ(message.specifier.uri, "http://127.0.0.1:25180/dir/a1.txt");
    EXPECT_EQ(message.specifier.version, "1/1");
    EXPECT_EQ(message.specifier.fields, "");
    EXPECT_FALSE(message.auth);
}

TEST(Htcp, reads_the_answers_that_Squid_sends) {
    auto const miss = parsed(bytes("0014 0001 000e 11 01 00000007 0000 0000 0000 0002"));
    EXPECT_TRUE(miss.is_response);
    EXPECT_FALSE(miss.flag);
    EXPECT_EQ(miss.code, response::not_here);
    EXPECT_EQ(miss.number, 7u);
    auto const gone = parsed(bytes("000e 0001 0008 40 01 00000009 0002"));
    EXPECT_EQ(gone.opcode, Opcode::clr);
    EXPECT_EQ(gone.code, response::done);
    EXPECT_EQ(parsed(bytes("000e 0001 0008 42 01 00000009 0002")).code, response::was_not_here);
}

TEST(Htcp, an_answer_tells_size_age_and_way_to_the_origin) {
    auto const asked = parsed(query);
    auto const text = sealed(tst_answer(
        asked, true, {"Age: 7\r\n", "Expires: never\r\ncontent-length: 1234\r\n", "Cache-to-Origin: host 3 0.012000 2\r\n"}));
    auto const answer = parsed(text);
    EXPECT_TRUE(answer.is_response);
    EXPECT_EQ(answer.code, response::done);
    EXPECT_EQ(answer.number, asked.number);
    auto const news = news_of(answer.detail);
    EXPECT_EQ(news.age, 7);
    EXPECT_EQ(news.size, 1234u);
    EXPECT_EQ(news.source_rtt, milliseconds{12});
}

TEST(Htcp, the_time_to_the_origin_stands_where_the_RFC_or_where_Squid_has_it) {
    auto const rtt = [](std::string const& value) {
        auto const line = "Cache-to-Origin: " + value + "\r\n";
        return news_of({.response = {}, .entity = {}, .cache = line}).source_rtt;
    };
    EXPECT_EQ(rtt("a.example 0.25 3 1"), milliseconds{250});
    EXPECT_EQ(rtt("a.example 3 0.25 1"), milliseconds{250});
    for (auto nonsense : {"", "a.example", "0.5", "a.example 3 4 0.5", "a.example 1e9 .e", "a.example 99999.0"})
        EXPECT_EQ(rtt(nonsense), std::nullopt) << nonsense;
    auto const ours = cache_to_origin("a.example", milliseconds{31});
    EXPECT_EQ(ours, "Cache-to-Origin: a.example 1 0.031000 0\r\n");
    EXPECT_EQ(news_of({.response = {}, .entity = {}, .cache = ours}).source_rtt, milliseconds{31});
}

TEST(Htcp, lines_may_end_with_LF_alone) {
    auto const news = news_of({"Age: 7\nX: y\n", "Content-Length: 1234\nContent-Type: text/plain\n", {}});
    EXPECT_EQ(news.age, 7);
    EXPECT_EQ(news.size, 1234u);
}

TEST(Htcp, nonsense_in_headers_tells_nothing) {
    Detail const detail{"Age: -1\r\nAge\r\n: 4\r\n", "Content-Length: 99999999999999999999\r\n\n\n", "Cache-to-Origin: x"};
    auto const news = news_of(detail);
    EXPECT_EQ(news.age, std::nullopt);
    EXPECT_EQ(news.size, std::nullopt);
    EXPECT_EQ(news.source_rtt, std::nullopt);
}

TEST(Htcp, our_requests_read_the_same) {
    auto const test = parsed(sealed(tst_request(0x12345678, "http://a.example/")));
    EXPECT_EQ(test.opcode, Opcode::tst);
    EXPECT_EQ(test.number, 0x12345678u);
    EXPECT_TRUE(test.flag);
    EXPECT_EQ(test.specifier.uri, "http://a.example/");
    EXPECT_EQ(test.specifier.method, "GET");
    auto const text = sealed(clr_request(1, "http://a.example/"));
    EXPECT_EQ(text, bytes("0034 0001 002e 40 02 00000001 0000 0003'GET' 0011'http://a.example/' 0008'HTTP/1.1' 0000 "
                          "0002"));
    auto const clear = parsed(text);
    EXPECT_EQ(clear.opcode, Opcode::clr);
    EXPECT_EQ(clear.specifier.uri, "http://a.example/");
}

TEST(Htcp, a_miss_is_written_with_three_empty_texts_and_read_also_in_the_form_of_the_RFC) {
    auto const asked = parsed(query);
    EXPECT_EQ(sealed(tst_answer(asked, false, {})), bytes("0014 0001 000e 11 01 00000001 0000 0000 0000 0002"));
    auto const of_rfc = bytes("001b 0000 0015 11 01 00000001 000b'Cache-X: 1'0d 0002");
    EXPECT_EQ(parsed(of_rfc).detail.cache, "Cache-X: 1\r");
    EXPECT_EQ(parsed(bytes("000e 0001 0008 11 01 00000001 0002")).code, response::not_here);
}

TEST(Htcp, refusals_and_plain_answers_echo_number_opcode_and_minor) {
    auto asked = parsed(query);
    EXPECT_EQ(sealed(refusal(asked, Refusal::not_allowed)), bytes("000e 0001 0008 15 03 00000001 0002"));
    asked.minor = 0;
    asked.opcode = Opcode::clr;
    EXPECT_EQ(sealed(answer(asked, response::was_not_here)), bytes("000e 0000 0008 42 01 00000001 0002"));
    auto const refused = parsed(sealed(refusal(asked, Refusal::bad_signature)));
    EXPECT_TRUE(refused.flag);
    EXPECT_EQ(refused.code, static_cast<std::uint8_t>(Refusal::bad_signature));
}

TEST(Htcp, faults_are_named) {
    EXPECT_EQ(fault_of(""), "shorter than a HEADER");
    EXPECT_EQ(fault_of(bytes("0003 00")), "shorter than a HEADER");
    EXPECT_EQ(fault_of(query + "x"), "LENGTH does not match the datagram");
    EXPECT_EQ(fault_of(query.substr(0, query.size() - 1)), "LENGTH does not match the datagram");
    EXPECT_EQ(fault_of(bytes("000e 0101 0008 40 01 00000009 0002")), "unknown MAJOR version");
    EXPECT_EQ(fault_of(bytes("000e 0002 0008 40 01 00000009 0002")), "unknown MINOR version");
    EXPECT_EQ(fault_of(bytes("000e 0001 0007 40 01 00000009 0002")), "DATA does not fit");
    EXPECT_EQ(fault_of(bytes("000e 0001 0009 40 01 00000009 0002")), "AUTH does not fit");
    EXPECT_EQ(fault_of(bytes("000e 0001 0008 50 01 00000009 0002")), "unknown OPCODE");
    EXPECT_EQ(fault_of(bytes("000e 0001 0008 10 02 00000009 0002")), "bad SPECIFIER");
    EXPECT_EQ(fault_of(bytes("000e 0001 0008 40 02 00000009 0002")), "CLR without REASON");
    EXPECT_EQ(fault_of(bytes("0010 0001 000a 40 02 00000009 0001 0002")), "bad SPECIFIER");
    EXPECT_EQ(fault_of(bytes("0012 0001 000c 10 01 00000009 0000 0000 0002")), "bad DETAIL");
    EXPECT_EQ(fault_of(bytes("0012 0001 0008 40 01 00000009 0006 00000000")), "bad AUTH");
}

TEST(Htcp, what_a_length_leaves_over_is_padding) { EXPECT_EQ(fault_of(bytes("0012 0001 000a 40 01 00000009 ffff 0002 ffff")), ""); }

TEST(Htcp, a_URL_that_other_caches_could_not_read_is_not_asked_for) {
    EXPECT_EQ(tst_request(1, std::string(url_max + 1, 'x')), "");
    EXPECT_LE(sealed(tst_request(1, std::string(url_max, 'x'))).size(), message_max);
}

TEST(Htcp, a_thousand_random_messages_and_a_thousand_spoilt_ones_are_read_or_refused) {
    std::mt19937 random(2756);
    for (int i = 0; i < 1000; ++i) {
        std::string text(random() % 80, '\0');
        for (char& c : text) c = static_cast<char>(random());
        if (text.size() > 4) {
            text[0] = 0, text[1] = static_cast<char>(text.size()), text[2] = 0, text[3] = 1;
        }
        Message message;
        parse(text, message);
        auto spoilt = query;
        for (int n = 0; n < 3; ++n) spoilt[random() % spoilt.size()] = static_cast<char>(random());
        parse(spoilt, message);
    }
}

// ---- signatures ----

WallTime const now{seconds{1'700'000'000}};

std::string signed_request(std::string_view secret, WallTime when = now) {
    auto message = clr_request(42, "http://a.example/");
    seal(message, secret, when);
    return message;
}

TEST(HtcpAuth, who_shares_the_secret_is_believed_and_nobody_else) {
    EXPECT_EQ(judge(parsed(signed_request("secret")), "secret", now), Verdict::good);
    EXPECT_EQ(judge(parsed(signed_request("Secret")), "secret", now), Verdict::bad);
    EXPECT_EQ(judge(parsed(signed_request("")), "secret", now), Verdict::missing);
    EXPECT_EQ(judge(parsed(signed_request("secret")), "", now), Verdict::good);
    EXPECT_EQ(judge(parsed(signed_request("")), "", now), Verdict::good);
}

TEST(HtcpAuth, a_signature_holds_for_a_while_and_clocks_may_be_a_little_apart) {
    auto const text = signed_request("secret");
    auto const message = parsed(text);
    EXPECT_EQ(judge(message, "secret", now + seconds{60}), Verdict::good);
    EXPECT_EQ(judge(message, "secret", now + seconds{61}), Verdict::expired);
    EXPECT_EQ(judge(message, "secret", now - seconds{30}), Verdict::good);
    EXPECT_EQ(judge(message, "secret", now - seconds{31}), Verdict::expired);
}

TEST(HtcpAuth, whatever_bit_is_changed_the_signature_is_good_no_more) {
    auto const text = signed_request("secret");
    for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
        auto changed = text;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
        Message message;
        if (!parse(changed, message)) EXPECT_NE(judge(message, "secret", now), Verdict::good) << bit;
    }
}

TEST(HtcpAuth, the_section_has_the_shape_of_the_RFC) {
    auto const text = signed_request("secret");
    auto const message = parsed(text);
    ASSERT_TRUE(message.auth);
    EXPECT_EQ(message.auth->time, 1'700'000'000u);
    EXPECT_EQ(message.auth->expires, 1'700'000'030u);
    EXPECT_EQ(message.auth->key_name, "garner-sha256");
    EXPECT_EQ(message.auth->signature.size(), 32u);
    EXPECT_EQ(static_cast<std::uint8_t>(text[0]) * 256u + static_cast<std::uint8_t>(text[1]), text.size());
}

}   // namespace
}   // namespace garner::icp::htcp
