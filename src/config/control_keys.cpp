// The keys of the control socket.
#include "config/key_parts.hpp"

namespace garner::config {

Form<Control> control() {
    using T = Control;
    return object_of<T>({
        key<T>(
            "path", &T::path, text(),
            "Unix socket at which `garner reload` and `garner confirm` reach the running proxy; only root and the proxy's own user "
            "may use it. Empty: `control` in $RUNTIME_DIRECTORY, else none."),
    });
}

}   // namespace garner::config
