#include "util/command_form.hpp"

#include <algorithm>
#include <map>
#include <ostream>

#include <CLI/CLI.hpp>

#include "util/exit_code.hpp"
#include "util/nearest.hpp"
#include "util/units.hpp"

namespace garner {
namespace {

/// "a, b and c".
std::string listed(std::vector<std::string> const& names, std::string_view last_word) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) text += i + 1 < names.size() ? ", " : " " + std::string(last_word) + " ";
        text += names[i];
    }
    return text;
}

std::string hint(std::string_view word, std::vector<std::string> const& known) {
    std::vector<std::string_view> const candidates(known.begin(), known.end());
    auto const meant = nearest(word.substr(0, word.find('=')), candidates);
    return meant.empty() ? std::string() : "; did you mean " + std::string(meant) + "?";
}

std::string needs_value(std::string_view name) { return std::string(name) + " needs a value"; }

}   // namespace

/// Declares the commands and options that occur among the words to CLI11, and reads the results of its parser. Every start does
/// so: all of them would cost milliseconds.
class CommandForm::Reader {
public:
    Reader(CommandForm const& root, std::span<std::string const> words) : root_(root), words_(words) {
        app_.allow_extras();
        if (!root.version_.empty()) app_.set_version_flag("--version", root.version_);
        declare(root, app_);
        // Lets an option precede its command, and lets the error about a wrong command name the right ones.
        declare_options_of_subcommands(root);
    }

    Reading read() {
        Reading reading;
        try {
            app_.parse(std::vector<std::string>(words_.rbegin(), words_.rend()));   // CLI11 expects the words in reverse order
            find_chosen();
            reading.fault = take_all();
        } catch (CLI::CallForVersion const&) {
            return {.help = true, .fault = {}, .text = root_.version_ + "\n"};
        } catch (CLI::CallForHelp const&) {
            reading.help = true;
        } catch (CLI::ArgumentMismatch const&) {   // an option without its value can only be the last word
            reading.fault = needs_value(words_.back().substr(0, words_.back().find('=')));
        } catch (CLI::ParseError const& error) {
            reading.fault = error.what();
        }
        find_chosen();
        auto const& form = chosen_->documented();
        if (reading.help)
            reading.text = help_page(form.describe());
        else if (!reading.fault.empty())
            reading.text = root_.name_ + ": " + reading.fault + "\nTry: " + form.name_ + " --help\n";
        return reading;
    }

private:
    /// "-H,--header" is written as "-H", "-Hvalue", "--header" or "--header=value".
    bool is_written(std::string_view names) const {
        for (std::size_t begin = 0; begin < names.size();) {
            auto const end = std::min(names.find(',', begin), names.size());
            auto const name = names.substr(begin, end - begin);
            for (auto const& word : words_)
                if (word.starts_with(name)) return true;
            begin = end + 1;
        }
        return false;
    }

    void declare(Row const& row, CLI::App& app) {
        if (!is_written(row.names) || app.get_option_no_throw(row.names.substr(row.names.find("--")))) return;
        auto* option = row.flag ? app.add_flag(row.names, row.help) : app.add_option(row.names, {}, row.help);
        option->option_text(row.value_name)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }

    static void declare_operand(CommandForm const& form, CLI::App& app) {
        constexpr std::size_t dots = 3;
        constexpr int most = 1 << 20;
        if (!form.takes_many()) return void(app.add_option(form.operand_));
        app.add_option(form.operand_.substr(0, form.operand_.size() - dots))
            ->expected(1, most)
            ->allow_extra_args()
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }

    void declare(CommandForm const& form, CLI::App& app) {
        if (form.rest_) {
            app.prefix_command()->fallthrough(false)->set_help_flag();
            return;
        }
        app.require_subcommand(0, 1)->fallthrough();
        for (auto const* from = &form; from; from = from->parent_)
            for (auto const& row : from->rows_) declare(row, app);
        if (!form.operand_.empty()) declare_operand(form, app);
        if (auto const& second = form.second_operand_; !second.empty()) app.add_option(second.substr(1, second.size() - 2));
        for (auto const& below : form.subcommands_)
            if (std::ranges::count(words_, below->word_) > 0) declare(*below, *app.add_subcommand(below->word_));
    }

    void declare_options_of_subcommands(CommandForm const& form) {
        for (auto const& below : form.subcommands_) {
            for (auto const& row : below->rows_) declare(row, app_);
            declare_options_of_subcommands(*below);
        }
    }

    void find_chosen() {
        path_ = {&app_};
        chosen_ = &root_;
        for (auto below = app_.get_subcommands(); !below.empty(); below = below.front()->get_subcommands()) {
            path_.push_back(below.front());
            auto const has_its_word = [&](auto const& form) { return form->word_ == below.front()->get_name(); };
            chosen_ = std::ranges::find_if(chosen_->subcommands_, has_its_word)->get();
        }
    }

