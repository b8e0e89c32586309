#include "store/note_file.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <utility>

namespace garner::store::disk {

namespace {

/// Nothing after an error.
std::optional<std::string> read_all(std::string const& path, io::Faults* faults) {
    std::error_code error;
    if (!std::filesystem::exists(path, error) && !error) return std::string();
    auto const opened = io::File::open(path, io::File::Mode::read, faults);
    if (!opened.file) return std::nullopt;
    auto const& file = opened.file;
    std::string text(static_cast<std::size_t>(std::min(file.size(), 2 * NoteFile::size_max)), '\0');
    return file.read_at(0, text).error ? std::nullopt : std::optional(std::move(text));
}

/// A last line without its end was not acknowledged.
std::vector<std::string_view> whole_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
        if (end > 0) lines.push_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    return lines;
}

/// A line without its number and its time.
std::string_view meaning_of(std::string_view line) {
    auto const number = line.find(' ');
    auto const time = number == line.npos ? line.npos : line.find(' ', number + 1);
    return time == line.npos ? line : line.substr(time + 1);
}

std::vector<std::string> without_repetitions(std::vector<std::string_view> const& lines) {
    std::unordered_map<std::string_view, std::size_t> last;
    for (std::size_t i = 0; i < lines.size(); ++i) last[meaning_of(lines[i])] = i;
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < lines.size(); ++i)
        if (last.at(meaning_of(lines[i])) == i) kept.emplace_back(lines[i]);
    return kept;
}

}   // namespace

bool NoteFile::is_full(std::string const& path) {
    std::error_code error;
    auto const size = std::filesystem::file_size(path, error);
    return !error && size >= size_max;
}

/// The new file takes the place of the old one when it is whole.
void NoteFile::rewrite(std::string const& path, io::Faults* faults) {
    auto const fresh = path + ".new";
    std::error_code error;
    std::filesystem::remove(fresh, error);
    std::string text;
    for (auto const& line : lines_) text.append(line).append("\n");
    auto opened = io::File::open(fresh, io::File::Mode::create_here, faults);
    if (opened.error || opened.file.write_at(0, text).error || opened.file.sync() != 0) return;
    std::filesystem::rename(fresh, path, error);
    if (error) return;
    file_ = std::move(opened.file);
    size_ = text.size();
}

void NoteFile::open(std::string const& path, bool keeps, io::Faults* faults) {
    MutexLock const lock(mutex_);
    if (keeps) {
        auto const text = read_all(path, faults);
        if (!text) return lines_.assign(1, "unreadable");
        lines_ = without_repetitions(whole_lines(*text));
    }
    rewrite(path, faults);
}

NoteFile::Added NoteFile::add(std::string_view line) {
    MutexLock const lock(mutex_);
    if (closed_) return Added::closed;
    if (!file_) return Added::failed;
    auto const text = std::string(line) + "\n";
    if (size_ >= size_max) return Added::done;   // is_full() tells the next start
    if (file_.write_at(size_, text).error) return Added::failed;
    size_ += text.size();
    unsynced_ = true;
    return Added::done;
}

bool NoteFile::sync() {
    MutexLock const lock(mutex_);
    if (!file_ || !std::exchange(unsynced_, false)) return true;
    bool const synced = file_.sync() == 0;
    unsynced_ = !synced;
    return synced;
}

void NoteFile::close() {
    MutexLock const lock(mutex_);
    if (file_ && unsynced_) (void)file_.sync();
    file_.close();
    closed_ = true;
}

std::vector<std::string> NoteFile::lines() const {
    MutexLock const lock(mutex_);
    return lines_;
}

}   // namespace garner::store::disk
