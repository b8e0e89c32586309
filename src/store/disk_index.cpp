#include "store/disk_index.hpp"

namespace garner::store::disk {

struct Index::Region {};

Index::Index(Bytes) : region_bits_(0), offset_shift_(4) {}
Index::~Index() = default;

}  // namespace garner::store::disk
