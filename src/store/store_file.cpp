#include "store/store_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "io/log.hpp"
#include "util/clock.hpp"
#include "util/random_bits.hpp"

namespace garner::store::disk {

namespace {

constexpr unsigned copies = 2;   // copies of the header
constexpr Bytes segment_look = 64 * KiB;

bool is_directory(std::string const& path) {
    struct stat about {};
    return ::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

bool is_block_device(std::string const& path) {
    struct stat about {};
    return ::stat(path.c_str(), &about) == 0 && S_ISBLK(about.st_mode);
}

/// A suggested fix for a file that cannot be opened; empty where the error text is sufficient.
char const* mend_of(int error) {
    switch (error) {
    case EACCES:
    case EPERM: return "; give the user that runs Garner read and write access, or choose another disk.path";
    case ENOENT:
    case ENOTDIR: return "; create the directory, or choose another disk.path";
    case EROFS: return "; mount the file system writable, or choose another disk.path";
    case ELOOP: return "; it is a symbolic link: set disk.path to the directory of the file itself";
    case EISDIR: return "; remove that directory, or choose another disk.path";
    default: return "";
    }
}

/// Exists while the contents of the store are invalid, because Garner ran without it.
std::string given_up_mark(std::string const& path) { return path + "/given-up"; }

StoreHeader new_store(Bytes size) {
    auto header = shape_of(size);
    header.id = random_bits();
    header.seed = random_bits();
    header.epoch = static_cast<std::uint64_t>(unix_seconds(wall_now()));
    header.least_generation = 1;
    return header;
}

}   // namespace

std::string file_of(std::string const& path) { return is_block_device(path) ? path : path + "/store"; }

bool StoreFile::give_up(DiskOptions const& options) {
    return bool(io::File::open(given_up_mark(options.path), io::File::Mode::create_here).file);
}

StoreFile::Opened StoreFile::open(DiskOptions const& options, When when) { return open(options, when, {}); }

StoreFile::Opened StoreFile::open(DiskOptions const& options, When when, Known const& known) {
    Opened opened;
    StoreFile store(file_of(options.path));
    bool const device = store.is_device();
    bool const makes = !device && when != When::as_it_is;
    if (makes && !is_directory(options.path)) ::mkdir(options.path.c_str(), 0700);   // on an error open() gives the reason
    auto file = known.held && known.held->is_at(store.name_)
                    ? io::File::Opened{known.held->shared()}
                    : io::File::open(store.name_, makes ? io::File::Mode::create_here : io::File::Mode::write, options.faults);
    if (!file.file && !file.error) file.error = EMFILE;
    if (file.error) {
        opened.trouble = "cannot open " + store.name_ + ": " + io::text_of_error(file.error) + mend_of(file.error);
        return opened;
    }
    store.file_ = std::move(file.file);
    if (int const error = makes ? store.file_.keep_for_owner() : 0) {
        opened.trouble = store.name_ + " belongs to another user: " + io::text_of_error(error) +
                         "; change its owner (chown) to the user that runs Garner, or choose another disk.path";
        return opened;
    }
    store.file_.allow_past_cache();   // otherwise all writes use the page cache
    store.for_header_ = store.file_.again();
    int const locked = store.file_.lock();
    opened.in_use = locked == EWOULDBLOCK;
    if (opened.in_use) return opened;
    std::error_code error;
    auto const mark = given_up_mark(options.path);
    bool const given_up = std::filesystem::exists(mark, error);
    if (given_up && when == When::at_start) {
        spdlog::warn("disk: {} is reinitialized: Garner last ran without it, so its objects may be outdated", store.name_);
        when = When::later;
    }
    if (given_up && when == When::as_it_is) {
        opened.trouble = store.name_ + " is discarded because Garner ran without it; the next start of Garner reinitializes it";
        return opened;
    }
    opened.trouble = locked ? "cannot lock " + store.name_ + ": " + io::text_of_error(locked) : store.lay_out(options, when);
    store.header_.epoch = std::max(store.header_.epoch, known.epoch);
    if (opened.trouble.empty()) opened.trouble = store.write_header();
    if (opened.trouble.empty() && given_up && when == When::later) std::filesystem::remove(mark, error);
    if (opened.trouble.empty()) opened.store = std::move(store);
    return opened;
}

bool StoreFile::is_device() const { return is_block_device(name_); }

std::string StoreFile::mishap() const {
    if (is_device()) return {};
    if (!file_.is_at(name_)) return "was removed or replaced";
    return is_cut_short() ? "was truncated" : "";
}

/// Empty, or why it is not a store.
std::string StoreFile::find_as_it_is() {
    if (is_blank()) return "there is no store in " + name_ + ": nothing was ever written to it";
    if (auto trouble = read_header(); !trouble.empty()) return trouble;
    if (is_cut_short())
        return name_ + " has " + std::to_string(file_.size()) + " bytes, but its store needs " + std::to_string(header_.bytes()) +
               ": the file was truncated; remove it, or start Garner, which reinitializes it";
    ++header_.epoch;
    header_.epoch = std::max(header_.epoch, static_cast<std::uint64_t>(unix_seconds(wall_now())));
    return {};
}

/// Opens the existing store, extended if disk.size is larger; or creates a new one.
std::string StoreFile::lay_out(DiskOptions const& options, When when) {
    if (when == When::as_it_is) return find_as_it_is();
    auto const there = file_.size();
    auto const size = is_device() ? std::min(options.size, there) : options.size;
    auto const wanted = new_store(size);
    if (wanted.segments == 0)
        return name_ + " has room for " + std::to_string(size) + " bytes, which is too small; raise disk.size";
    if (is_blank()) {
        header_ = wanted;
        return make_room(there);
    }
    if (auto trouble = read_header(); !trouble.empty()) return trouble;
    auto const known = header_;
    bool const was_whole = !is_cut_short();
    take_shape(wanted, size, when);
    auto trouble = make_room(there);
    bool const only_grows = was_whole && header_.segment_bytes == known.segment_bytes && header_.segments > known.segments;
    if (trouble.empty() || !only_grows) return trouble;
    spdlog::warn("disk: {}; the file keeps its size", trouble);
    header_.segments = known.segments;
    return make_room(file_.size());   // releases space that was allocated in vain
}

/// True when nothing was ever written: the file is empty, or its first start ended before it wrote a header. The
/// first segment is checked, too, because it is used first: a zero header area alone may be damage, or the beginning
/// of a foreign file.
bool StoreFile::is_blank() const {
    std::string bytes(std::min<Bytes>(header_area + segment_look, file_.size()), '\0');
    return !file_.read_at(0, bytes).error && bytes.find_first_not_of('\0') == bytes.npos;
}

/// Uses the newer of two copies, because one may be partly written or damaged. Empty, or the error.
std::string StoreFile::read_header() {
    std::optional<StoreHeader> newest;
    int error = 0;
    for (unsigned copy = 0; copy < copies; ++copy) {
        std::string bytes(header_bytes, '\0');
        auto const done = file_.read_at(copy * header_bytes, bytes);
        if (done.error && file_.size() >= header_area) error = done.error;   // otherwise the file is only too short
        if (done.error) continue;
        auto const read = decode_header(bytes);
        if (read.version != 0 && !read.header)
            return name_ + " was written by another version (format " + std::to_string(read.version) + ", this one has " +
                   std::to_string(format_version) + "); remove it to start with an empty store";
        if (!read.header || (newest && newest->epoch >= read.header->epoch)) continue;
        newest = read.header;
        good_copy_ = copy;
    }
    if (newest) header_ = *newest;
    if (newest) return {};
    if (error) return name_ + " cannot be read: " + io::text_of_error(error);
    auto const mend = is_device() ? "overwrite the beginning of the device with zeros" : "remove it";
    return name_ + " exists, but is not a disk store; " + mend + ", or choose another disk.path";
}

void StoreFile::take_shape(StoreHeader const& wanted, Bytes size, When when) {
    auto const known = header_;
    if (is_cut_short()) {
        spdlog::error("disk: {} has {} bytes, but its store needs {}: the file was truncated; its objects are discarded, "
                      "because purged objects could be back",
                      name_, file_.size(), known.bytes());
        header_ = wanted;
    } else if (size < known.start_of(known.segments)) {
        spdlog::warn("disk: {} is made smaller; its objects are discarded", name_);
        header_ = wanted;
    } else {
        header_ = grown(known, size);
        if (header_.bytes() + header_.segment_bytes <= size)
            spdlog::warn("disk: {} cannot grow beyond {} bytes, because it was created for a smaller size; remove the file "
                         "to create a larger one",
                         name_, header_.bytes());
    }
    header_.epoch = std::max(known.epoch + 1, wanted.epoch);
    if (when == When::later) header_.id = wanted.id;
}

std::string StoreFile::make_room(Bytes was) const {
    auto const size = header_.bytes();
    if (!is_device() && size < was && ::truncate(name_.c_str(), static_cast<off_t>(size)) != 0)
        spdlog::warn("disk: {} cannot be made smaller: {}", name_, io::text_of_error(errno));
    int const error = file_.allocate(size);
    if (!error) return {};
    return "insufficient space for the " + std::to_string(size) + " bytes of " + name_ + ": " + io::text_of_error(error) +
           "; free space, or lower disk.size";
}

/// Writes one copy after the other, so that one is always whole; writes both, so that damage to one never restores an
/// older state.
std::string StoreFile::write_header() {
    auto const bytes = encode(header_);
    auto const& file = for_header_ ? for_header_ : file_;
    int error = 0;
    for (unsigned i = 0; i < copies && !error; ++i) {
        auto const copy = (good_copy_ + 1) % copies;
        error = file.write_at(copy * header_bytes, bytes).error;
        if (!error) error = file.sync();
        if (!error) good_copy_ = copy;
    }
    return error ? name_ + " cannot be written: " + io::text_of_error(error) : std::string{};
}

std::string StoreFile::make_void(std::uint64_t generation) {
    header_.least_generation = std::max(header_.least_generation, generation + 1);
    ++header_.epoch;   // so that the copy written first is the newer one
    return write_header();
}

std::string StoreFile::discard() {
    header_.id = random_bits();   // segments of another store are not read
    ++header_.epoch;
    return write_header();
}

}   // namespace garner::store::disk
