#include "util/completion.hpp"

#include <algorithm>

namespace garner {
namespace {

using Option = CommandDescription::Option;

/// The scripts, with @NAME@ for the program and @TABLE@ for the rows of each case statement.
constexpr std::string_view bash_script = R"(# Completion of @NAME@ for bash. To load it: source <(@NAME@ completion bash)
_@NAME@() {
    local command=@NAME@ option= ended= glued= kind= words= head= word i
    local cur=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; ++i)); do
        word=${COMP_WORDS[i]}
        if [[ $word == [=:]* ]]; then
            [[ $option ]] || glued=1
        elif [[ $option || $glued ]]; then
            option= glued=
        elif [[ $ended ]]; then
            continue
        elif [[ $word == -- ]]; then
            ended=1
        elif [[ $word == -* ]]; then
            case "$command $word" in
@VALUED@            esac
        else
            case "$command $word" in
@COMMANDS@            esac
        fi
    done
    if [[ $cur == [=:]* ]]; then
        [[ $option ]] || return 0
        cur=
    fi
    [[ ! $glued ]] || return 0
    if [[ ! $option && ! $ended && $cur == -* ]]; then
        case $command in
@OPTIONS@        esac
    else
        case "$command $option" in
@VALUES@        esac
    fi
    case $kind in
    file | directory)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -"${kind:0:1}" -- "$cur")
        ;;
    list | open | words)
        [[ $kind != list || $cur != *,* ]] || head=${cur%,*},
        [[ $kind != open ]] || compopt -o nospace 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -P "$head" -W "$words" -- "${cur#"$head"}")
        ;;
    esac
}
complete -F _@NAME@ @NAME@
)";

constexpr std::string_view zsh_script = R"(#compdef @NAME@
# Completion of @NAME@ for zsh. To load it: source <(@NAME@ completion zsh)
_@NAME@() {
    local command=@NAME@ option= ended= kind= word i
    local -a proposals
    for ((i = 2; i < CURRENT; ++i)); do
        word=${words[i]}
        if [[ -n $option ]]; then
            option=
        elif [[ -n $ended ]]; then
            continue
        elif [[ $word == -- ]]; then
            ended=1
        elif [[ $word == -* ]]; then
            case "$command $word" in
@VALUED@            esac
        else
            case "$command $word" in
@COMMANDS@            esac
        fi
    done
    word=${words[CURRENT]}
    if [[ -z $option && -z $ended && $word == --*=* ]]; then
        option=${word%%=*}
        compset -P 1 '*='
    fi
    if [[ -z $option && -z $ended && $word == -* ]]; then
        case $command in
@OPTIONS@        esac
    else
        case "$command $option" in
@VALUES@        esac
    fi
    case $kind in
    (file) _files ;;
    (directory) _files -/ ;;
    (list) compset -P '*,'; compadd -S '' -a proposals ;;
    (open) compadd -S '' -a proposals ;;
    (words) _describe '@NAME@' proposals ;;
    esac
}
if [[ ${funcstack[1]} == _@NAME@ ]]; then
    _@NAME@ "$@"
else
    compdef _@NAME@ @NAME@
fi
)";

