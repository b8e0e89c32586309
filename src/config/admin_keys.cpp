// The keys of the admin server.
#include "config/address_form.hpp"
#include "config/key_parts.hpp"

namespace garner::config {

Form<Admin> admin() {
    return object_of<Admin>({
        address_key<Admin>(endpoint(true), R"("127.0.0.1:3131")", "Address of the admin page, metrics and purges; empty: none."),
        key<Admin>("allow", &Admin::allow, list_of(network()), "Networks that may use the admin address, in addition to loopback."),
        key<Admin>("names", &Admin::names, list_of(host_name()),
                   "Names and addresses that Host may have in addition to the admin address itself, such as a DNS name, or "
                   "`localhost` behind an ssh forward. Other requests are rejected, because a web site could point its own name at "
                   "this address (DNS rebinding)."),
    });
}

}   // namespace garner::config
