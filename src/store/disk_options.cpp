#include "store/disk_options.hpp"

namespace garner::store {

char const* text(NotStored reason) {
    switch (reason) {
    case NotStored::none: return "stored";
    case NotStored::too_slow: return "the disk is too slow";
    case NotStored::too_large: return "larger than disk.object_max";
    case NotStored::too_small: return "smaller than disk.object_min";
    case NotStored::not_admitted: return "not admitted";
    case NotStored::rate: return "more than disk.rate";
    case NotStored::failing: return "the disk fails";
    case NotStored::count: break;
    }
    return "";
}

}  // namespace garner::store
