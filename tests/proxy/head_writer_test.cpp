// Serialized heads: no hop-by-hop fields, and patches that fit their buffer.
#include "proxy/head_writer.hpp"

#include <gtest/gtest.h>

namespace garner::proxy {
namespace {

using http::Framing;

http::RequestHead request(std::initializer_list<http::Field> fields) {
    http::RequestHead head;
    head.method_text = "GET";
    head.target = "http://Host.example/path";
    for (auto const& field : fields) head.fields.add(field.name, field.value);
    return head;
}

RequestExtras extras() {
    RequestExtras extras;
    extras.target = "/path";
    extras.host = "host.example";
    extras.via = "garner-1";
    return extras;
}

std::string written(http::RequestHead const& head, RequestExtras const& extras) {
    std::string out;
    append_request_head(head, extras, out);
    return out;
}

std::string written(http::ResponseHead const& head, http::ResponseCacheControl const* storing = nullptr) {
    std::string out;
    append_response_head(head, storing, 784'111'777, out);
    return out;
}

TEST(RequestHead, has_origin_form_our_host_and_via) {
    auto head = request({{"Host", "other"}, {"Accept", "*/*"}, {"Via", "1.0 fred"}});
    EXPECT_EQ(written(head, extras()),
              "GET /path HTTP/1.1\r\nHost: host.example\r\nAccept: */*\r\nVia: 1.0 fred\r\nVia: 1.1 garner-1\r\n\r\n");
    auto older = extras();
    older.version = "1.0";
    EXPECT_NE(written(head, older).find("Via: 1.0 garner-1\r\n"), std::string::npos);
}

TEST(RequestHead, leaves_out_what_belongs_to_the_hop) {
    auto head = request({{"Connection", "keep-alive, X-Mine"},
                         {"X-Mine", "1"},
                         {"Keep-Alive", "5"},
                         {"Proxy-Authorization", "Basic x"},
                         {"Proxy-Connection", "keep-alive"},
                         {"TE", "trailers"},
                         {"Upgrade", "h2c"},
                         {"Transfer-Encoding", "chunked"},
                         {"X-Kept", "2"}});
    EXPECT_EQ(written(head, extras()), "GET /path HTTP/1.1\r\nHost: host.example\r\nX-Kept: 2\r\nVia: 1.1 garner-1\r\n\r\n");
}

TEST(RequestHead, frames_the_body_as_it_will_be_sent) {
    auto head = request({{"Content-Length", "007"}});
    auto more = extras();
    EXPECT_EQ(written(head, more).find("Content-Length"), std::string::npos);
    more.body = {.kind = Framing::Kind::length, .length = 7};
    EXPECT_NE(written(head, more).find("\r\nContent-Length: 7\r\n"), std::string::npos);
    more.body = {.kind = Framing::Kind::chunked};
    auto chunked = written(head, more);
    EXPECT_NE(chunked.find("\r\nTransfer-Encoding: chunked\r\n"), std::string::npos);
    EXPECT_EQ(chunked.find("Content-Length"), std::string::npos);
}

TEST(RequestHead, asks_with_our_validators_instead_of_the_client_s) {
    auto head = request({{"If-None-Match", "\"theirs\""}, {"Range", "bytes=0-1"}, {"If-Range", "\"x\""}});
    EXPECT_NE(written(head, extras()).find("Range: bytes=0-1"), std::string::npos);
    auto ours = extras();
    ours.strip_conditions = true;
    ours.validators = {.etag = "\"ours\"", .last_modified = "Sun, 06 Nov 1994 08:49:37 GMT"};
    EXPECT_EQ(written(head, ours), "GET /path HTTP/1.1\r\nHost: host.example\r\nIf-None-Match: \"ours\"\r\n"
                                   "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\nVia: 1.1 garner-1\r\n\r\n");
}

TEST(RequestHead, passes_an_upgrade_and_counts_hops_down) {
    auto head = request({{"Connection", "Upgrade"}, {"Upgrade", "websocket"}, {"Max-Forwards", "5"}});
    auto more = extras();
    more.upgrade = true;
    more.max_forwards = 4;
    auto text = written(head, more);
    EXPECT_NE(text.find("Connection: Upgrade\r\nUpgrade: websocket\r\n"), std::string::npos);
    EXPECT_NE(text.find("Max-Forwards: 4\r\n"), std::string::npos);
    EXPECT_EQ(text.find("Max-Forwards: 5"), std::string::npos);
}

TEST(RequestHead, says_for_whom_when_asked_to) {
    EXPECT_EQ(forwarded_line(ForwardedField::none, "1.2.3.4"), "");
    EXPECT_EQ(forwarded_line(ForwardedField::x_forwarded_for, "1.2.3.4"), "X-Forwarded-For: 1.2.3.4\r\n");
    EXPECT_EQ(forwarded_line(ForwardedField::forwarded, "1.2.3.4"), "Forwarded: for=1.2.3.4\r\n");
    EXPECT_EQ(forwarded_line(ForwardedField::forwarded, "2001:db8::1"), "Forwarded: for=\"[2001:db8::1]\"\r\n");
    auto more = extras();
    auto line = forwarded_line(ForwardedField::x_forwarded_for, "1.2.3.4");
    more.forwarded_lines = line;
    EXPECT_NE(written(request({}), more).find("\r\nX-Forwarded-For: 1.2.3.4\r\n"), std::string::npos);
}

http::ResponseHead response(std::initializer_list<http::Field> fields) {
    http::ResponseHead head;
    head.status = 200;
    head.reason = "OK";
    for (auto const& field : fields) head.fields.add(field.name, field.value);
    return head;
}

TEST(ResponseHead, is_kept_without_length_age_and_what_belongs_to_the_hop) {
    auto head = response({{"Date", "Sun, 06 Nov 1994 08:49:37 GMT"},
                          {"Age", "5"},
                          {"Content-Length", "9"},
                          {"Connection", "close, X-Mine"},
                          {"X-Mine", "1"},
                          {"ETag", "\"1\""}});
    EXPECT_EQ(written(head), "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nETag: \"1\"\r\n");
}

/// As read from a connection, where lines follow each other.
TEST(ResponseHead, has_each_line_in_one_form_however_it_was_received) {
    std::string_view const received = "HTTP/1.1 200 OK\r\n"
                                      "Date: x\r\nA: 1\r\nB:2\r\nC: \t3 \r\nD: \r\nE:\r\nF: 6\r\nAge: 7\r\n"
                                      "G: 8\r\nConnection: H\r\nH: 9\r\nContent-Length: 0\r\nI: 10\r\nJ: 11\r\n\r\n";
    http::ResponseHead head;
    http::read_stored_head(received, head);
    EXPECT_EQ(written(head), "HTTP/1.1 200 OK\r\n"
                             "Date: x\r\nA: 1\r\nB: 2\r\nC: 3\r\nD: \r\nE: \r\nF: 6\r\nG: 8\r\nI: 10\r\nJ: 11\r\n");
}

TEST(ResponseHead, gets_the_date_it_lacks) {
    EXPECT_EQ(written(response({})), "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
}

TEST(ResponseHead, is_stored_without_the_fields_that_cache_control_names) {
    auto head = response(
        {{"Date", "x"}, {"Cache-Control", "max-age=9, no-cache=\"set-cookie\""}, {"Set-Cookie", "secret"}, {"X-Kept", "1"}});
    auto control = http::parse_response_cache_control(head.fields);
    EXPECT_NE(written(head).find("secret"), std::string::npos);
    EXPECT_EQ(written(head, &control).find("secret"), std::string::npos);
    EXPECT_NE(written(head, &control).find("X-Kept"), std::string::npos);
}

TEST(Patch, says_what_differs_between_deliveries) {
    PatchBuffer buffer;
    Patch patch;
    patch.status = {.cache_name = "garner-1", .hit = true, .ttl = 60};
    patch.age = 7;
    patch.content_length = 5;
    EXPECT_EQ(write_patch(buffer, patch, signature_of("garner-1")),
              "Age: 7\r\nContent-Length: 5\r\nVia: 1.1 garner-1\r\nCache-Status: garner-1; hit; ttl=60\r\n\r\n");
    Patch other;
    other.status.cache_name = "garner-1";
    other.chunked = other.close = true;
    other.extra = "Allow: GET\r\n";
    EXPECT_EQ(write_patch(buffer, other, signature_of("garner-1")),
              "Transfer-Encoding: chunked\r\nVia: 1.1 garner-1\r\nCache-Status: garner-1\r\nAllow: GET\r\n"
              "Connection: close\r\n\r\n");
}

TEST(Patch, fits_its_buffer_when_everything_in_it_is_as_long_as_can_be) {
    PatchBuffer buffer;
    std::string name(255, 'n'), detail(300, 'd'), extra(256, 'x');
    Patch patch;
    patch.age = UINT32_MAX;
    patch.content_length = UINT64_MAX;
    patch.chunked = patch.close = true;
    patch.extra = extra;
    patch.status = {.cache_name = name,
                    .fwd = http::Fwd::vary_miss,
                    .fwd_status = 65'535,
                    .ttl = INT64_MIN,
                    .stored = true,
                    .collapsed = true,
                    .detail = detail};
    auto text = write_patch(buffer, patch, signature_of(name));
    EXPECT_TRUE(text.ends_with("\r\n\r\n"));
    EXPECT_LE(text.size(), buffer.size());
}

}   // namespace
}   // namespace garner::proxy
