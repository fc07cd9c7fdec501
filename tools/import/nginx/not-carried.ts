import type { Aspect, Difference } from "../imported-site.ts";
import type { Directive } from "./directives.ts";

type Note = Pick<Difference, "kind" | "why"> & { readonly aspects: readonly Aspect[] };

const dropped = (why: string, ...aspects: Aspect[]): Note => ({ kind: "dropped", why, aspects });
const access = (why: string): Note => ({ kind: "access", why, aspects: ["answer", "stored"] });

const TO_ORIGIN = "The edge refuses nobody: the origin has to, or the firewall in front of it.";

const COMPRESSION = dropped(
  "Cloudflare compresses for visitors. tidemark serve compresses stored pages, with compression: {} in the config: docs/server.md. What else goes out compressed, the origin has to compress.",
);

/** Directives that change answers and that a site has no setting for, with what to do instead. */
const NOT_CARRIED: Readonly<Record<string, Note>> = {
  allow: access(TO_ORIGIN),
  deny: access(TO_ORIGIN),
  satisfy: access(TO_ORIGIN),
  auth_basic: access(
    "The edge asks for no passwords: the origin has to. It never stores answers to Authorization unless they say public.",
  ),
  auth_basic_user_file: access("The edge asks for no passwords: the origin has to."),
  auth_request: access(TO_ORIGIN),
  auth_jwt: access(TO_ORIGIN),
  internal: access("The edge serves every path of its hosts: the origin has to refuse this one."),
  secure_link: access(TO_ORIGIN),
  secure_link_md5: access(TO_ORIGIN),
  valid_referers: access(TO_ORIGIN),
  limit_req: { ...access("There are no rate limits at the edge: the origin has to, or the platform."), aspects: [] },
  limit_conn: { ...access("There are no rate limits at the edge: the origin has to, or the platform."), aspects: [] },
  limit_except: access(TO_ORIGIN),
  ssl_verify_client: access(TO_ORIGIN),
  return: dropped("The edge makes no answers of its own: the origin has to.", "answer", "stored"),
  rewrite: dropped("The edge does not change paths: the origin has to.", "answer", "stored", "origin-url"),
  root: dropped("The edge has no files: the origin has to serve them.", "answer", "stored"),
  alias: dropped("The edge has no files: the origin has to serve them.", "answer", "stored"),
  index: dropped("The edge has no files: the origin has to serve them."),
  autoindex: dropped("The edge has no files: the origin has to serve them."),
  try_files: dropped("The edge has no files: the origin has to serve them.", "answer", "stored"),
  error_page: dropped(
    "The edge passes the origin's errors on, and serves a stale page instead where stale.ifError allows it.",
  ),
  proxy_intercept_errors: dropped("The edge passes the origin's errors on.", "answer"),
  gzip: COMPRESSION,
  brotli: COMPRESSION,
  zstd: COMPRESSION,
  sub_filter: dropped("The edge does not change bodies: the origin has to.", "answer"),
  proxy_redirect: dropped(
    "The edge puts the public host in the place of the origin's in Location, and changes nothing else there.",
  ),
  proxy_cookie_domain: dropped("The edge does not change cookies: the origin has to."),
  proxy_cookie_path: dropped("The edge does not change cookies: the origin has to."),
  proxy_method: dropped("The edge asks with the visitor's method.", "answer"),
  proxy_set_body: dropped("The edge does not change bodies.", "answer"),
  proxy_pass_request_headers: dropped("The edge passes fields on: worker/rules/request/request-fields.ts."),
  proxy_cache_min_uses: dropped("The edge stores a page at its first request.", "stored"),
  proxy_cache_methods: dropped("The edge stores answers to GET and HEAD alone.", "stored"),
  proxy_cache_max_range_offset: dropped("limits.fetchWholeBytes of the site says when a whole is fetched for a part."),
  proxy_cache_purge: {
    kind: "safer",
    why: "Purges are calls with a token, and final everywhere: docs/purge-from.md.",
    aspects: [],
  },
  slice: dropped("The edge stores whole bodies: limits.largeBytes.", "stored"),
  mirror: dropped("The edge asks one origin."),
  split_clients: dropped("The edge does not divide visitors: the origin has to, with a cookie of key.cookies."),
  geo: dropped("The edge knows the visitor's country alone: key.country."),
  perl: dropped("Code is not carried over."),
  charset: dropped("The origin has to name its charset."),
  default_type: dropped("The origin has to name its types."),
  types: dropped("The origin has to name its types."),
  resolver: dropped("The edge resolves the origin's name itself."),
  real_ip_header: dropped("The platform tells the client's address; tidemark serve takes it from the connection."),
  set_real_ip_from: dropped("The platform tells the client's address; tidemark serve takes it from the connection."),
};

