import { memoize } from "../fields/memoize.ts";
import { hopByHopFields } from "../forwarding/hop-by-hop.ts";
import { matchesAnyName } from "../key/name-pattern.ts";
import { speaksOfCredentials } from "./credential-names.ts";

/** The edge's treatment of a request field, and its consequences for stored responses. */
export interface FieldTreatment {
  /** When the origin sees the field as the client sent it: always, never, or only if the answer may not be stored. */
  readonly asSent: "always" | "never" | "unless-stored";
  /**
   * The meaning of the field in the origin's `Vary`. `selects`: requests with different values get different responses.
   * `nothing`: the origin sees the same value for every request of one key, whatever the client sends. `unknowable`:
   * the origin may see a value made on the way, so the value that the client sent does not show which response another
   * request selects.
   */
  readonly inVary: "selects" | "nothing" | "unknowable";
  /** Whether a route may forward the field as sent and key by it. */
  readonly mayBeKeyed: boolean;
}

const TREATMENTS = {
  /**
   * Fields with which a client could pretend to be the edge or another client, or ask for another page. Origins and
   * their gateways trust them.
   */
  claim: { asSent: "never", inVary: "unknowable", mayBeKeyed: true },
  /** Claims about the host or the scheme, both of which are in the key. */
  "host-claim": { asSent: "never", inVary: "nothing", mayBeKeyed: true },
  /** The client's address, which the edge itself states. */
  address: { asSent: "never", inVary: "unknowable", mayBeKeyed: false },
  /**
   * Written by the edge or the runtime from values in the key, or not sent if the answer may be stored. `Expect` is never
   * sent, since the Workers runtime takes an origin's 100 for its answer. RFC 9110 §10.1.1.
   */
  written: { asSent: "never", inVary: "nothing", mayBeKeyed: false },
  /** The edge appends its own member to the client's value. RFC 9110 §7.6.3, RFC 8586 §2. */
  continued: { asSent: "never", inVary: "selects", mayBeKeyed: false },
  /** Sent without ignored cookies (`identity/cookies.ts`). */
  cookies: { asSent: "never", inVary: "selects", mayBeKeyed: false },
  /** Sent as the set of known codings (`variants/accept-encoding.ts`). */
  codings: { asSent: "unless-stored", inVary: "selects", mayBeKeyed: false },
  /** Answers to requests with credentials are stored only if they are for everybody (`identity/identity.ts`). */
  credentials: { asSent: "always", inVary: "selects", mayBeKeyed: false },
  /** The edge fetches the whole page and evaluates these itself. RFC 9110 §13, §14. */
  "answered-here": { asSent: "unless-stored", inVary: "nothing", mayBeKeyed: false },
  /** Fields that would select another answer without being in the key, and those that the owner has named in `fields.drop`. */
  withheld: { asSent: "unless-stored", inVary: "nothing", mayBeKeyed: true },
  /**
   * Written by the client's software or by something on the way, and about the request rather than about the page:
   * traces, request numbers, players, proxies. Each request may have another value, so storing would be of no use if
   * these chose.
   */
  "of-software": { asSent: "unless-stored", inVary: "nothing", mayBeKeyed: true },
  /** All other fields. */
  other: { asSent: "always", inVary: "selects", mayBeKeyed: true },
} as const satisfies Readonly<Record<string, FieldTreatment>>;

type Treatment = keyof typeof TREATMENTS;

/**
 * Every request field that needs its own treatment, in lower case, each once. Hop-by-hop fields are in `hop-by-hop.ts`,
 * because `Connection` adds to them, and count as written. `Proxy` is not an HTTP field, but gateways turn it into a
 * setting (CVE-2016-5385).
 */
