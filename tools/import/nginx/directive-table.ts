import type { Aspect, Difference } from "../imported-site.ts";
import type { Directive } from "./files/directives.ts";

/**
 * How locations inherit a directive from the block around them. `replaces`: a block that has it, or another of its
 * group, inherits none from outer blocks (nginx's arrays, and single values). `own`: it applies only in its own block.
 */
type Inheritance = "replaces" | "own";

/** When nginx runs it: nginx.org/en/docs/dev/development_guide.html#http_phases. `setup` is before any request. */
type Phase = "setup" | "rewrite" | "preaccess" | "access" | "precontent" | "content" | "cache" | "output" | "log";

/**
 * `read`: the import carries it over, or says itself what it could not. `harmless`: it affects neither access nor
 * storing. `passes`: a location in which it applies stores nothing.
 */
type Effect = "read" | "harmless" | "passes";

type Note = Pick<Difference, "kind" | "why"> & { readonly aspects: readonly Aspect[] };

export interface DirectiveRow {
  readonly inherits: Inheritance;
  readonly phase: Phase;
  readonly effect: Effect;
  /** The directives that replace each other, if they have different names. */
  readonly group?: string;
  /** A note for the owner; `null` for none. */
  readonly note: Note | null;
}

const dropped = (why: string, ...aspects: Aspect[]): Note => ({ kind: "dropped", why, aspects });
const access = (why: string): Note => ({ kind: "access", why, aspects: ["answer", "stored"] });

const TO_ORIGIN = "The edge refuses nobody: the origin must do this, or a firewall in front of the edge.";
const ADDRESSES = `${TO_ORIGIN} It gets the edge's address: the visitor's is in X-Forwarded-For.`;
const PASSWORDS = "The edge asks for no passwords: the origin must do this. Nothing is stored here.";
const FILES = "The edge has no files: the origin must serve them.";
const FIELDS = "The edge decides which fields it passes on: worker/rules/request/request-fields.ts.";
const COMPRESSION = dropped(
  "Cloudflare compresses for visitors. tidemark serve compresses stored pages if the config has compression: {} (docs/server.md). The origin must compress everything else: if it is an nginx, it needs gzip_proxied any; because the edge sends Via.",
);
const RATE: Note = {
  ...access("The edge has no rate limits: the origin or the platform must limit rates."),
  aspects: [],
};

type Line = readonly [
  names: string,
  inherits: Inheritance,
  phase: Phase,
  effect: Effect,
  note?: Note | null,
  group?: string,
];

/**
 * Every directive that the import knows. `*` stands for any ending, and `X_` for `proxy_`, `fastcgi_`, `uwsgi_` and
 * `scgi_`. A directive that is not in this table makes its location pass, and all locations within its block.
 */
