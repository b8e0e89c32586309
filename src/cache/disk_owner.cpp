#include "cache/disk_owner.hpp"

#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "io/log.hpp"
#include "store/interim_disk.hpp"

namespace garner::cache {

namespace {

/// True if an open store can take these options over: see DiskOptions::take_over().
bool can_adjust(store::DiskOptions running, store::DiskOptions const& fresh) {
    running.take_over(fresh);
    running.faults = fresh.faults;
    return running == fresh;
}

}   // namespace

DiskOwner::~DiskOwner() {
    store_ = nullptr;
    disposal_->finish();
}

Result<void> DiskOwner::open(Cache& cache, store::DiskOptions const& options, OnError on_error) {
    options_ = options;
    if (options.path.empty()) return {};
    store::DiskStore::Reopening const of_another_process{.keeps_contents = true};
    auto opened = on_error == OnError::retries ? store::DiskStore::open(options)
                                               : store::DiskStore::open_while_running(options, of_another_process);
    if (!opened) return opened.fault().where.empty() ? opened.fault().at("disk.path") : opened.fault();
    store_ = own(*std::move(opened));
    cache.set_disk(store_);
    return {};
}

DiskOwner::StorePtr DiskOwner::own(std::unique_ptr<store::DiskStore> store) {
    std::erase_if(all_, [](auto const& one) { return one.expired(); });
    auto shared = disposal_->share(std::move(store));
    all_.push_back(shared);
    return shared;
}

/// The former store that still has its file there open, closed; nullptr: none.
DiskOwner::StorePtr DiskOwner::holder_of(std::string const& path) {
    disposal_->wait();   // until then a destroyed store has its file
    for (auto const& one : all_)
        if (auto store = one.lock(); store && store != store_ && store->is_at(path)) {
            store->close();
            return store;
        }
    return nullptr;
}

void DiskOwner::stop() {
    for (auto const& one : all_)
        if (auto const store = one.lock()) store->stop();
}

void DiskOwner::wait_until_settled(store::Survives what) {
    if (store_) store_->wait_until_settled(what);
}

// ---- exchange ----

Result<Prepared> DiskOwner::prepare(Cache& cache, store::DiskOptions const& fresh) {
    if (!store_ && fresh.path.empty()) return Prepared([this, fresh] { options_ = fresh; });
    if (store_ && can_adjust(options_, fresh)) return Prepared([this, &cache, fresh] { adjust(cache, fresh); });
    if (!store_ || !store_->is_at(fresh.path)) return prepare_other(cache, fresh);
    if (auto const fits = store_->has_room_for(fresh.size); !fits) return fits.fault();
    return Prepared([this, &cache, fresh] { reopen(cache, fresh); });
}

Result<Prepared> DiskOwner::prepare_other(Cache& cache, store::DiskOptions const& fresh) {
    StorePtr next;
    if (!fresh.path.empty()) {
        auto const holder = holder_of(fresh.path);
        auto opened = store::DiskStore::open_while_running(fresh, {.former = holder.get(), .least_sequence = cache.numbers.last()});
        if (!opened) return opened.fault().where.empty() ? opened.fault().at("disk.path") : opened.fault();
        next = own(*std::move(opened));
    }
    return Prepared([this, &cache, fresh, next] { replace(cache, next, fresh); });
}

void DiskOwner::adjust(Cache& cache, store::DiskOptions const& fresh) {
    options_ = fresh;
    store_->reconfigure(fresh);
    cache.disk().reconfigure();
}

/// The former store is left first: if the process is killed between, its objects are not found again.
void DiskOwner::replace(Cache& cache, StorePtr next, store::DiskOptions const& fresh) {
    auto const former = std::exchange(store_, std::move(next));
    options_ = fresh;
    if (former) former->leave();
    cache.set_disk(store_);
    if (former) disposal_->close(former);
}

void DiskOwner::reopen(Cache& cache, store::DiskOptions const& fresh) {
    auto const former = store_;
    auto const interim = std::make_shared<store::InterimDisk>(former.get());
    cache.set_disk(interim);
    follow(cache, *interim, fresh, former->close(), "the changes do not take effect");
}

/// Opens the store that follows the closed one.
void DiskOwner::follow(Cache& cache, store::InterimDisk& stand_in, store::DiskOptions const& fresh, bool settled,
                       char const* trouble) {
    auto const former = store_;
    store_ = open_again(*former, fresh, settled, cache.numbers.last(), trouble);
    if (!stand_in.pass_on(store_)) {
        store_->close();
        store_ = open_again(*store_, fresh, false, cache.numbers.last(), trouble);
        stand_in.pass_on_to_empty(store_);
    }
    cache.set_disk(store_);
}

// ---- takeover ----

void DiskOwner::hand_over(Cache& cache, std::shared_ptr<store::InterimDisk> const& stand_in) {
    cache.set_disk(stand_in);
    if (!store_) return;
    settled_ = store_->close();
    store_->unlock();
}

void DiskOwner::leave_unless_at(std::string const& path) {
    std::error_code error;
    bool const is_named = std::filesystem::absolute(options_.path, error) == path;
    if (!store_ || is_named || store_->is_at(path)) return;
    store_->leave();
    settled_ = false;
}

void DiskOwner::take_back(Cache& cache, store::InterimDisk& stand_in) {
    constexpr milliseconds patience{5'000}, pause{10};   // the kernel closes the files of a killed process one by one
    if (!store_) return cache.set_disk(nullptr);
    for (auto const until = steady_now() + patience; !store_->lock_again() && steady_now() < until;)
        std::this_thread::sleep_for(pause);
    follow(cache, stand_in, options_, settled_, "the store is not open after the takeover");
}

DiskOwner::StorePtr DiskOwner::open_again(store::DiskStore& former, store::DiskOptions const& fresh, bool keeps_contents,
                                          std::uint64_t number, char const* trouble) {
    store::DiskStore::Reopening how{.former = &former, .keeps_contents = keeps_contents, .least_sequence = number};
    auto opened = store::DiskStore::open_while_running(fresh, how);
    if (!opened) {
        spdlog::error("disk: {}: {}", trouble, opened.fault().text());
        how.retries = true;
        opened = store::DiskStore::open_while_running(options_, how);
    } else {
        options_ = fresh;
    }
    return own(*std::move(opened));
}

}   // namespace garner::cache
