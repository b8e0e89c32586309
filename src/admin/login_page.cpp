#include "admin/login_page.hpp"

#include <string>

#include "admin/form_fields.hpp"
#include "admin/html.hpp"
#include "util/base64.hpp"

namespace garner::admin {

namespace {

constexpr std::string_view login_style = R"(
:root { color-scheme: light dark; --page: #ffffff; --text: #111827; --bad: #b91c1c; --line: #6b7280; --link: #1d4ed8; }
@media (prefers-color-scheme: dark) {
  :root { --page: #111827; --text: #f3f4f6; --bad: #fca5a5; --line: #9ca3af; --link: #93c5fd; }
}
body { background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 30rem; padding: 1rem; }
h1 { font-size: 1.2rem; }
a { color: var(--link); }
label { display: block; }
input { border: 1px solid var(--line); box-sizing: border-box; font: inherit; padding: .4rem; width: 100%; }
button { font: inherit; margin: .5rem 0 1rem; padding: .3rem .8rem; }
.error { color: var(--bad); font-weight: 600; }
)";

/// form-action: only this address gets the token.
std::string const& login_policy() {
    static auto const digest = digest_of(login_style);
    static std::string const policy = "default-src 'none'; style-src 'sha256-" +
                                      encode_base64({reinterpret_cast<char const*>(digest.data()), digest.size()}) +
                                      "'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    return policy;
}

web::Reply login_document(unsigned status, std::string const& content) {
    web::Reply reply{status, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                             "<title>Garner: log in</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>"};
    reply.body.append(login_style).append("</style>\n</head>\n<body>\n<main>\n" + content + "</main>\n</body>\n</html>\n");
    reply.type = "text/html; charset=utf-8";
    reply.content_policy = login_policy();
    return reply;
}

std::string hidden(std::string_view name, std::string_view value) {
    return "<input type=\"hidden\" name=\"" + in_html(name) + "\" value=\"" + in_html(value) + "\">\n";
}

/// A form that changes something, with the token of its session in place of "Garner-Admin: 1".
std::string form(Visitor const& visitor, std::string const& action, std::string const& fields, std::string const& button) {
    return "<form method=\"post\" action=\"" + action + "\">\n" + hidden("form_token", visitor.form_token) + fields + "<button>" +
           button + "</button>\n</form>\n";
}

}   // namespace

web::Reply login_form(unsigned status, std::string_view next, std::string_view error) {
    std::string content = "<h1>Log in to Garner</h1>\n";
    if (!error.empty()) content += "<p class=\"error\" role=\"alert\">" + in_html(error) + "</p>\n";
    content += "<form method=\"post\" action=\"/login\">\n";
    if (is_page_target(next)) content += hidden("next", next);
    return login_document(status, content + "<input name=\"username\" value=\"garner\" autocomplete=\"username\" hidden>\n"
                                            "<label for=\"token\">Token</label>\n"
                                            "<input id=\"token\" name=\"token\" type=\"password\" required autofocus "
                                            "autocomplete=\"current-password\">\n<button>Log in</button>\n</form>\n"
                                            "<p>The command <code>garner token NAME</code> makes a token.</p>\n");
}

web::Reply session_page(Visitor const& visitor) {
    auto content = "<h1>Logged in to Garner</h1>\n<p>You are " + in_html(visitor.name) + " (" + std::string(name_of(visitor.role)) +
                   "). <a href=\"/\">To the page</a></p>\n";
    if (visitor.role == Role::operator_) {
        content += form(visitor, "/purge",
                        "<label for=\"url\">URL to purge, with all its variants</label>\n"
                        "<input id=\"url\" name=\"url\" type=\"url\" required placeholder=\"http://example.com/page\">\n",
                        "Purge");
        content += form(visitor, "/log/reopen", "", "Reopen the logs");
    }
    return login_document(200, content + form(visitor, "/logout", "", "Log out"));
}

web::Reply no_login_page() {
    return login_document(200, "<h1>No login is needed</h1>\n<p>This address has no tokens (admin.tokens): each client that "
                               "reaches it may read and change everything. <a href=\"/\">To the page</a></p>\n");
}

}   // namespace garner::admin