const TABLE: readonly Line[] = [
  // Blocks, and what the import reads.
  ["http server location upstream map server_name", "own", "setup", "read"],
  // Those that were found are replaced by what is in them.
  [
    "include",
    "own",
    "setup",
    "read",
    access(
      "No file was found for this line. Such a file may keep visitors out, or forbid storing: name the folder to use as / with --root.",
    ),
  ],
  ["if set break", "own", "rewrite", "read"],
  [
    "return",
    "own",
    "rewrite",
    "read",
    dropped("The edge makes no such answers itself: the origin must.", "answer", "stored"),
  ],
  [
    "rewrite",
    "own",
    "rewrite",
    "read",
    dropped("The edge does not change paths: the origin must.", "answer", "stored", "origin-url"),
  ],
  [
    "try_files",
    "own",
    "precontent",
    "read",
    dropped(
      `${FILES} Pages that nginx serves from files are stored by this location's rules; where this is wrong, write a route with pass.`,
      "answer",
      "stored",
    ),
  ],
  ["X_pass", "own", "content", "read"],
  [
    "X_cache X_cache_key X_cache_valid X_cache_bypass X_no_cache X_cache_use_stale X_cache_lock",
    "replaces",
    "cache",
    "read",
  ],
  ["X_cache_background_update X_cache_revalidate X_cache_convert_head X_ignore_headers", "replaces", "cache", "read"],
  ["X_hide_header X_set_header X_read_timeout", "replaces", "content", "read"],
  ["X_intercept_errors", "replaces", "content", "read", dropped("The edge passes the origin's errors on.", "answer")],
  [
    "error_page",
    "replaces",
    "content",
    "read",
    dropped("The edge passes the origin's errors on, and serves a stale page instead where stale.ifError allows it."),
  ],
  ["add_header expires", "replaces", "output", "read"],
  ["client_max_body_size real_ip_recursive", "replaces", "setup", "read"],

  // Access. The handlers of all modules run on every request, before the cache is asked.
  ["allow deny", "replaces", "access", "passes", access(ADDRESSES), "allow deny"],
  ["satisfy", "replaces", "access", "passes", access(TO_ORIGIN)],
  ["auth_basic_user_file auth_delay", "replaces", "access", "harmless"],
  ["auth_basic", "replaces", "access", "passes", access(PASSWORDS)],
  ["auth_request_set", "replaces", "access", "harmless"],
  ["auth_*", "replaces", "access", "passes", access(TO_ORIGIN)],
  [
    "access_by_lua access_by_lua_file access_by_lua_block js_access perl_access",
    "replaces",
    "access",
    "passes",
    access(TO_ORIGIN),
  ],
  ["modsecurity modsecurity_rules* naxsi* SecRules* app_protect*", "replaces", "access", "passes", access(TO_ORIGIN)],
  ["secure_link secure_link_md5 valid_referers", "replaces", "access", "harmless", access(TO_ORIGIN)],
  ["ssl_verify_client", "replaces", "access", "passes", access(TO_ORIGIN)],
  [
    "internal",
    "replaces",
    "setup",
    "passes",
    access(
      "The edge serves every path of its hosts: the origin must refuse this one, and send itself what it named in X-Accel-Redirect.",
    ),
  ],
  ["limit_except", "own", "access", "read", access(TO_ORIGIN)],
  ["limit_req limit_conn", "replaces", "preaccess", "harmless", RATE],
  ["limit_rate", "replaces", "output", "harmless", dropped("The edge sends answers as fast as visitors take them.")],

  // Directives that replace a fetch, or change it.
  ["root alias", "replaces", "content", "harmless", dropped(FILES, "answer", "stored")],
  ["index autoindex fancyindex", "replaces", "content", "harmless", dropped(FILES)],
  [
    "track_uploads autoindex_* fancyindex_* random_index disable_symlinks open_file_cache* read_ahead mp4* flv",
    "replaces",
    "content",
    "harmless",
  ],
  [
    "X_method",
    "replaces",
    "content",
    "passes",
    dropped("The edge asks the origin with the visitor's method.", "answer"),
  ],
  [
    "X_set_body X_pass_request_body",
    "replaces",
    "content",
    "passes",
    dropped("The edge does not change bodies.", "answer"),
  ],
  [
    "X_buffering",
    "replaces",
    "content",
    "passes",
    {
      kind: "changed",
      why: "nginx stores only what it buffers, so nothing is stored here, even if the origin says X-Accel-Buffering: yes.",
      aspects: ["stored"],
    },
  ],
  ["X_pass_request_headers", "replaces", "content", "passes", dropped(FIELDS)],
  [
    "slice",
    "replaces",
    "content",
    "harmless",
    dropped(
      "The edge stores whole bodies, up to limits.largeBytes. A part of a file that is not stored is passed on, and nothing of it is stored until somebody asks for the whole (or for `bytes=0-`, as players do). With limits.fetchWholeBytes the edge fetches the whole for a part, up to limits.storeBytes.",
      "stored",
    ),
  ],
  ["mirror mirror_request_body", "replaces", "precontent", "harmless", dropped("The edge asks only one origin.")],
  [
    "X_redirect",
    "replaces",
    "content",
    "harmless",
    dropped("The edge replaces the origin's host in Location with the public one, and changes nothing else there."),
  ],
  [
    "X_cookie_domain X_cookie_path X_cookie_flags",
    "replaces",
    "content",
    "harmless",
    dropped("The edge does not change cookies: the origin must."),
  ],
  [
    "X_cache_min_uses",
    "replaces",
    "cache",
    "harmless",
    dropped("The edge stores a page at its first request.", "stored"),
  ],
  [
    "X_cache_methods",
    "replaces",
    "cache",
    "harmless",
    dropped("The edge stores only answers to GET and HEAD.", "stored"),
  ],
  [
    "X_cache_max_range_offset",
    "replaces",
    "cache",
    "harmless",
    dropped("The site's limits.fetchWholeBytes says when the edge fetches a whole page for a part."),
  ],
  [
    "X_cache_purge",
    "replaces",
    "cache",
    "harmless",
    { kind: "safer", why: "Purges are calls with a token, and apply everywhere: docs/purging.md.", aspects: [] },
  ],
  [
    "X_buffer_size X_buffers X_busy_buffers_size X_max_temp_file_size X_temp_* X_connect_timeout X_send_* X_http_version",
    "replaces",
    "content",
    "harmless",
  ],
  [
    "X_next_upstream* X_ssl_* X_socket_keepalive X_bind X_headers_hash_* X_request_buffering X_limit_rate",
    "replaces",
    "content",
    "harmless",
  ],
  [
    "X_force_ranges X_ignore_client_abort X_param X_index X_split_path_info X_catch_stderr X_keep_conn",
    "replaces",
    "content",
    "harmless",
  ],
  [
    "X_pass_header X_pass_trailers X_modifier1 X_modifier2 X_cache_lock_* X_cache_path",
    "replaces",
    "content",
    "harmless",
  ],

  // Directives that run after the cache, on each answer.
  ["gzip brotli zstd", "replaces", "output", "harmless", COMPRESSION],
  ["gzip_* gunzip* brotli_* zstd_*", "replaces", "output", "harmless"],
  [
    "sub_filter",
    "replaces",
    "output",
    "harmless",
    dropped("The edge does not change bodies: the origin must.", "answer"),
  ],
  ["sub_filter_*", "replaces", "output", "harmless"],
  [
    "more_set_headers more_clear_headers",
    "replaces",
    "output",
    "harmless",
    dropped("The edge adds no fields to answers: the origin must.", "response-field"),
  ],
  ["ssi", "replaces", "output", "harmless", dropped("The edge does not assemble pages: the origin must.", "answer")],
  ["charset", "replaces", "output", "harmless", dropped("The origin must name its charset.")],
  ["default_type types", "replaces", "output", "harmless", dropped("The origin must name its types.")],
  [
    "charset_* source_charset override_charset add_trailer ssi_* etag if_modified_since max_ranges msie_*",
    "replaces",
    "output",
    "harmless",
  ],
  [
    "access_log log_format log_not_found log_subrequest error_log rewrite_log open_log_file_cache session_log*",
    "replaces",
    "log",
    "harmless",
  ],

  ["log_by_lua* body_filter_by_lua*", "replaces", "log", "harmless", dropped("Code is not carried over.")],

  // Directives for the set-up, or that only define a variable. If a decision reads such a variable, that decision
  // counts.
  [
    "user pid worker_* daemon events env lock_file thread_pool pcre_jit master_process timer_resolution load_module",
    "replaces",
    "setup",
    "harmless",
  ],
  [
    "sendfile* tcp_* aio* directio* keepalive* reset_timedout_connection server_tokens server_names_* server_name_* types_hash_*",
    "replaces",
    "setup",
    "harmless",
  ],
  ["map_hash_* variables_hash_* merge_slashes absolute_redirect", "replaces", "setup", "harmless"],
  [
    "underscores_in_headers ignore_invalid_headers",
    "replaces",
    "setup",
    "harmless",
    dropped(
      "nginx reads X_Name as X-Name here. The edge passes it on as another field, to which rules for X-Name do not apply: the origin must not read it.",
      "stored",
      "answer",
    ),
  ],
  [
    "port_in_redirect server_name_in_redirect chunked_transfer_encoding output_buffers postpone_output",
    "replaces",
    "setup",
    "harmless",
  ],
  [
    "recursive_error_pages request_pool_size connection_pool_size uninitialized_variable_warn subrequest_output_buffer_size",
    "replaces",
    "setup",
    "harmless",
  ],
  [
    "listen http2* http3* quic* ssl_* ssl proxy_protocol* resolver_timeout client_* large_client_header_buffers",
    "replaces",
    "setup",
    "harmless",
  ],
  [
    "send_timeout send_lowat lingering_* limit_rate_after limit_req_* limit_conn_* modules stream mail status_zone zone",
    "replaces",
    "setup",
    "harmless",
  ],
  ["stub_status", "own", "content", "harmless"],
  // Other modules: settings, but not what answers with them.
  [
    "grpc_pass memcached_pass",
    "own",
    "content",
    "passes",
    dropped("The edge asks its origin by HTTP alone: the origin must do this.", "answer", "stored"),
  ],
  ["grpc_* memcached_* image_filter_*", "replaces", "content", "harmless"],
  [
    "health_check",
    "own",
    "setup",
    "harmless",
    dropped("The edge sends the origin no requests of its own: those of visitors show whether it is down."),
  ],
  ["match", "own", "setup", "harmless"],
  ["keyval", "own", "setup", "harmless", dropped("The edge keeps no such values.")],
  ["keyval_zone acme_* rtmp otel_* opentracing* early_hints referer_hash_*", "replaces", "setup", "harmless"],
  [
    "lua_* js_import js_include js_path js_var js_preload_object js_fetch_* js_shared_dict_zone perl_modules perl_require perl_set vhost_traffic_status* passenger_*",
    "replaces",
    "setup",
    "harmless",
  ],
  ["js_set set_by_lua*", "own", "rewrite", "read", dropped("Code is not carried over.")],
  [
    "init_by_lua* init_worker_by_lua* balancer_by_lua*",
    "own",
    "setup",
    "harmless",
    dropped("Code is not carried over."),
  ],
  [
    "split_clients",
    "own",
    "setup",
    "harmless",
    dropped("The edge does not divide visitors into groups: the origin must, with a cookie that key.cookies names."),
  ],
  [
    "geo geoip_* geoip2 geoip2_*",
    "own",
    "setup",
    "harmless",
    dropped("The edge knows only the visitor's country: key.country."),
  ],
  ["resolver", "replaces", "setup", "harmless", dropped("The edge resolves the origin's name itself.")],
  [
    "real_ip_header set_real_ip_from",
    "replaces",
    "setup",
    "harmless",
    dropped(
      "The platform tells the client's address. tidemark serve takes it from the connection, from X-Forwarded-For of the addresses in trustedProxies, or with --proxy-protocol from them in that way.",
    ),
  ],
];

