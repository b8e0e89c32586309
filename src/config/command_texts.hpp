// The descriptions of the commands in their help.
#pragma once

namespace garner::config {

inline constexpr char const* about_garner = "Starts the proxy; default address: 127.0.0.1:3128.\n"
                                            "Without --config it serves programs on this machine only.";

inline constexpr char const* about_import =
    "Translates a squid.conf of Squid 3 to 5.\n"
    "Prints the configuration, and on standard error each directive that was dropped or needs you, with the reason.";

inline constexpr char const* about_imported =
    "The configuration refuses each request that Squid would refuse. An ACL without a translation never matches in a rule that "
    "allows, and always in a rule that denies. Relative names of files are names beside FILE. docs/guides/from-squid.md explains "
    "the result.";

inline constexpr char const* about_explain =
    "Explains why a request would be a hit or a miss.\n"
    "The running proxy shows the rules, the variants and the freshness that decide. It fetches and changes nothing. On a miss it "
    "asks the peers, as it does for a client's request.";

inline constexpr char const* about_intercept =
    "Prints or checks the firewall for intercepted connections.\n"
    "The rules of nftables divert TCP connections to the ports 80 and 443 that pass this machine. The first listener that serves "
    "IPv4 gets those of IPv4, and likewise for IPv6.";

inline constexpr char const* about_health =
    "Tells whether the running proxy serves.\n"
    "Asks the proxy at admin.address of the same configuration, and prints serving, draining or stuck. A second line has the worst "
    "problem, as garner stats does.";

inline constexpr char const* about_top =
    "Prints health, rates and lists each second.\n"
    "On a terminal it renews the screen. Otherwise it prints lines of time, kind and value. Asks the "
    "running proxy at admin.address.";

inline constexpr char const* about_quota = "Prints or resets the quotas of the running proxy.\n"
                                           "Shows the 100 users that have used most. Asks the proxy at admin.address.";

inline constexpr char const* about_token =
    "Makes a token for the admin address.\n"
    "Prints the token, and then its line for admin.tokens of the configuration, which has only the SHA-256.";

inline constexpr char const* about_token_use =
    "Keep the token in a file that only its holder can read: it cannot be printed again. A reload makes the new line valid. "
    "Commands "
    "take the token from GARNER_TOKEN or --token-file, browsers at /login, and programs send Authorization: Bearer TOKEN.";

inline constexpr char const* about_log = "Reopens the log files of the running proxy.\n"
                                         "Asks the proxy at admin.address of the same configuration. SIGUSR1 does the same.";

inline constexpr char const* about_reload =
    "Makes the running proxy load its configuration again.\n"
    "The proxy reads the file that it was started with. Asks it at control.path of the same configuration. SIGHUP does the same.";

inline constexpr char const* about_reload_keys =
    "Prints each key that changes: `KEY: BEFORE -> AFTER`, and `now`, or `takeover` for a key "
    "that a reload leaves as it is. A file with "
    "errors, an address in use or an unreadable certificate changes nothing.\n"
    "The values of --set at the start of the proxy hold again. --set of this command only leads to the control socket, and goes to "
    "the new process of --or-takeover.";

inline constexpr char const* about_takeover =
    "Takes the place of the running proxy with a new process.\n"
    "It runs this program with the configuration of this command. No connection is refused meanwhile.";
inline constexpr char const* about_takeover_steps =
    "The new process gets the sockets and the disk store by the Unix socket control.path. The former one ends its requests within "
    "deadlines.handover, and exits with 0. If the new one fails before, the former one goes on.\n"
    "Without --background it serves in the foreground.";
inline constexpr char const* about_confirm = "Keeps the configuration of garner reload --confirm.\n"
                                             "Asks the proxy at control.path of the same configuration.";

inline constexpr char const* about_cache =
    "Lists, counts, checks or purges the objects in the cache.\n"
    "Asks the running proxy at admin.address. If no proxy runs, opens the store at disk.path, and no proxy can start meanwhile.";

inline constexpr char const* about_patterns =
    "PATTERN is a prefix of URLs, such as \"http://example.com/pictures/\". If it contains *, which stands for any text, it must "
    "match the whole URL, as in \"*.example.com/*.jpg\". A purge removes all variants of a URL.";

inline constexpr char const* about_purges =
    "With - as URL, purge reads lines from standard input and prints one line for each: a URL, "
    "\"prefix\" or \"tag\" and an operand, or "
    "\"all\". Empty lines and those that begin with # are skipped.\n"
    "A purge by prefix or tag, of everything, or with --soft or --group is accepted whether "
    "anything is stored or not, and holds after a "
    "restart.\n"
    "In a group of proxies, a purge is accepted when a majority of its voters has stored it. After "
    "group.lease it holds at every member.";

inline constexpr char const* about_ca =
    "Makes, exports and shows the CA for interception.\n"
    "The CA signs the certificates that clients get for the tunnels that bump.rules decrypt. Clients must trust its root.";

inline constexpr char const* about_ca_files =
    "init writes root.pem, root.key, chain.pem and ca.key into DIR and overwrites no file. The "
    "signing certificate may sign only for "
    "the hosts of the rules that bump. If DIR has only root.pem and root.key, init makes a new "
    "signing certificate below this root. "
    "export and show read DIR, or without it the file of bump.ca_chain.";

inline constexpr char const* about_rules =
    "Asks the access rules of a configuration, and replays logs.\n"
    "Opens no files of auth. --user counts as logged in, and is in the groups of the configuration that list the name. --group "
    "adds "
    "a group. Only why asks the running proxy: for the request of --id, and for the groups of --user in a directory. Without an "
    "answer a notice names these groups, and in doubt a deny by them matches and an allow does not.";

inline constexpr char const* about_rule_lines =
    "decide reads {\"url\": ...} with at, source, listener, user, groups, method, destination and fields "
    "({\"Accept\": \"text/html\"}, or a list of lines). "
    "The verdicts are allow, deny, login and undecided. For the last two, needs names the member that is missing: user, or "
    "destination.";

inline constexpr char const* about_completion =
    "Prints the completion script for bash or zsh.\n"
    "The script completes commands, options, file names and known values. For bash, put the first example into ~/.bashrc. For "
    "zsh, store the script as a file _garner in a directory of $fpath.";

}   // namespace garner::config
