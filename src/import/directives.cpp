// The directives of Squid 3 to 5: a row a directive.
#include <algorithm>
#include <array>
#include <span>

#include "import/context.hpp"
#include "import/words.hpp"
#include "util/bytes.hpp"
#include "util/text.hpp"

namespace garner::importing {
namespace {

constexpr std::uint64_t second = 1'000, minute = 60 * second, hour = 60 * minute, day = 24 * hour, year = 365 * day;
constexpr Bytes size_max = Bytes{1} << 62;

void drop(Context& context, Line const& line, Directive const& row) { context.report.drop(line, row.text); }
void human(Context& context, Line const& line, Directive const& row) { context.report.needs_you(line, row.text); }

void acl(Context& context, Line const& line, Directive const&) { context.acls.declare(line); }

/// Lines of an access list; finish() translates them.
void access(Context& context, Line const& line, Directive const& row) {
    if (auto read = read_access_line(line, split(line.rest), 0, context.report))
        context.access[std::string(row.text)].push_back(*std::move(read));
}

/// A file that cannot be read may have rules of every kind.
void include(Context& context, Line const& line, Directive const&) { context.access["http_access"].push_back({.line = line}); }

void reason(Context& context, Line const& line, Directive const&) {
    auto const words = split(line.rest);
    if (words.size() < 2) return context.report.drop(line, "names no page and ACL");
    auto text = words.front();
    if (text == "TCP_RESET") return context.report.drop(line, "Garner answers with a page");
    auto const scheme = text.find("://");
    auto const code = text.find(':');
    if (scheme != text.npos) text = "See " + text.substr(code < scheme ? code + 1 : 0);
    for (std::size_t i = 1; i < words.size(); ++i) context.reasons[lower_case(words[i])] = printable(text);
}

/// Squid strips queries by default.
void strip_query(Context& context, Line const& line, Directive const&) {
    context.set("log.query", Json::flag(trimmed(line.rest) == "off"));
}

void indirect_sources(Context& context, Line const& line, Directive const&) {
    context.facts.indirect_sources = trimmed(line.rest) != "off";
    if (!context.facts.indirect_sources)
        context.report.drop(line, "`forwarded_trust` stays empty: rules and log have the addresses of the gateways");
}

void nothing(Context&, Line const&, Directive const&) {}

constexpr char const* own_files = "Garner has no such files";
constexpr char const* own_page = "Garner's error pages have no such setting";
constexpr char const* own_cache = "Garner's store has no such setting";
constexpr char const* own_dns = "Garner's resolver has no such setting";
constexpr char const* own_connections = "Garner's connections have no such setting";
constexpr char const* own_digest = "Garner's cache digest has no such setting";
constexpr char const* own_peers = "Garner measures peers by itself";
constexpr char const* own_log = "Garner's log has no such setting";
constexpr char const* no_helpers = "Garner starts no helpers";
constexpr char const* no_ftp = "Garner fetches by http and https only";
constexpr char const* no_snmp = "Garner has no SNMP; /metrics of the admin address is for Prometheus";
constexpr char const* no_wccp = "Garner does not speak WCCP; let nftables divert connections (docs/guides/interception-proxy.md)";
constexpr char const* intercepts = "Garner verifies each host, and connects to the destination of the client";
constexpr char const* no_rewriting = "Garner rewrites no URLs; remove it, or keep Squid for these clients";
constexpr char const* no_icap = "Garner passes no messages to ICAP or eCAP services; remove it, or keep Squid for these clients";
constexpr char const* no_fields = "Garner changes no fields but those of `forwarded` and `forwarded_received`";
constexpr char const* no_responses = "Garner's rules see no response";
constexpr char const* by_share = "write `share` or `caps`, as in docs/guides/gateway.md";
constexpr char const* no_outgoing = "Garner chooses no source address and marks no packets; use the routes of the system";
constexpr char const* by_bump = "write `bump` and its CA, as in docs/guides/interception.md";
constexpr char const* obsolete = "Squid 5 has no such directive either";
constexpr char const* always_on = "Garner always does so";

// clang-format off
constexpr auto rows = std::to_array<Directive>({
    {"accept_filter", drop, own_connections},
    {"access_log", take_access_log},
    {"acl", acl},
    {"acl_uses_indirect_client", indirect_sources},
    {"adaptation_access", human, no_icap},
    {"adaptation_masterx_shared_names", human, no_icap},
    {"adaptation_meta", human, no_icap},
    {"adaptation_send_client_ip", human, no_icap},
    {"adaptation_send_username", human, no_icap},
    {"adaptation_service_chain", human, no_icap},
    {"adaptation_service_iteration_limit", human, no_icap},
    {"adaptation_service_set", human, no_icap},
    {"adaptation_uses_indirect_client", human, no_icap},
    {"adapted_http_access", access, "adapted_http_access"},
    {"allow_underscore", drop, always_on},
    {"always_direct", access, "always_direct"},
    {"announce_file", drop, "Garner announces itself nowhere"},
    {"announce_host", drop, "Garner announces itself nowhere"},
    {"announce_period", drop, "Garner announces itself nowhere"},
    {"announce_port", drop, "Garner announces itself nowhere"},
    {"append_domain", drop, own_dns},
    {"as_whois_server", drop, "Garner knows no AS numbers"},
    {"auth_param", take_auth_param},
    {"auth_schemes", human, "Garner offers every client the same schemes"},
    {"authenticate_cache_garbage_interval", drop, "Garner forgets users by auth.remember"},
    {"authenticate_ip_ttl", drop, "Garner does not count the addresses of a user"},
    {"authenticate_ttl", drop, "Garner forgets users by auth.remember"},
    {"background_ping_rate", drop, own_peers},
    {"balance_on_multiple_ip", drop, obsolete},
    {"broken_posts", drop, "Garner sends bodies as HTTP defines them"},
    {"buffered_logs", drop, own_log},
    {"cache", access, "cache"},
    {"cache_access_log", take_access_log},
    {"cache_dir", take_cache_dir},
    {"cache_effective_group", drop, "`user` has the group of its account"},
    {"cache_effective_user", drop, "`user` names an account if the default does not fit"},
    {"cache_log", drop, "messages go to standard error"},
    {"cache_mem", take_size, "memory.size", 16 * MiB, size_max},
    {"cache_mgr", drop, own_page},
    {"cache_miss_revalidate", drop, own_cache},
    {"cache_peer", take_cache_peer},
    {"cache_peer_access", take_peer_access},
    {"cache_peer_domain", take_peer_domain},
    {"cache_replacement_policy", take_policy, "disk.policy"},
    {"cache_store_log", drop, own_log},
    {"cache_swap_high", drop, own_cache},
    {"cache_swap_low", drop, own_cache},
    {"cache_swap_state", drop, own_cache},
    {"cachemgr_passwd", drop, "admin.tokens has tokens for the admin address, and admin.allow networks"},
    {"check_hostnames", drop, "Garner checks host names as HTTP defines them"},
    {"chroot", drop, "use the sandbox of systemd"},
    {"client_db", drop, "Garner always counts the connections of a client"},
    {"client_delay_access", human, by_share},
    {"client_delay_initial_bucket_level", human, by_share},
    {"client_delay_parameters", human, by_share},
    {"client_delay_pools", human, by_share},
    {"client_dst_passthru", drop, intercepts},
    {"client_idle_pconn_timeout", take_time, "deadlines.keep_alive", 1, year},
    {"client_ip_max_connections", take_count, "limits.connections_per_client", 1, 10'000'000},
    {"client_lifetime", take_time, "deadlines.tunnel_total", 1, year},
    {"client_netmask", drop, own_log},
    {"client_persistent_connections", drop, own_connections},
    {"client_request_buffer_max_size", drop, "Garner's buffers have fixed sizes"},
    {"clientside_mark", human, no_outgoing},
    {"clientside_tos", human, no_outgoing},
    {"collapsed_forwarding", drop, always_on},
    {"collapsed_forwarding_access", drop, "Garner collapses all requests"},
    {"configuration_includes_quoted_values", nothing},
    {"connect_retries", drop, own_connections},
    {"connect_timeout", take_time, "connect.timeout", 1, hour},
    {"coredump_dir", drop, own_files},
    {"cpu_affinity_map", drop, "Garner pins no threads"},
    {"dead_peer_timeout", drop, own_peers},
    {"debug_options", drop, "log.level has the severity of messages"},
    {"delay_access", human, by_share},
    {"delay_class", human, by_share},
    {"delay_initial_bucket_level", human, by_share},
    {"delay_parameters", human, by_share},
    {"delay_pool_uses_indirect_client", human, by_share},
    {"delay_pools", human, by_share},
    {"deny_info", reason},
    {"detect_broken_pconn", drop, own_connections},
    {"digest_bits_per_entry", drop, own_digest},
    {"digest_generation", take_flag, "digest.publish"},
    {"digest_rebuild_chunk_percentage", drop, own_digest},
    {"digest_rebuild_period", take_time, "digest.rebuild_interval", second, year},
    {"digest_rewrite_period", drop, own_digest},
    {"digest_swapout_chunk_size", drop, own_digest},
    {"diskd_program", drop, no_helpers},
    {"dns_children", drop, own_dns},
    {"dns_defnames", drop, own_dns},
    {"dns_multicast_local", drop, own_dns},
    {"dns_nameservers", take_addresses, "dns.servers"},
    {"dns_packet_max", drop, own_dns},
    {"dns_retransmit_interval", drop, own_dns},
    {"dns_testnames", drop, obsolete},
    {"dns_timeout", drop, own_dns},
    {"dns_v4_first", drop, "Garner tries both families in parallel (Happy Eyeballs)"},
    {"ecap_enable", human, no_icap},
    {"ecap_service", human, no_icap},
    {"email_err_data", drop, own_page},
    {"emulate_httpd_log", drop, obsolete},
    {"err_html_text", drop, own_page},
    {"err_page_stylesheet", drop, own_page},
    {"error_default_language", drop, own_page},
    {"error_directory", drop, own_page},
    {"error_log_languages", drop, own_page},
    {"error_map", drop, obsolete},
    {"esi_parser", drop, "Garner does not process ESI"},
    {"eui_lookup", drop, "Garner does not see hardware addresses"},
    {"extension_methods", drop, "Garner accepts every method"},
    {"external_acl_type", take_external_acl_type},
    {"follow_x_forwarded_for", access, "follow_x_forwarded_for"},
    {"force_request_body_continuation", drop, own_connections},
    {"forward_log", drop, obsolete},
    {"forward_max_tries", drop, own_connections},
    {"forward_timeout", drop, own_connections},
    {"forwarded_for", take_forwarded_for, "forwarded"},
    {"fqdncache_size", drop, "Garner looks up no names of addresses"},
    {"ftp_client_idle_timeout", drop, no_ftp},
    {"ftp_eprt", drop, no_ftp},
    {"ftp_epsv", drop, no_ftp},
    {"ftp_epsv_all", drop, no_ftp},
    {"ftp_list_width", drop, no_ftp},
    {"ftp_passive", drop, no_ftp},
    {"ftp_port", human, no_ftp},
    {"ftp_sanitycheck", drop, no_ftp},
    {"ftp_telnet_protocol", drop, no_ftp},
    {"ftp_user", drop, no_ftp},
    {"global_internal_static", drop, own_page},
    {"half_closed_clients", drop, own_connections},
    {"happy_eyeballs_connect_gap", drop, own_connections},
    {"happy_eyeballs_connect_limit", drop, own_connections},
    {"happy_eyeballs_connect_timeout", drop, "connect.attempt_delay keeps its default"},
    {"header_access", human, no_fields},
    {"hierarchy_stoplist", drop, obsolete},
    {"high_memory_warning", drop, own_log},
    {"high_page_fault_warning", drop, own_log},
    {"high_response_time_warning", drop, own_log},
    {"hopeless_kid_revival_delay", drop, "Garner is one process"},
    {"host_verify_strict", drop, intercepts},
    {"hostname_aliases", drop, "Garner knows its own addresses"},
    {"hosts_file", take_file, "dns.hosts_file"},
    {"htcp_access", access, "htcp_access"},
    {"htcp_clr_access", access, "htcp_clr_access"},
    {"htcp_port", take_udp, "htcp"},
    {"http_access", access, "http_access"},
    {"http_access2", access, "adapted_http_access"},
    {"http_port", take_http_port},
    {"http_reply_access", human, no_responses},
    {"http_upgrade_request_protocols", drop, "Garner passes WebSockets, and no other protocol"},
    {"httpd_accel_surrogate_id", drop, "caching.targeted_cache_control is for RFC 9213"},
    {"httpd_suppress_version_string", drop, "Garner's pages and fields have no version"},
    {"https_port", human, "write a listener with `tls`, as in docs/guides/tls.md"},
    {"icap_*", human, no_icap},
    {"icon_directory", drop, own_page},
    {"icp_access", access, "icp_access"},
    {"icp_hit_stale", drop, "Garner says HIT only for fresh objects"},
    {"icp_port", take_udp, "icp"},
    {"icp_query_timeout", take_milliseconds, "icp.timeout", 5, 2 * second},
    {"ident_lookup_access", human, "Garner does not ask ident servers"},
    {"ident_timeout", drop, "Garner does not ask ident servers"},
    {"ie_refresh", drop, obsolete},
    {"ignore_expect_100", drop, obsolete},
    {"ignore_ims_on_miss", drop, obsolete},
    {"ignore_unknown_nameservers", drop, always_on},
    {"include", include},
    {"incoming_*", drop, own_connections},
    {"ipcache_high", drop, own_dns},
    {"ipcache_low", drop, own_dns},
    {"ipcache_size", take_count, "dns.entries_max", 1, 100'000'000},
    {"loadable_modules", human, no_icap},
    {"location_rewrite_*", human, no_rewriting},
    {"log_access", human, "Garner logs all requests"},
    {"log_fqdn", drop, own_log},
    {"log_icap", drop, own_log},
    {"log_icp_queries", drop, own_log},
    {"log_ip_on_direct", drop, own_log},
    {"log_mime_hdrs", drop, own_log},
    {"log_uses_indirect_client", drop, own_log},
    {"logfile_daemon", drop, own_log},
    {"logfile_rotate", drop, "rotate by logrotate and SIGUSR1"},
    {"logformat", drop, "log.format has squid, combined and json"},
    {"logtype", drop, own_log},
    {"mail_from", drop, "Garner sends no mail"},
    {"mail_program", drop, "Garner sends no mail"},
    {"mark_client_connection", human, no_outgoing},
    {"mark_client_packet", human, no_outgoing},
    {"max_filedescriptors", drop, "the limit of open files is the system's (ulimit -n, LimitNOFILE)"},
    {"max_open_disk_fds", drop, own_cache},
    {"max_stale", drop, own_cache},
    {"maximum_icp_query_timeout", drop, own_peers},
    {"maximum_object_size", take_size, "disk.object_max", 0, size_max},
    {"maximum_object_size_in_memory", take_size, "memory.object_max", 0, size_max},
    {"maximum_single_addr_tries", drop, obsolete},
    {"mcast_*", human, "Garner queries no multicast groups"},
    {"memory_cache_mode", drop, own_cache},
    {"memory_cache_shared", drop, always_on},
    {"memory_pools", drop, own_cache},
    {"memory_pools_limit", drop, own_cache},
    {"memory_replacement_policy", take_policy, "memory.policy"},
    {"mime_table", drop, no_ftp},
    {"min_dns_poll_cnt", drop, own_connections},
    {"min_tcp_poll_cnt", drop, own_connections},
    {"min_udp_poll_cnt", drop, own_connections},
    {"minimum_direct_hops", drop, own_peers},
    {"minimum_direct_rtt", drop, own_peers},
    {"minimum_expiry_time", drop, own_cache},
    {"minimum_icp_query_timeout", take_milliseconds, "icp.timeout_min", 0, 2 * second},
    {"minimum_object_size", take_size, "disk.object_min", 0, 1 * MiB},
    {"miss_access", access, "miss_access"},
    {"negative_dns_ttl", take_time, "dns.negative_ttl", 1, year},
    {"negative_ttl", take_time, "caching.negative_ttl", 0, day},
    {"neighbor_type_domain", human, "the type of a peer is the same for all hosts; write it in `peers`"},
    {"netdb_*", drop, own_peers},
    {"never_direct", access, "never_direct"},
    {"no_cache", access, "cache"},
    {"nonhierarchical_direct", drop, own_peers},
    {"note", drop, "Garner has no annotations"},
    {"offline_mode", take_flag, "caching.offline"},
    {"on_unsupported_protocol", drop, "Garner closes such connections"},
    {"pconn_lifetime", drop, own_connections},
    {"pconn_timeout", take_time, "pool.idle_timeout", 1, day},
    {"peer_connect_timeout", drop, "peers[].connect_timeout keeps its default"},
    {"persistent_connection_after_error", drop, own_connections},
    {"persistent_request_timeout", take_time, "deadlines.keep_alive", 1, year},
    {"pid_filename", drop, "systemd knows the process"},
    {"pinger_enable", drop, own_peers},
    {"pinger_program", drop, no_helpers},
    {"pipeline_prefetch", drop, own_connections},
    {"positive_dns_ttl", take_time, "dns.positive_ttl", 1, year},
    {"prefer_direct", drop, own_peers},
    {"proxy_protocol_access", human, "write the networks as `listen[].proxy_protocol`"},
    {"qos_flows", human, no_outgoing},
    {"query_icmp", take_flag, "icp.source_ping"},
    {"quick_abort_*", drop, "Garner continues an abandoned fetch for deadlines.abandoned if little is missing"},
    {"range_offset_limit", take_range_offset, "caching.range_fetches_whole"},
    {"read_ahead_gap", drop, "Garner's buffers have fixed sizes"},
    {"read_timeout", take_read_timeout, "deadlines.first_byte", 1, year},
    {"referer_log", drop, obsolete},
    {"refresh_all_ims", drop, own_cache},
    {"refresh_pattern", take_refresh_pattern},
    {"refresh_stale_hit", drop, obsolete},
    {"relaxed_header_parser", drop, "Garner's parser has one strictness"},
    {"reload_into_ims", drop, "a reload validates if it can"},
    {"reply_body_max_size", human, no_responses},
    {"reply_header_access", human, no_fields},
    {"reply_header_add", human, no_fields},
    {"reply_header_max_size", drop, "limits.head_max is for requests and responses"},
    {"reply_header_replace", human, no_fields},
    {"request_body_max_size", human, "Garner does not limit the size of request bodies"},
    {"request_entities", drop, "Garner passes bodies of every method"},
    {"request_header_access", human, no_fields},
    {"request_header_add", human, no_fields},
    {"request_header_max_size", take_size, "limits.head_max", 1 * KiB, 16 * MiB},
    {"request_header_replace", human, no_fields},
    {"request_start_timeout", drop, "deadlines.head is for the whole head"},
    {"request_timeout", take_time, "deadlines.head", 1, year},
    {"response_delay_pool", human, by_share},
    {"response_delay_pool_access", human, by_share},
    {"retry_on_error", drop, own_connections},
    {"send_hit", human, "a hit is served to every client that `access` allows"},
    {"server_http11", drop, obsolete},
    {"server_idle_pconn_timeout", take_time, "pool.idle_timeout", 1, day},
    {"server_pconn_for_nonretriable", drop, own_connections},
    {"server_persistent_connections", drop, own_connections},
    {"shared_memory_locking", drop, own_cache},
    {"shared_transient_entries_limit", drop, own_cache},
    {"short_icon_urls", drop, own_page},
    {"shutdown_lifetime", take_time, "deadlines.drain", 0, hour},
    {"sleep_after_fork", drop, "Garner is one process"},
    {"snmp_*", drop, no_snmp},
    {"spoof_client_ip", human, no_outgoing},
    {"ssl_bump", human, by_bump},
    {"ssl_engine", drop, "Garner uses OpenSSL without engines"},
    {"ssl_unclean_shutdown", drop, own_connections},
    {"sslcrtd_*", human, by_bump},
    {"sslcrtvalidator_*", human, by_bump},
    {"sslpassword_program", human, "Garner reads keys without passwords"},
    {"sslproxy_*", human, by_bump},
    {"stats_collection", drop, own_log},
    {"store_avg_object_size", drop, own_cache},
    {"store_dir_select_algorithm", drop, own_cache},
    {"store_id_*", human, no_rewriting},
    {"store_miss", access, "cache"},
    {"store_objects_per_bucket", drop, own_cache},
    {"strip_query_terms", strip_query},
    {"tcp_outgoing_*", human, no_outgoing},
    {"tcp_recv_bufsize", drop, own_connections},
    {"test_reachability", drop, own_peers},
    {"tls_outgoing_options", take_tls},
    {"tproxy_uses_indirect_client", drop, no_outgoing},
    {"udp_incoming_address", take_udp, "address"},
    {"udp_outgoing_address", drop, own_peers},
    {"umask", drop, own_files},
    {"unique_hostname", take_name, "via"},
    {"unlinkd_program", drop, no_helpers},
    {"update_headers", drop, obsolete},
    {"upgrade_http0.9", drop, obsolete},
    {"uri_whitespace", drop, "Garner refuses URLs with white space"},
    {"url_rewrite_*", human, no_rewriting},
    {"redirect_*", human, no_rewriting},
    {"redirector_access", human, no_rewriting},
    {"useragent_log", drop, obsolete},
    {"vary_ignore_expire", drop, own_cache},
    {"via", drop, "Via is always sent; `via` is its name"},
    {"visible_hostname", take_name, "via"},
    {"wais_relay_*", drop, no_ftp},
    {"wccp2_*", drop, no_wccp},
    {"wccp_*", drop, no_wccp},
    {"windows_ipaddrchangemonitor", drop, "Garner watches its addresses"},
    {"workers", take_count, "workers", 1, 1'024},
    {"write_timeout", drop, "deadlines.body is for both directions"},
    {"zero_buffers", drop, obsolete},
    {"zph_local", drop, obsolete},
});
// clang-format on

}   // namespace

Directive const* find_directive(std::string_view name) {
    for (auto const& row : rows) {
        bool const is_prefix = row.name.ends_with('*');
        if (is_prefix ? name.starts_with(row.name.substr(0, row.name.size() - 1)) : name == row.name) return &row;
    }
    return nullptr;
}

std::span<Directive const> all_directives() { return rows; }

}   // namespace garner::importing