const FAMILIES = ["proxy_", "fastcgi_", "uwsgi_", "scgi_"];

const ROWS: ReadonlyMap<string, DirectiveRow> = new Map(
  TABLE.flatMap(([names, inherits, phase, effect, note = null, group]) =>
    names
      .split(" ")
      .flatMap((name) => (name.startsWith("X_") ? FAMILIES.map((each) => each + name.slice(2)) : [name]))
      .map((name) => [name, { inherits, phase, effect, note, ...(group !== undefined && { group }) }] as const),
  ),
);

/** The names that end with a star, longest first. */
const BEGINNINGS = [...ROWS.keys()]
  .filter((name) => name.endsWith("*"))
  .map((name) => name.slice(0, -1))
  .sort((a, b) => b.length - a.length);

/** The values with which directives have no effect. */
const WITHOUT_EFFECT: readonly (readonly [value: string, names: RegExp])[] = [
  [
    "off",
    /^(?:gzip|brotli|zstd|auth_basic|auth_request|autoindex|fancyindex|\w+_redirect|modsecurity|slice|mirror|userid|dav_methods|pagespeed|\w+_store|underscores_in_headers|\w+_intercept_errors|ssl_verify_client|ssi)$/,
  ],
  ["on", /_pass_request_|_buffering$|^ignore_invalid_headers$/],
  ["all", /^satisfy$/],
  ["0", /^(?:slice|limit_rate)$/],
];