export const REQUEST_FIELDS: Readonly<Record<Exclude<Treatment, "other">, readonly string[]>> = {
  claim: [
    "forwarded",
    "proxy",
    "x-arr-ssl",
    "x-backend-host",
    "x-proxy-host",
    "x-proxy-url",
    "x-override-url",
    "x-http-destinationurl",
    "client-ip",
    "true-client-ip",
    "remote-addr",
    "x-real-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-remote-ip",
    "x-remote-addr",
    "x-originating-ip",
    "x-appengine-user-ip",
    "x-azure-clientip",
    "x-azure-socketip",
  ],
  "host-claim": ["front-end-https", "x-scheme", "x-url-scheme", "x-host", "x-http-host-override"],
  address: ["x-forwarded-for"],
  written: [
    "host",
    "content-length",
    "expect",
    "max-forwards",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-forwarded-port",
  ],
  continued: ["cdn-loop", "via"],
  cookies: ["cookie"],
  codings: ["accept-encoding"],
  credentials: ["authorization"],
  "answered-here": ["range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"],
  withheld: [
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "content-encoding",
    "content-language",
    "content-location",
    "content-disposition",
    "content-range",
  ],
  "of-software": [
    // Browsers, WebViews and feed readers.
    "referer", // where one visitor comes from: RFC 9110 §10.1.3
    "alt-used", // RFC 7838 §5: Firefox, whenever it follows an Alt-Svc, to HTTP/3 for instance
    "x-purpose", // Safari, for previews: developer.apple.com/documentation/safari-release-notes
    "x-moz", // Firefox, for prefetches: developer.mozilla.org/docs/Glossary/Prefetch
    "a-im", // RFC 3229 §10.5.3: feed readers that ask for changes only
    "available-dictionary", // RFC 9842 §2.2: Chrome; its codings are never offered to the origin
    "dictionary-id", // RFC 9842 §2.3
    "ua-cpu", // Internet Explorer: learn.microsoft.com, "User-Agent and other request headers"
    "x-uidh", // added by Verizon: eff.org/deeplinks/2014/11/verizon-x-uidh
    // How fast the network is at the moment: wicg.github.io/netinfo. `key.fields` sends these on and keys by them.
    "rtt",
    "downlink",
    "ect",
    // Media players.
    "x-playback-session-id", // AVPlayer: developer.apple.com, "HTTP Live Streaming authoring specification"
    "icy-metadata", // VLC, ExoPlayer, mpv: the SHOUTcast protocol, whose titles are for streams, which a route passes
    "getcontentfeatures.dlna.org", // DLNA guidelines, part 1
    "transfermode.dlna.org",
    // Clients of registries: what the registry itself says in each answer, and which protocol they speak.
    "docker-distribution-api-version", // github.com/containers/image, docker/docker_client.go: podman, skopeo, CRI-O
    "cargo-protocol", // github.com/rust-lang/cargo, src/cargo/sources/registry/http_remote.rs: always version=1
    // Proxies, gateways and monitors.
    "x-bluecoat-via", // Blue Coat ProxySG, against loops
    "x-imforwards", // Cisco Web Security Appliance, against loops
    "x-varnish", // varnish-cache.org/docs/trunk/reference/vcl-var
    "x-request-start", // devcenter.heroku.com/articles/http-routing
    "x-queue-start", // docs.newrelic.com, "Request queuing configuration"
    "x-abuse-info", // New Relic Synthetics: docs.newrelic.com, "Identify synthetic monitoring requests"
    // Numbers of requests.
    "x-request-id", // envoyproxy.io, "HTTP header manipulation"; Heroku, Rails, nginx, and most clients of APIs
    "x-turbo-request-id", // github.com/hotwired/turbo, src/http/fetch.js: Turbo 8, on each visit
    "x-correlation-id", // en.wikipedia.org/wiki/List_of_HTTP_header_fields
    "x-client-trace-id", // envoyproxy.io, "HTTP header manipulation"
    "request-id", // learn.microsoft.com/azure/azure-monitor/app, "Application Insights telemetry correlation"
    "request-context",
    "correlation-context",
    "client-request-id", // learn.microsoft.com/graph/best-practices-concept
    "x-ms-client-request-id", // learn.microsoft.com/rest/api/storageservices/common-rest-api-headers
    "ms-cv", // github.com/microsoft/CorrelationVector
    "x-amzn-trace-id", // docs.aws.amazon.com/elasticloadbalancing, "Request tracing"
    "x-amz-cf-id", // docs.aws.amazon.com/AmazonCloudFront, "Add CloudFront request headers"
    "x-cloud-trace-context", // cloud.google.com/trace/docs/trace-context
    "x-vercel-id", // vercel.com/docs/headers/request-headers
    // Traces. `traceparent` is an ordinary field: it is sent on.
    "tracestate", // www.w3.org/TR/trace-context
    "baggage", // www.w3.org/TR/baggage
    "sentry-trace", // develop.sentry.dev/sdk/telemetry/traces
    "b3", // github.com/openzipkin/b3-propagation
    "uber-trace-id", // jaegertracing.io, "Client libraries: propagation format"
    "newrelic", // docs.newrelic.com, "How distributed tracing works"
    "grpc-trace-bin", // opencensus.io, "Propagation"
    "x-ot-span-context", // istio.io, "Distributed tracing: overview"
    "elastic-apm-traceparent", // elastic.co/docs/reference/apm, "Distributed tracing"
    "x-dynatrace", // docs.dynatrace.com, "Requirements for tracing with HTTP headers"
    "x-dtpc",
    "x-dtreferer",
    "x-honeycomb-trace", // docs.honeycomb.io, "Beelines: trace propagation"
  ],
};

