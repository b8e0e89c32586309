// The pages at /login: the form for a token, and the session of a visitor. They have no scripts.
#pragma once
#include <string_view>

#include "admin/roles.hpp"
#include "web/http_message.hpp"

namespace garner::admin {

/// `next`: the target after the login. `error`: why the last login failed; empty: none did.
web::Reply login_form(unsigned status, std::string_view next, std::string_view error);
/// For a visitor with a session: a form that logs out and, for an operator, forms that change something.
web::Reply session_page(Visitor const&);
/// If no tokens are configured.
web::Reply no_login_page();

}   // namespace garner::admin
