// The keys of the state that outlives the process.
#include "config/key_parts.hpp"

namespace garner::config {

Form<State> state() {
    return object_of<State>({
        key<State>(
            "path", &State::path, text(),
            "Directory for what outlives the process: the use of `quotas`, written every 8 s and at a stop. Empty: a restart "
            "begins the windows of all quotas anew."),
    });
}

}   // namespace garner::config