/** The beginnings of other fields of the client's software, from the same sources. */
const SOFTWARE_PREFIXES = [
  "x-b3-",
  "x-datadog-",
  "x-newrelic-",
  "x-instana-", // npmjs.com/package/@opentelemetry/propagator-instana
  "uberctx-",
  "jaeger-",
  "ot-tracer-",
  "ot-baggage-",
  "pinpoint-",
  "sw8", // skywalking.apache.org, "Cross Process Propagation Headers Protocol v3"
  "cmcd-", // media players tell caches how they play: CTA-5004
];

/** The prefixes of claims. */
const CLAIM_PREFIXES = [
  "x-forwarded",
  "x-original-",
  "x-rewrite-",
  "x-envoy-",
  "x-middleware-",
  "fastly-",
  "cf-",
  "mf-", // set by wrangler dev
  "tidemark-",
];

const TREATMENT_OF: ReadonlyMap<string, Treatment> = new Map(
  Object.entries({ ...REQUEST_FIELDS, written: [...REQUEST_FIELDS.written, ...hopByHopFields(null)] }).flatMap(
    ([treatment, names]) => names.map((name) => [name, treatment as Treatment] as const),
  ),
);

/** The owner's rules for fields: names in lower case; a trailing `*` matches any ending. */
export interface OwnersFields {
  /** Fields that do not reach the origin if the answer may be stored. They take precedence over trusted fields. */
  readonly droppedFields: readonly string[];
  /** Fields that go to the origin and choose no page, on the owner's word. */
  readonly trustedFields: readonly string[];
}

export interface KeyAndOwnersFields extends OwnersFields {
  /** Fields, in lower case, that the route keys by: they go to the origin as sent. They outrank the owner's others. */
  readonly keyFields: readonly string[];
}

export const NO_OWNERS_FIELDS: KeyAndOwnersFields = { keyFields: [], droppedFields: [], trustedFields: [] };

/**
 * The treatment of a field, whose name is in lower case, and of this value of it. All handling of request fields goes
 * through this function. The owner's lists apply to fields for which the table is not stricter.
 */
export function treatmentOf(
  name: string,
  value: string | null = null,
  owners: OwnersFields = NO_OWNERS_FIELDS,
): FieldTreatment {
  const listed = listedTreatment(name, value);
  if (!OPEN_TO_OWNERS.has(listed)) return TREATMENTS[listed];
  if (matchesAnyName(name, owners.droppedFields)) return TREATMENTS.withheld;
  return isTrusted(name, owners) ? TREATMENTS.other : TREATMENTS[listed];
}

