#include "support/kdc.hpp"

#include <thread>

namespace garner::test {
namespace {

std::string client_configuration(std::uint16_t port, int clock_skew = 300) {
    return "[libdefaults]\n default_realm = UNI.EXAMPLE\n dns_lookup_kdc = false\n dns_lookup_realm = false\n"
           " dns_canonicalize_hostname = false\n rdns = false\n udp_preference_limit = 1\n clockskew = " +
           std::to_string(clock_skew) + "\n[realms]\n UNI.EXAMPLE = {\n  kdc = 127.0.0.1:" + std::to_string(port) +
           "\n }\n[domain_realm]\n localhost = UNI.EXAMPLE\n";
}

std::string kdc_configuration(TempDir const& dir, std::uint16_t port) {
    auto const listen = "127.0.0.1:" + std::to_string(port);
    return "[kdcdefaults]\n kdc_listen = \"\"\n kdc_tcp_listen = " + listen +
           "\n[realms]\n UNI.EXAMPLE = {\n  database_name = " + dir.path("principal").string() +
           "\n  key_stash_file = " + dir.path("stash").string() + "\n  acl_file = " + dir.path("acl").string() +
           "\n  max_life = 1h\n }\n[logging]\n kdc = FILE:" + dir.path("kdc.log").string() + "\n";
}

std::vector<std::string> with_environment(std::vector<std::string> const& environment, std::vector<std::string> command) {
    command.insert(command.begin(), environment.begin(), environment.end());
    command.insert(command.begin(), "env");
    return command;
}

}   // namespace

Kdc::Kdc() : port_(free_port()) {
    dir_.write("krb5.conf", client_configuration(port_));
    dir_.write("kdc.conf", kdc_configuration(dir_, port_));
    auto const made = run(with_environment(environment(), {"/usr/sbin/kdb5_util", "create", "-s", "-r", realm, "-P", "master"}));
    if (made.code != 0) throw Trouble("kdb5_util: " + made.errors);
    child_ = std::make_unique<Child>(std::vector<std::string>{"/usr/sbin/krb5kdc", "-n", "-r", realm}, environment());
    for (int i = 0; i < 200; ++i) {
        if (!child_->running()) throw Trouble("krb5kdc: " + child_->errors());
        try {
            Wire::connect("127.0.0.1", port_);
            return;
        } catch (Trouble const&) {
            std::this_thread::sleep_for(Millis(50));
        }
    }
    throw Trouble("krb5kdc does not listen");
}

Kdc::~Kdc() = default;

void Kdc::set_clock_skew(int seconds) const { dir_.write("krb5.conf", client_configuration(port_, seconds)); }

std::vector<std::string> Kdc::environment() const {
    return {"KRB5_CONFIG=" + path("krb5.conf"), "KRB5_KDC_PROFILE=" + path("kdc.conf"), "KRB5RCACHENAME=file2:" + path("replays")};
}

void Kdc::admin(std::string const& command) const {
    auto const done = run(with_environment(environment(), {"/usr/sbin/kadmin.local", "-r", realm, "-q", command}));
    if (done.code != 0) throw Trouble("kadmin.local " + command + ": " + done.errors);
}

void Kdc::add_user(std::string const& user, std::string const& password) const { admin("addprinc -pw " + password + " " + user); }

std::string Kdc::add_service(std::string const& principal) const {
    admin("addprinc -randkey " + principal);
    admin("ktadd -k " + path("service.keytab") + " " + principal);
    return path("service.keytab");
}

std::vector<std::string> Kdc::log_in(std::string const& user, std::string const& password, std::string const& lifetime) const {
    std::vector<std::string> const environment{"KRB5_CONFIG=" + path("krb5.conf"), "KRB5CCNAME=FILE:" + path("cache-" + user)};
    auto const done = run(with_environment(
        environment, {"sh", "-c", "printf '%s\\n' \"$1\" | kinit -l \"$3\" \"$2\"", "kinit", password, user, lifetime}));
    if (done.code != 0) throw Trouble("kinit: " + done.errors);
    return environment;
}

}   // namespace garner::test
