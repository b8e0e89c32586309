#include "crawl/set_directory.hpp"

#include <cerrno>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <sstream>
#include <system_error>
#include <vector>

namespace garner::crawl {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view first_line = "garner set of URLs 1\n", kind_word = "kind ", layers_word = "layers ",
                           checksum_word = "checksum ";

std::string checksum_line(std::string_view text) {
    std::ostringstream line;
    line << checksum_word << std::hex << std::setw(16) << std::setfill('0') << fingerprint(text, 0) << '\n';
    return line.str();
}

std::string text_of(SetForm const& form) {
    auto const line = [](std::string_view word, std::string const& value) {
        auto const line = std::string(word) + value;
        return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    };
    auto const text = std::string(first_line) + line(kind_word, form.kind) + line(layers_word, form.layers.value_or(""));
    return text + checksum_line(text);
}

bool is_sound(std::string const& text) {
    auto const end = text.find("\n" + std::string(checksum_word)) + 1;   // 0 when it is missing
    return text.starts_with(first_line) && text.substr(end) == checksum_line(std::string_view(text).substr(0, end));
}

std::string shown(std::string const& layers) { return layers.empty() ? "no layers" : "the layers " + layers; }

/// The rest of the line after the word.
std::string value_of(std::string const& text, std::string_view word) {
    auto const at = text.find("\n" + std::string(word));
    if (at == text.npos) return {};
    auto const begin = at + 1 + word.size();
    return text.substr(begin, text.find('\n', begin) - begin);
}

std::string write_form(fs::path const& directory, SetForm const& form) {
    auto fault = replace_file((directory / "form").string(), text_of(form), nullptr);
    return fault.empty() ? sync_directory(directory) : fault;
}

std::string compare_form(fs::path const& directory, SetForm const& wanted) {
    std::ifstream in(directory / "form", std::ios::binary);
    std::string const text{std::istreambuf_iterator<char>(in), {}};
    if (!is_sound(text)) return (directory / "form").string() + " is damaged, or was written by another version of Garner";
    SetForm const there{value_of(text, kind_word), value_of(text, layers_word)};
    if (there.kind != wanted.kind)
        return directory.string() + " holds a set " + there.kind + ", not " + wanted.kind + "; use that set, or another directory";
    if (wanted.layers && *wanted.layers != *there.layers)
        return directory.string() + " holds URLs with " + shown(*there.layers) + ", not with " + shown(*wanted.layers) +
               "; use these layers, or another directory";
    return {};
}

/// Also syncs the parent of each created directory.
std::string make_directory(fs::path const& directory) {
    std::vector<fs::path> missing;
    std::error_code error;
    for (auto path = fs::absolute(directory).lexically_normal(); !fs::exists(path, error); path = path.parent_path()) {
        missing.push_back(path);
        if (path == path.parent_path()) break;
    }
    for (; !missing.empty(); missing.pop_back()) {
        fs::create_directory(missing.back(), error);
        if (error) return missing.back().string() + " cannot be created: " + error.message();
        if (auto fault = sync_directory(missing.back().parent_path()); !fault.empty()) return fault;
    }
    if (!fs::is_directory(directory, error)) return directory.string() + " is not a directory";
    return {};
}

}   // namespace

OpenedFile open_file(std::string const& path, io::File::Mode mode, io::Faults* faults, std::string_view magic,
                     std::string const& what) {
    auto opened = io::File::open(path, mode, faults);
    OpenedFile read{std::move(opened.file), {}};
    if (opened.error) {
        read.fault = path + " cannot be opened: " + io::text_of_error(opened.error);
    } else if (read.file.read_at(0, {reinterpret_cast<char*>(&read.head), sizeof read.head}).error) {
        read.fault = path + " is truncated in its header";
    } else if (auto const fault = fault_in(read.head, magic); !fault.empty()) {
        read.fault = path + " is not a " + what + ": it " + std::string(fault);
    }
    return read;
}

std::string replace_file(std::string const& path, std::string_view bytes, io::Faults* faults) {
    auto const fresh = path + ".new";
    std::error_code renamed;
    fs::remove(fresh, renamed);
    auto const opened = io::File::open(fresh, io::File::Mode::create, faults);
    int error = opened.error;
    if (!error) error = write_all(opened.file, 0, bytes);
    if (!error) error = opened.file.sync();
    if (error) return fresh + " cannot be written: " + io::text_of_error(error);
    fs::rename(fresh, path, renamed);
    return renamed ? fresh + " cannot be renamed: " + renamed.message() : "";
}

std::string lost_file(io::File const& file, std::string const& path) {
    if (file.is_at(path)) return {};
    return path + " was removed or replaced: its URLs are lost for this process; restart it";
}

OwnDirectory own_directory(fs::path const& directory, SetForm const& form) {
    if (auto fault = make_directory(directory); !fault.empty()) return {{}, std::move(fault)};
    auto const name = (directory / "lock").string();
    auto opened = io::File::open(name, io::File::Mode::create);
    if (opened.error) return {{}, name + " cannot be opened: " + io::text_of_error(opened.error)};
    if (int const error = opened.file.lock()) {
        auto const why = error == EWOULDBLOCK ? " is in use by another process" : " cannot be locked: " + io::text_of_error(error);
        return {{}, directory.string() + why};
    }
    std::error_code ignored;
    auto fault = fs::exists(directory / "form", ignored) ? compare_form(directory, form) : write_form(directory, form);
    if (!fault.empty()) return {{}, std::move(fault)};
    return {std::move(opened.file)};
}

std::string sync_directory(fs::path const& directory, io::Faults* faults) {
    auto const opened = io::File::open(directory.string(), io::File::Mode::read, faults);
    int const error = opened.error ? opened.error : opened.file.sync();
    return error ? directory.string() + " cannot be synchronised: " + io::text_of_error(error) : "";
}

}   // namespace garner::crawl