std::string shell_quoted(std::string_view text) {
    std::string result = "'";
    for (char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
}

/// "-H,--header" as the two names.
std::vector<std::string> names_of(Option const& option) {
    auto const comma = option.names.find(',');
    if (comma == option.names.npos) return {option.names};
    return {option.names.substr(0, comma), option.names.substr(comma + 1)};
}

/// How a value is completed, as the scripts call it; empty: not at all.
std::string kind_of(Option const& value) {
    if (value.value_name == "FILE") return "file";
    if (value.value_name == "DIR") return "directory";
    if (value.values.empty()) return {};
    if (value.value_name.ends_with(",...")) return "list";
    bool const open = std::ranges::all_of(value.values, [](auto const& word) { return word.ends_with('='); });
    return open ? "open" : "words";
}

struct Proposal {
    std::string word, about;   // `about` is one line, and may be empty
};

std::vector<Proposal> options_of(CommandDescription const& command) {
    std::vector<Proposal> found;
    for (auto const& option : command.options)
        for (auto const& name : names_of(option)) found.push_back({name, option.help.substr(0, option.help.find('\n'))});
    return found;
}

/// The commands or the values of the operand.
std::vector<Proposal> operands_of(CommandDescription const& command) {
    std::vector<Proposal> found;
    for (auto const& below : command.subcommands) found.push_back({below.word(), below.summary()});
    for (auto const& word : command.operand.values) found.push_back({word, {}});
    return found;
}

/// The rows of the case statements of one shell.
class Tables {
public:
    explicit Tables(bool zsh) : zsh_(zsh) {}

    void add(CommandDescription const& command) {
        add_row(options_, command.name, "words", options_of(command));
        for (auto const& option : command.options) {
            if (option.value_name.empty()) continue;
            std::vector<Proposal> words;
            for (auto const& word : option.values) words.push_back({word, {}});
            for (auto const& name : names_of(option)) {
                auto const key = command.name + " " + name;
                append_pattern(valued_, key);
                if (auto const kind = kind_of(option); !kind.empty()) add_row(values_, key, kind, words);
            }
        }
        auto const operand_kind = kind_of(command.operand);
        auto const operands = operands_of(command);
        auto const kind = operands.empty() ? operand_kind : "words";
        if (!kind.empty()) add_row(values_, command.name + " ", kind, operands);
        for (auto const& below : command.subcommands) {
            append_pattern(commands_, below.name);
            add(below);
        }
    }

    std::string fill(std::string_view script, std::string_view program) const {
        std::string text(script);
        replace(text, "@VALUED@", list_row(valued_, "option=$word"));
        replace(text, "@COMMANDS@", list_row(commands_, "command+=\" $word\""));
        replace(text, "@OPTIONS@", options_);
        replace(text, "@VALUES@", values_);
        replace(text, "@NAME@", program);
        return text;
    }

private:
    static void replace(std::string& text, std::string_view mark, std::string_view by) {
        for (auto at = text.find(mark); at != text.npos; at = text.find(mark, at + by.size())) text.replace(at, mark.size(), by);
    }
    static void append_pattern(std::string& patterns, std::string_view key) {
        patterns += (patterns.empty() ? "" : " | ") + shell_quoted(key);
    }
    std::string list_row(std::string const& patterns, std::string_view action) const {
        if (patterns.empty()) return {};
        return "            " + std::string(zsh_ ? "(" : "") + patterns + ") " + std::string(action) + " ;;\n";
    }
    void add_row(std::string& rows, std::string_view key, std::string_view kind, std::vector<Proposal> const& words) const {
        rows += "        " + std::string(zsh_ ? "(" : "") + shell_quoted(key) + ") kind=" + std::string(kind);
        if (!words.empty()) rows += assigned(words);
        rows += " ;;\n";
    }
    /// In zsh each word has its description; bash shows none.
    std::string assigned(std::vector<Proposal> const& words) const {
        std::string text;
        for (auto const& [word, about] : words)
            (text += text.empty() ? "" : " ") += zsh_ ? shell_quoted(about.empty() ? word : word + ":" + about) : word;
        return zsh_ ? "; proposals=(" + text + ")" : " words=" + shell_quoted(text);
    }

    bool const zsh_;
    std::string valued_, commands_, options_, values_;
};

std::string completion(CommandDescription const& program, std::string_view script, bool zsh) {
    Tables tables(zsh);
    tables.add(program);
    return tables.fill(script, program.name);
}

}   // namespace

std::string bash_completion(CommandDescription const& program) { return completion(program, bash_script, false); }

std::string zsh_completion(CommandDescription const& program) { return completion(program, zsh_script, true); }

}   // namespace garner
