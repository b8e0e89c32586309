// A process that has read the CA's private key makes no core dump.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "ca_scene.hpp"

namespace garner::bump {
namespace {

/// Whether a child process that calls `first`, and then ends by SIGQUIT in a folder of its own, makes a core dump.
bool dumps_core_after(test::TempDir const& folder, void (*first)(CaScene const&), CaScene const& scene) {
    auto const child = ::fork();
    if (child == 0) {
        ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);   // other tests of this process have read keys
        rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
        ::setrlimit(RLIMIT_CORE, &unlimited);
        if (::chdir(folder.path().c_str()) != 0) ::_exit(1);
        first(scene);
        std::signal(SIGQUIT, SIG_DFL);
        ::raise(SIGQUIT);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGQUIT);
    return WCOREDUMP(status);
}

TEST(CoreDump, is_not_made_once_the_key_was_read) {
    CaScene const scene;
    ASSERT_EQ(test::run({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                         "/CN=Core", "-addext", "basicConstraints=critical,CA:TRUE", "-keyout", scene.folder.path("key"), "-out",
                         scene.folder.path("chain")})
                  .code,
              0);
    test::TempDir const cores;
    auto const nothing = [](CaScene const&) {};
    auto const read = [](CaScene const& from) {
        if (!read_ca(from.folder.path("chain"), from.folder.path("key"))) ::_exit(1);
    };
    if (!dumps_core_after(cores, nothing, scene)) GTEST_SKIP() << "this system makes no core dumps";
    EXPECT_FALSE(dumps_core_after(cores, read, scene));
}

}   // namespace
}   // namespace garner::bump