    std::string take_all() {
        if (chosen_->chosen_) chosen_->chosen_();
        for (auto* app : path_)
            if (auto fault = take_parsed(*app); !fault.empty()) return fault;
        if (chosen_->rest_) return *chosen_->rest_ = path_.back()->remaining(), std::string();
        for (auto const& word : app_.remaining())
            if (word != "--") return unexpected(word);
        if (auto fault = missing(); !fault.empty()) return fault;
        return chosen_->check_ ? chosen_->check_() : std::string();
    }

    std::string take_parsed(CLI::App const& app) {
        std::map<CLI::Option const*, std::size_t> taken;
        for (auto const* option : app.parse_order()) {
            std::string const value = option->results()[taken[option]++];
            if (auto fault = take(*option, value); !fault.empty()) return fault;
        }
        return {};
    }

    std::string take(CLI::Option const& option, std::string const& value) {
        if (option.get_positional()) {
            bool const has_second = !chosen_->second_operand_.empty();
            if (value.empty() && has_second) return chosen_->name_below(root_) + "takes no empty operand";
            has_operand_ = has_operand_ || !value.empty();
            return value.empty() ? std::string() : chosen_->take_operand_(chosen_->operand_, value);
        }
        auto const name = option.get_name();
        auto const* row = chosen_->find_row(name);
        if (!row) return name + " is for " + listed(takers(root_, name), "and");
        if (row->flag && value != "true") return name + " takes no value";
        if (row->flag) return *row->flag = true, std::string();
        // CLI11 reads the next word as the missing value: "--path= --verify".
        if (value.empty() || value.starts_with("--")) return needs_value(name);
        return row->take(name, value);
    }

    static std::vector<std::string> takers(CommandForm const& form, std::string_view name) {
        std::vector<std::string> found;
        for (auto const& below : form.subcommands_) {
            if (std::ranges::any_of(below->rows_, [&](Row const& row) { return row.names.ends_with(name); }))
                found.push_back(below->name_);
            std::ranges::move(takers(*below, name), std::back_inserter(found));
        }
        return found;
    }

    static void add_option_names(CommandForm const& form, std::vector<std::string>& names) {
        for (auto const& row : form.rows_) names.push_back(row.names.substr(row.names.find("--")));
        for (auto const& below : form.subcommands_) add_option_names(*below, names);
    }

    std::string unexpected(std::string const& word) const {
        auto const name = chosen_->name_below(root_);
        if (word.starts_with('-') && word.size() > 1) {
            std::vector<std::string> names{"--help", "--version"};
            add_option_names(root_, names);
            return "unknown option " + word + hint(word, names);
        }
        if (!chosen_->subcommands_.empty()) {
            auto const names = subcommand_names();
            auto const meant = hint(word, names);
            return (name.empty() ? "unknown command " : name + "has no command ") + quoted_word(word) +
                   (meant.empty() ? "; it takes " + listed(names, "or") : meant);
        }
        if (!chosen_->no_operand_.empty()) return quoted_word(word) + " is no option; " + chosen_->no_operand_;
        return name + "takes no " + quoted_word(word) +
               (chosen_->operand_.empty() ? "" : "; " + name + "takes one " + chosen_->operand_ + chosen_->and_second());
    }

    std::string missing() const {
        auto const name = chosen_->name_below(root_);
        if (!chosen_->subcommands_.empty() && !chosen_->subcommand_optional_)
            return name + "needs one of " + listed(subcommand_names(), "and");
        if (!chosen_->operand_.empty() && !chosen_->operand_optional_ && !has_operand_)
            return name + "needs a " + chosen_->operand_;
        if (auto const& required = chosen_->required_; required && required->value->empty())
            return "no " + required->word() + "; give one with " + required->spec;
        return {};
    }

    std::vector<std::string> subcommand_names() const {
        std::vector<std::string> names;
        for (auto const& below : chosen_->subcommands_) names.push_back(below->word_);
        return names;
    }

    CommandForm const& root_;
    std::span<std::string const> words_;
    CLI::App app_;
    std::vector<CLI::App*> path_;   // from the root to the chosen subcommand
    CommandForm const* chosen_ = nullptr;
    bool has_operand_ = false;
};

CommandForm::CommandForm(std::string name, std::string about) : name_(std::move(name)), about_(std::move(about)) {}

CommandForm::Take CommandForm::into(std::string& value) {
    return [&value](std::string_view, std::string_view text) { return value = text, std::string(); };
}

CommandForm& CommandForm::add(std::string_view spec, std::string help, Take take, bool* flag) {
    auto const names = spec.substr(0, spec.find(' '));
    auto const value_name = spec.substr(std::min(spec.size(), names.size() + 1));
    rows_.push_back({{std::string(names), std::string(value_name), std::move(help)}, std::move(take), flag, {}});
    operand_is_last_ = false;
    return *this;
}

