// The operator's page: GET / of the admin address.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "admin/page_model.hpp"

namespace garner::admin {

/// Why a URL is answered as it is, or what is known of a refused request.
struct Explained {
    struct Line {
        std::string subject, text;
    };
    std::string asked;   // the text that the operator wrote
    std::string title;
    std::vector<Line> lines = {};
};

/// One HTML document with all figures in it. It uses /page.css and, to renew them, /page.js. `explained`: nullptr for none.
std::string page(PageModel const& model, Explained const* explained = nullptr);

/// The Content-Security-Policy of the page: everything comes from its own origin.
inline constexpr std::string_view page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'";

}   // namespace garner::admin
