// A disk store that takes the place of another one, or is left, while the process runs.
#include <filesystem>

#include "io/log.hpp"
#include "store/log_store.hpp"

namespace garner::store {

Result<std::unique_ptr<DiskStore>> DiskStore::open_while_running(DiskOptions const& options, Reopening const& how) {
    using When = disk::StoreFile::When;
    auto const* former = dynamic_cast<disk::LogStore const*>(how.former);
    auto store = std::make_unique<disk::LogStore>(options);
    using enum disk::LogStore::Refuses;
    disk::StoreFile::Known const known{former ? former->file() : nullptr, (how.least_sequence >> numbers_of_a_second) + 1};
    disk::LogStore::Start const start{
        .when = how.keeps_contents ? When::at_start : When::later, .known = known, .refuses = how.retries ? nothing : every_error};
    if (auto const started = store->start(start); !started) return started.fault();
    return store;
}

namespace disk {

bool LogStore::is_at(std::string const& path) const {
    if (path == options().path) return true;
    auto const* file = this->file();
    return file && file->is_at(file_of(path));
}

Result<void> LogStore::has_room_for(Bytes size) const {
    constexpr char const* key = "disk.size";
    if (shape_of(size).segments == 0)
        return Fault{.what = std::to_string(size) + " bytes are too small for a store", .mend = "raise it", .where = key};
    auto const* file = this->file();
    std::error_code error;
    bool const is_device = std::filesystem::is_block_file(options().path, error);
    if (!file || error || is_device || size <= file->size()) return {};
    auto const left = std::filesystem::space(options().path, error).available;
    if (error || size - file->size() <= left) return {};
    return Fault{.what = file_name() + " needs " + std::to_string(size - file->size()) + " bytes more, and " +
                         std::to_string(left) + " are free",
                 .mend = "free space, or set a lower value",
                 .where = key};
}

void LogStore::leave() {
    left_ = true;
    auto* works = this->works();
    std::string trouble = "it is not open";
    if (works) {
        MutexLock const lock(works->store_mutex);
        trouble = works->store.discard();
    }
    if (trouble.empty() || StoreFile::give_up(options())) return;
    spdlog::error("disk: {} is not used any more, but cannot be marked as outdated: {}; remove it before it is used again",
                  file_name(), trouble);
}

}   // namespace disk

}   // namespace garner::store