CommandForm& CommandForm::values(Words words) {
    (operand_is_last_ ? operand_words_ : rows_.back().words) = std::move(words);
    return *this;
}

CommandForm& CommandForm::operand(std::string_view spec, Take take) {
    operand_optional_ = spec.starts_with('[');
    operand_ = operand_optional_ ? spec.substr(1, spec.size() - 2) : spec;
    take_operand_ = std::move(take);
    operand_is_last_ = true;
    return *this;
}

CommandForm& CommandForm::and_operand(std::string_view spec) {
    second_operand_ = spec;
    return *this;
}

std::string CommandForm::and_second() const { return second_operand_.empty() ? "" : " and one " + second_operand_; }

CommandForm& CommandForm::required(std::string_view spec, std::string help, std::string& value) {
    required_ = Required{std::string(spec), &value};
    no_operand_ = "the " + required_->word() + " is given with " + required_->spec;
    return option(spec, std::move(help), value);
}

CommandForm& CommandForm::subcommand(std::string_view word, std::string about, std::function<void()> chosen,
                                     std::vector<std::string>* rest) {
    auto& form = *subcommands_.emplace_back(std::make_unique<CommandForm>(name_ + " " + std::string(word), std::move(about)));
    form.parent_ = this;
    form.word_ = word;
    form.chosen_ = std::move(chosen);
    form.rest_ = rest;
    return form;
}

CommandForm::Reading CommandForm::read(std::span<std::string const> words) const { return Reader(*this, words).read(); }

CommandForm const& CommandForm::documented() const { return is_part() || rest_ ? parent_->documented() : *this; }

/// "cache purge " under "garner"; empty for the root.
std::string CommandForm::name_below(CommandForm const& root) const {
    return this == &root ? std::string() : name_.substr(root.name_.size() + 1) + " ";
}

CommandForm::Row const* CommandForm::find_row(std::string_view name) const {
    for (auto const& row : rows_)
        if (row.names.ends_with(name)) return &row;
    return parent_ ? parent_->find_row(name) : nullptr;
}

std::string CommandForm::usage() const {
    auto text = name_;
    if (required_) text += " " + required_->spec;
    if (!operand_.empty()) text += operand_optional_ ? " [" + operand_ + "]" : " " + operand_;
    if (!second_operand_.empty()) text += " " + second_operand_;
    if (subcommands_.empty()) return text;
    if (!parent_) return text + (subcommand_optional_ ? " [COMMAND]" : " COMMAND");
    std::string all;
    for (auto const& below : subcommands_) all += (all.empty() ? "" : " | ") + below->usage().substr(name_.size() + 1);
    return text + (subcommand_optional_ ? " [" + all + "]" : " " + all);
}

void CommandForm::describe_options(std::vector<CommandDescription::Option>& options) const {
    for (auto const& row : rows_) {
        if (row.help.empty()) continue;
        options.push_back(row);
        if (row.words) options.back().values = row.words();
    }
}

CommandDescription CommandForm::describe() const {
    CommandDescription description{.name = name_, .usage = usage(), .group = group_, .about = about_};
    if (own_form_) {
        own_form_([&](CommandForm const& form) { description = form.describe(); });
        return description;
    }
    description.operand = {.names = {}, .value_name = operand_, .help = {}, .values = {}};
    if (operand_words_) description.operand.values = operand_words_();
    auto& options = description.options;
    describe_options(options);
    if (parent_)
        for (auto const& below : subcommands_) below->describe_options(options);
    for (auto const* above = rest_ ? nullptr : parent_; above; above = above->parent_) above->describe_options(options);
    if (!version_.empty()) options.push_back({.names = "--version", .value_name = {}, .help = "prints the version"});
    options.push_back({.names = "-h,--help", .value_name = {}, .help = "prints this text"});
    description.notes = notes_;
    description.exit_statuses = exit_statuses_;
    description.examples = examples_;
    description.topics = topics_;
    description.is_part = is_part();
    for (auto const& below : subcommands_) description.subcommands.push_back(below->describe());
    return description;
}

std::optional<int> CommandForm::Reading::print(std::ostream& out, std::ostream& err) const {
    if (help) return out << text, exit_done;
    if (!fault.empty()) return err << text, exit_usage;
    return std::nullopt;
}

CommandForm::Take size_into(Bytes& to, Bytes least) {
    return [=, &to](std::string_view name, std::string_view value) -> std::string {
        auto const size = parse_size(value);
        if (!size) return std::string(name) + ": " + quoted_word(value) + " is no size; write 2GiB";
        if (*size < least) return std::string(name) + ": " + quoted_word(value) + " is too little; at least " + size_text(least);
        to = *size;
        return {};
    };
}

CommandForm::Take format_into(bool& json) {
    return [&json](std::string_view name, std::string_view value) -> std::string {
        json = value == "json";
        return json || value == "table" ? "" : std::string(name) + ": " + quoted_word(value) + " is neither table nor json";
    };
}

}   // namespace garner
