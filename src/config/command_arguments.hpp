// The forms of operands and options, and checks of those that belong together.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/command_line.hpp"
#include "util/command_form.hpp"

namespace garner::config {

/// Repeatable.
CommandForm::Take appended_to(std::vector<std::string>& to);
/// "0.1%" as a share.
CommandForm::Take percent_into(std::optional<double>& to);
/// "60s".
CommandForm::Take time_of_trial_into(seconds& to);
CommandForm::Take shell_into(std::string& to);
CommandForm::Take level_into(std::string& to);

// Each returns the error, or an empty text.
/// With CONNECT, `url` may be an authority: it becomes a URL.
std::string check_url(CommandLine& line);
std::string check_intercept(CommandLine::Intercept const& intercept);
/// A URL, a prefix, a tag, everything, or lines on standard input.
std::string check_purge(CommandLine& line);
/// The error of the first one that is no URL.
std::string check_urls(std::span<std::string const> urls);

}   // namespace garner::config
