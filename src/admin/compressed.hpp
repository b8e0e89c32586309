// gzip for the replies of the admin address.
#pragma once
#include <string>
#include <string_view>

#include "web/http_message.hpp"

namespace garner::admin {

std::string gzip_of(std::string_view text);

/// The begin of a stream in gzip, and a part of it that a reader can decompress at once. A part refers to no other one, so that
/// it may go into several streams.
std::string gzip_begin();
std::string gzip_part(std::string_view text);

bool accepts_gzip(web::Request const& request);

/// With the body in gzip if the request accepts that; otherwise as it is.
web::Reply compressed(web::Reply reply, web::Request const& request);

}   // namespace garner::admin
