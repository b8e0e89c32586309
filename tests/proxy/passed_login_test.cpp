// The login of a client at a parent: what is passed on, and which challenges come back.
#include "proxy/passed_login.hpp"

#include <gtest/gtest.h>

namespace garner::proxy {
namespace {

http::Fields fields(std::initializer_list<http::Field> list) {
    http::Fields all;
    for (auto const& field : list) all.add(field.name, field.value);
    return all;
}

TEST(PassedLogin, is_the_line_of_the_client) {
    EXPECT_EQ(passed_login(fields({{"Accept", "*/*"}, {"proxy-authorization", "Basic dTpw"}})),
              "Proxy-Authorization: Basic dTpw\r\n");
    for (auto const* value : {"Bearer a.b.c", "Digest username=\"u\", uri=\"/\"", "NegotiateX a"})
        EXPECT_EQ(passed_login(fields({{"Proxy-Authorization", value}})), "Proxy-Authorization: " + std::string(value) + "\r\n");
}

TEST(PassedLogin, is_nothing_without_exactly_one_line) {
    EXPECT_EQ(passed_login(fields({{"Authorization", "Basic dTpw"}})), "");
    EXPECT_EQ(passed_login(fields({{"Proxy-Authorization", ""}})), "");
    EXPECT_EQ(passed_login(fields({{"Proxy-Authorization", "Basic a"}, {"Proxy-Authorization", "Basic a"}})), "");
}

TEST(PassedLogin, does_not_authenticate_a_connection_that_clients_share) {
    for (auto const* value : {"Negotiate YWJj", "NEGOTIATE", "ntlm TlRMTVNTUAAB", "Kerberos\tx"})
        EXPECT_EQ(passed_login(fields({{"Proxy-Authorization", value}})), "") << value;
}

TEST(PassedChallenges, are_those_that_the_client_can_answer) {
    EXPECT_EQ(passed_challenges(fields({{"Proxy-Authenticate", "Negotiate"},
                                        {"Proxy-Authenticate", "Digest realm=\"a\""},
                                        {"WWW-Authenticate", "Basic realm=\"origin\""},
                                        {"Proxy-Authenticate", "NTLM"},
                                        {"Proxy-Authenticate", "Basic realm=\"b\""}})),
              "Proxy-Authenticate: Digest realm=\"a\"\r\nProxy-Authenticate: Basic realm=\"b\"\r\n");
    EXPECT_EQ(passed_challenges(fields({{"Proxy-Authenticate", "negotiate, NTLM"}})), "");
}

}   // namespace
}   // namespace garner::proxy
