// The files of the operator's page, compiled into the program from src/admin/web.
#pragma once
#include <string_view>

namespace garner::admin {

extern std::string_view const page_css;
extern std::string_view const page_js;

}   // namespace garner::admin