const CODE = /_by_lua|^js_|^perl|^lua_/;

/** The row of a directive; `null` if it is not in the table. */
export function rowOf({ name }: Pick<Directive, "name">): DirectiveRow | null {
  const beginning = ROWS.has(name) ? undefined : BEGINNINGS.find((each) => name.startsWith(each));
  return ROWS.get(beginning === undefined ? name : `${beginning}*`) ?? null;
}

/** Whether a directive prevents storing in its location and in those within. */
export function forbidsStoring(directive: Directive): boolean {
  const row = rowOf(directive);
  if (isOff(directive)) return false;
  if (directive.name === "limit_except") return !directive.args.includes("GET");
  return row === null || row.effect === "passes";
}

/** Whether the first rule for addresses in a block allows all, so that no other rule applies. */
export function letsAllIn(block: readonly Directive[]): boolean {
  const first = block.find(isOfAddresses);
  return first?.name === "allow" && first.args[0] === "all";
}

/** Whether a directive is a rule for addresses. */
export function isOfAddresses({ name }: Pick<Directive, "name">): boolean {
  return name === "allow" || name === "deny";
}

function isOff({ name, args }: Directive): boolean {
  return WITHOUT_EFFECT.some(([value, names]) => args[0] === value && names.test(name));
}

/** The owner's note about a directive; `null` for one that the import reads or that changes no answers. */
export function noteOn(directive: Directive): Note | null {
  const row = rowOf(directive);
  if (isOff(directive)) return null;
  if (row !== null) return row.note;
  if (CODE.test(directive.name)) return dropped("Code is not carried over. Nothing is stored here.", "stored");
  return dropped(
    "The import does not know this directive, so nothing is stored here. If it changes answers, the origin must do this.",
    "stored",
  );
}
