#include "icp/icp_message.hpp"

#include <gtest/gtest.h>

#include <random>

namespace garner::icp {
namespace {

std::string bytes_of(std::string_view hex) {
    std::string out, digits;
    for (char c : hex)
        if (c != ' ') digits += c;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) out += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    return out;
}

/// The datagram that Squid 5.7 sent.
std::string query_of_squid() {
    return bytes_of("01 02 0035 00000001 40000000 00000000 00000000 00000000") + "http://127.0.0.1:25180/a.txt" + '\0';
}

/// The parse error; empty: none.
std::string error_of(std::string_view datagram) {
    IcpMessage message;
    auto const* error = parse_message(datagram, message);
    return error ? error : "";
}

IcpMessage read(std::string_view datagram) {
    IcpMessage message;
    EXPECT_STREQ(parse_message(datagram, message), nullptr);
    return message;
}

TEST(IcpMessage, a_query_of_squid_is_read_and_written) {
    auto const query = query_of_squid();
    ASSERT_EQ(query.size(), 53u);
    auto const message = read(query);
    EXPECT_EQ(message.opcode, Opcode::query);
    EXPECT_EQ(message.number, 1u);
    EXPECT_EQ(message.options, flag_source_rtt);
    EXPECT_EQ(message.url, "http://127.0.0.1:25180/a.txt");
    std::string ours;
    write_query(1, "http://127.0.0.1:25180/a.txt", true, ours);
    EXPECT_EQ(ours, query);
    write_query(0x01020304, "http://a/", false, ours);
    EXPECT_EQ(ours, bytes_of("01 02 0022 01020304 00000000 00000000 00000000 00000000") + "http://a/" + '\0');
}

TEST(IcpMessage, answers_are_read_as_squid_writes_them) {
    auto const hit = bytes_of("02 02 0031 00000001 40000000 00010001 00000000") + "http://127.0.0.1:25180/a.txt" + '\0';
    ASSERT_EQ(hit.size(), 0x31u);
    auto const message = read(hit);
    EXPECT_EQ(message.opcode, Opcode::hit);
    EXPECT_EQ(message.option_data, 0x00010001u);
    EXPECT_EQ(message.url, "http://127.0.0.1:25180/a.txt");
}

TEST(IcpMessage, what_is_written_is_read_again) {
    for (auto opcode :
         {Opcode::hit, Opcode::miss, Opcode::err, Opcode::secho, Opcode::decho, Opcode::miss_nofetch, Opcode::denied}) {
        IcpMessage const message{opcode, 0xfedcba98, flag_source_rtt, 77, "http://h/p?q"};
        std::string out;
        write_message(message, out);
        EXPECT_EQ(read(out), message);
    }
}

TEST(IcpMessage, of_a_hit_with_its_object_the_object_is_passed_over) {
    auto const head = [](std::string const& length) {
        return bytes_of("17 02 " + length + " 00000009 80000000 00000000 00000000");
    };
    auto const url = std::string("http://h/") + '\0';
    for (auto const& rest : {std::string(), bytes_of("00"), bytes_of("ffff"), bytes_of("0003 616263")}) {
        auto const size = 20 + url.size() + rest.size();
        char hex[5];
        std::snprintf(hex, sizeof hex, "%04zx", size);
        auto const datagram = head(hex) + url + rest;
        auto const message = read(datagram);
        EXPECT_EQ(message.opcode, Opcode::hit_obj);
        EXPECT_EQ(message.url, "http://h/");
    }
}

TEST(IcpMessage, every_error_is_named) {
    auto const good = query_of_squid();
    auto with = [&](std::size_t at, std::string_view hex) {
        auto changed = good;
        auto const bytes = bytes_of(hex);
        return changed.replace(at, bytes.size(), bytes);
    };
    EXPECT_EQ(error_of(""), "shorter than its header");
    EXPECT_EQ(error_of(good.substr(0, 19)), "shorter than its header");
    EXPECT_EQ(error_of(bytes_of("01 02 0017 00000001 00000000 00000000 00000000 000000")), "the requester address is missing");
    EXPECT_EQ(error_of(good.substr(0, 52)), "the length does not match the header");
    EXPECT_EQ(error_of(good + "x"), "the length does not match the header");
    EXPECT_EQ(error_of(with(2, "0034")), "the length does not match the header");
    EXPECT_EQ(error_of(with(1, "03")), "the version is not 2");
    EXPECT_EQ(error_of(with(1, "01")), "the version is not 2");
    for (auto opcode : {"00", "05", "0c", "14", "18", "ff"}) EXPECT_EQ(error_of(with(0, opcode)), "unknown opcode");
    EXPECT_EQ(error_of(with(4, "00000000")), "the request number is 0");
    EXPECT_EQ(error_of(with(52, "78")), "URL not terminated, or too long");   // without the NUL at its end
    EXPECT_EQ(error_of(bytes_of("02 02 0014 00000001 00000000 00000000 00000000")), "URL not terminated, or too long");
}

TEST(IcpMessage, the_longest_url_is_one_that_squid_reads) {
    std::string out;
    write_query(1, std::string(url_max, 'u'), true, out);
    EXPECT_EQ(read(out).url.size(), url_max);
    out.insert(out.size() - 1, "u");
    out[3] = static_cast<char>(out[3] + 1);
    EXPECT_EQ(error_of(out), "URL not terminated, or too long");
}

TEST(IcpMessage, random_datagrams_and_mutations_do_no_harm) {
    std::mt19937 random(4711);
    for (int i = 0; i < 5'000; ++i) {
        std::string datagram(random() % 64, '\0');
        for (char& c : datagram) c = static_cast<char>(random());
        error_of(datagram);
        auto changed = query_of_squid();
        for (auto n = random() % 4; n > 0; --n) changed[random() % changed.size()] = static_cast<char>(random());
        changed.resize(random() % (changed.size() + 2));
        if (changed.size() > 3 && random() % 2) changed[2] = '\0', changed[3] = static_cast<char>(changed.size());
        error_of(changed);
    }
}

}   // namespace
}   // namespace garner::icp
