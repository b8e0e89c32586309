// Values in forms, queries and cookies of requests to the admin address. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace garner::admin {

/// The value of `name` in "a=b&name=value" (application/x-www-form-urlencoded), decoded; empty when absent or wrongly
/// encoded.
std::string form_value(std::string_view form, std::string_view name);
/// True if the form has `name`, even without a value.
bool has_field(std::string_view form, std::string_view name);
/// All values of `name`, in their order.
std::vector<std::string> form_values(std::string_view form, std::string_view name);

/// The value of the first cookie `name` in "a=b; name=value" (RFC 6265 4.2.1), which is not decoded; empty when absent.
std::string_view cookie_value(std::string_view cookies, std::string_view name);

/// The token in "Bearer TOKEN" (RFC 6750 2.1); empty for another scheme or a malformed token.
std::string_view bearer_token(std::string_view credentials);

/// Whether `target` may follow a login: the page or its query, in printable ASCII. Any other text could lead to another site.
bool is_page_target(std::string_view target);

}   // namespace garner::admin
