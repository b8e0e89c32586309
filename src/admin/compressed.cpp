#include "admin/compressed.hpp"

#define ZLIB_CONST
#include <zlib.h>

#include "http/accept.hpp"
#include "util/check.hpp"
#include "util/text.hpp"

namespace garner::admin {

namespace {

constexpr int window = 15, gzip = 16;   // zlib's: +16 writes the head and the checksum of gzip, a negative window neither

std::string deflated(std::string_view text, int window_bits, int flush) {
    constexpr int memory = 8;
    constexpr std::size_t flush_bytes = 16;
    z_stream stream{};
    check(::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, memory, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string out(::deflateBound(&stream, text.size()) + flush_bytes, '\0');
    stream.next_in = reinterpret_cast<Bytef const*>(text.data());
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    auto const result = ::deflate(&stream, flush);
    check(result == (flush == Z_FINISH ? Z_STREAM_END : Z_OK) && stream.avail_in == 0);
    out.resize(stream.total_out);
    ::deflateEnd(&stream);
    return out;
}

}   // namespace

std::string gzip_of(std::string_view text) { return deflated(text, window + gzip, Z_FINISH); }

/// RFC 1952 2.3: deflate, no flags, no time, unknown system.
std::string gzip_begin() { return {"\x1f\x8b\x08\0\0\0\0\0\0\xff", 10}; }

std::string gzip_part(std::string_view text) { return deflated(text, -window, Z_SYNC_FLUSH); }

bool accepts_gzip(web::Request const& request) {
    bool accepts = false;
    http::for_each_member(request.value("Accept-Encoding"), [&](std::string_view member) {
        auto const coding = trim(member.substr(0, member.find(';')));
        if (equals_ignoring_case(coding, "gzip")) accepts = http::weight_of(member).value_or(0) > 0;
    });
    return accepts;
}

web::Reply compressed(web::Reply reply, web::Request const& request) {
    reply.fields += "Vary: Accept-Encoding\r\n";
    if (!accepts_gzip(request)) return reply;
    reply.fields += "Content-Encoding: gzip\r\n";
    reply.body = gzip_of(reply.body);
    return reply;
}

}   // namespace garner::admin
