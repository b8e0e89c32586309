#include "admin/settle.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace garner::admin {

namespace {

net::awaitable<void> wait(store::DiskStore& disk, store::DiskStore::Survives what, net::Executor executor, bool& settled) {
    settled = co_await disk.settled(what, executor);
}

}  // namespace

bool settle(store::DiskStore& disk, store::DiskStore::Survives what) {
    net::asio::io_context io(1);
    bool settled = false;
    auto waiting = wait(disk, what, io.get_executor(), settled);
    net::asio::co_spawn(io.get_executor(), std::move(waiting), net::asio::detached);
    io.run();
    return settled;
}

}  // namespace garner::admin
