// Waiting for the disk tier where no worker waits.
#pragma once
#include "store/disk_store.hpp"

namespace garner::admin {

/// DiskStore::settled, waited for on this thread: disk.patience at most.
bool settle(store::DiskStore& disk, store::DiskStore::Survives what);

}  // namespace garner::admin