function listedTreatment(name: string, value: string | null): Treatment {
  if (name === "x-requested-with" && value !== null && isPackageName(value)) return "of-software";
  return treatmentByName(name);
}

/** Visitors send the same names again and again. Most are in no list, so a search compares every prefix. */
const treatmentByName = memoize((name): Treatment => {
  const dashed = nameAtGateways(name);
  const known = TREATMENT_OF.get(name) ?? TREATMENT_OF.get(dashed);
  if (known !== undefined) return known;
  if (beginsAsClaim(dashed)) return "claim";
  return SOFTWARE_PREFIXES.some((prefix) => dashed.startsWith(prefix)) ? "of-software" : "other";
});

/** Whether proxies send a field to name their client, or to say that they forwarded the request. */
export function isOfProxies(name: string): boolean {
  const treatment = treatmentByName(name);
  return treatment === "continued" || treatment === "claim" || beginsAsClaim(nameAtGateways(name));
}

const OPEN_TO_OWNERS: ReadonlySet<Treatment> = new Set<Treatment>(["of-software", "other"]);

/** Whether the edge adds a member to the field, so that the client's value reaches the origin, too, whatever names it. */
export function isContinued(name: string): boolean {
  return TREATMENT_OF.get(name) === "continued";
}

/** Whether the owner says that the field does not change pages. A pattern does not cover fields with credentials. */
export function isTrusted(name: string, owners: OwnersFields): boolean {
  return owners.trustedFields.length > 0 && matchesAnyName(name, owners.trustedFields) && !speaksOfCredentials(name);
}

/**
 * Whether an owner may drop or trust the fields of this name, which may end in `*`: none of them is one that the edge
 * or the connection sets, a claim, a credential or a cookie.
 */
export function isOpenToOwners(pattern: string): boolean {
  const name = nameAtGateways(pattern.replace(/\*$/, ""));
  if (!OPEN_TO_OWNERS.has(treatmentByName(name)) || name.startsWith("if-") || name === "") return false;
  if (!pattern.endsWith("*")) return true;
  const closed = [...TREATMENT_OF].filter(([, treatment]) => !OPEN_TO_OWNERS.has(treatment)).map(([each]) => each);
  return ![...closed, ...CLAIM_PREFIXES].some((each) => each.startsWith(name));
}

/**
 * Android's WebView sends the name of its app: developer.android.com, "Configure the app module: set the application
 * ID". A script's `XMLHttpRequest` has no dot, and chooses pages in many frameworks.
 */
function isPackageName(value: string): boolean {
  return value.length <= 255 && /^[A-Za-z]\w*(?:\.[A-Za-z]\w*)+$/.test(value);
}

/**
 * The field that gateways of origins read: they keep letters and digits alone, so `X_Real_IP` and `X.Real.IP` are `X-Real-IP`
 * there. RFC 3875 §4.1.18.
 */
export function nameAtGateways(name: string): string {
  return name.replace(/[^a-z\d-]/gi, "-");
}

