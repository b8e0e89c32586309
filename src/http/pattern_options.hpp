// Options of RE2 for all expressions of rules: one expression and a set of them match alike.
#pragma once
#include <re2/re2.h>

#include "http/text_pattern.hpp"

namespace garner::http {

re2::RE2::Options pattern_options(TextPattern::Case);

}   // namespace garner::http