/** Directives that an edge does by itself, or that have no bearing on answers. */
const HARMLESS = new RegExp(
  `^(?:${[
    "user|pid|worker_\\w+|daemon|events|error_log|access_log|log_format|log_not_found|load_module|env|lock_file|thread_pool|pcre_jit|master_process|timer_resolution",
    "sendfile\\w*|tcp_\\w+|aio\\w*|directio\\w*|keepalive\\w*|reset_timedout_connection|server_tokens|server_names?_\\w+|types_hash_\\w+|map_hash_\\w+|variables_hash_\\w+|open_file_cache\\w*|etag|if_modified_since|merge_slashes|underscores_in_headers|ignore_invalid_headers|absolute_redirect|port_in_redirect|server_name_in_redirect|chunked_transfer_encoding|msie_\\w+|max_ranges|output_buffers|postpone_output|recursive_error_pages|request_pool_size|connection_pool_size|disable_symlinks|post_action",
    "listen|http2\\w*|http3\\w*|quic\\w*|ssl_(?!verify_client)\\w+|add_trailer|proxy_protocol\\w*|resolver_timeout",
    "gzip_\\w+|gunzip\\w*|brotli_\\w+|zstd_\\w+",
    "client_(?!max_body_size)\\w+|large_client_header_buffers|send_\\w+|lingering_\\w+|limit_rate\\w*|limit_(?:req|conn)_\\w+",
    "(?:proxy|uwsgi|fastcgi|scgi)_(?:buffer\\w*|busy_buffers_size|max_temp_file_size|temp_\\w+|connect_timeout|send_\\w+|http_version|next_upstream\\w*|ssl_\\w+|socket_keepalive|bind|headers_hash_\\w+|store\\w*|request_buffering|limit_rate|force_ranges|ignore_client_abort|param|index|split_path_info|catch_stderr|keep_conn|pass_header|modifier[12]|cache_lock_\\w+|cache_path)",
    "modules|stream|mail|status_zone|zone|stub_status|charset_\\w+|ssi\\w*|uninitialized_variable_warn|rewrite_log|js_\\w+_path",
  ].join("|")})$`,
);

/** Directives that the import reads. */
const READ = new RegExp(
  "^(?:http|server|location|upstream|map|set|if|server_name|include|add_header|expires|client_max_body_size|real_ip_recursive|" +
    "(?:proxy|uwsgi|fastcgi|scgi)_(?:pass|cache|cache_key|cache_valid|cache_bypass|no_cache|cache_use_stale|cache_lock|cache_background_update|cache_revalidate|cache_convert_head|ignore_headers|hide_header|set_header|read_timeout))$",
);

/** Why a directive is not carried over; `null` for one that the import reads or that changes no answers. */
export function noteOn({ name, args }: Directive): Note | null {
  if (READ.test(name) || HARMLESS.test(name)) return null;
  if (
    args[0] === "off" &&
    /^(?:gzip|brotli|zstd|auth_basic|auth_request|proxy_intercept_errors|autoindex|proxy_redirect)$/.test(name)
  )
    return null;
  const known = NOT_CARRIED[name.replace(/^(?:uwsgi|fastcgi|scgi)_/, "proxy_")];
  if (known) return known;
  if (/_by_lua|^js_|^perl_|^lua_/.test(name)) return dropped("Code is not carried over.");
  return dropped("The import does not know this directive. If it changes answers, the origin has to do it.");
}