function beginsAsClaim(name: string): boolean {
  return CLAIM_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/**
 * Whether the origin sees a client's field as it was sent, leaving hop-by-hop fields aside. `storing` is true if the answer may
 * be stored.
 */
export function reachesOriginAsSent(
  name: string,
  value: string | null,
  rules: KeyAndOwnersFields,
  storing = true,
): boolean {
  if (rules.keyFields.includes(name)) return true;
  const { asSent } = treatmentOf(name, value, rules);
  return asSent === "always" || (asSent === "unless-stored" && !storing);
}

/** The meaning of a field in the origin's `Vary`, on a route that does not key by it. */
export function meaningInVary(name: string, owners: OwnersFields = NO_OWNERS_FIELDS): FieldTreatment["inVary"] {
  return treatmentOf(name, null, owners).inVary;
}

/** A name, a number, or a list of them with weights. */
const LIST = /^[A-Za-z0-9*][A-Za-z0-9 ,;=.*+/_-]*$/;
/**
 * Any printable text without characters that a page would read as markup, or a firewall as an attack. Docker escapes the
 * parentheses within a comment. RFC 9110 §5.6.5.
 */
const WORDS = /^(?:[^<>"'\\^`{|}]|\\[()])*$/;
/** The same, but with double quotes, which structured fields use. RFC 9651. */
const STRUCTURED = /^[^<>'\\^`{|}]*$/;
/** What a screen or a memory measures. Chrome writes factors with up to 16 digits. */
const NUMBER = /^\d{1,5}(?:\.\d{1,17})?$/;
/** Directives for caches on the way, which every cache passes on (RFC 9111 §5.2; RFC 5861 §4), without other extensions. */
const DIRECTIVES =
  /^(?:(?:no-cache|no-store|no-transform|only-if-cached|(?:m(?:ax-age|in-fresh|ax-stale)|stale-if-error)(?:=\d{1,10})?)(?:, *|$))+$/i;

/**
 * Fields that browsers, crawlers and command-line clients send, with the form of their ordinary values. An origin whose
 * answer depends on one of these names it in `Vary`, or would be wrong behind any cache (RFC 9110 §12.5.5). Any other
 * field or value may have made the origin give an answer that nobody else would get.
 */
const ORDINARY_FORMS: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    accept: /^(?!.*user-context-hash)[A-Za-z0-9*][A-Za-z0-9 ,;=.*+/_-]*$/i, // FOSHttpCache answers that with a hash
    "accept-charset": LIST,
    "accept-language": LIST,
    "cache-control": DIRECTIVES,
    dnt: LIST,
    "early-data": LIST,
    from: WORDS,
    pragma: DIRECTIVES,
    priority: LIST,
    purpose: LIST,
    "save-data": LIST,
    // The client hints from before they were called Sec-CH-*, which Chrome still sends where `Accept-CH` names them:
    // www.ietf.org/archive/id/draft-ietf-httpbis-client-hints-07, www.w3.org/TR/device-memory.
    dpr: NUMBER,
    width: NUMBER,
    "viewport-width": NUMBER,
    "device-memory": NUMBER,
    "service-worker": /^script$/,
    "service-worker-navigation-preload": /^true$/,
    traceparent: LIST,
    "upgrade-insecure-requests": LIST,
    "user-agent": WORDS,
    "cdn-loop": STRUCTURED,
    via: WORDS,
    "x-sec-purpose": LIST, // Turbo 8, for pages that a link under the pointer leads to
  }),
);

/** What browsers alone may set for a page (W3C Fetch Metadata, client hints, GPC), but anybody can send. */
const OF_BROWSERS =
  /^sec-(?:fetch-(?:dest|mode|site|storage-access|user)|ch-[a-z0-9-]+|gpc|purpose|browsing-topics|speculation-tags|storage-access)$/;

/** The form of this field's ordinary values; `undefined` if the field is not an ordinary one. */
export function ordinaryForm(name: string): RegExp | undefined {
  return ORDINARY_FORMS.get(name) ?? (OF_BROWSERS.test(name) ? STRUCTURED : undefined);
}

/** Whether a route may key by this field. Fields set by the edge, the runtime or a connection are not the client's. */
export function mayBeKeyed(name: string): boolean {
  if (name.startsWith("if-") || name.startsWith("tidemark-")) return false;
  return treatmentOf(name).mayBeKeyed;
}

/** Whether a proxy may send a country in this field. The edge then never forwards the field. */
export function mayTellCountry(name: string): boolean {
  const treatment = treatmentByName(name);
  const isKnown = treatment !== "claim" && (treatment !== "other" || ordinaryForm(name) !== undefined);
  return !isKnown && !name.startsWith("if-") && !name.startsWith("tidemark-");
}
