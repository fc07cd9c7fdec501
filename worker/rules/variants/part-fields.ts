/** The fields by which requests of one framework ask for a part of a page. All such requests have the first one. */
export type PartFields = readonly [sign: string, ...others: string[]];

/**
 * Each has few values. `HX-Target` is missing, because most sites that heed it heed `HX-Request`, and a key with both
 * would store each part twice: second looks find out where it chooses.
 */
const FRAMEWORKS: readonly PartFields[] = [
  ["hx-request", "hx-boosted", "hx-history-restore-request"], // htmx.org/reference/#request_headers
  ["turbo-frame"], // turbo.hotwired.dev/reference/frames
  ["x-pjax", "x-pjax-container"], // github.com/defunkt/jquery-pjax
  // inertiajs.com/the-protocol
  [
    "x-inertia",
    "x-inertia-version",
    "x-inertia-partial-component",
    "x-inertia-partial-data",
    "x-inertia-partial-except",
  ],
  ["x-up-version", "x-up-target", "x-up-mode", "x-up-context"], // unpoly.com/up.protocol
  ["x-livewire", "x-livewire-navigate"], // livewire.laravel.com/docs/navigate
  // nextjs.org/docs/app/guides/cdn-caching
  ["rsc", "next-router-prefetch", "next-router-segment-prefetch", "next-router-state-tree", "next-url"],
  ["x-tsr-serverfn"], // tanstack.com/start/latest/docs/framework/react/guide/server-functions
  ["x-qrl"], // qwik.dev/docs/server$
  ["x-server-id", "x-server-instance"], // docs.solidjs.com/solid-start/reference/server/get
  ["x-requested-with"], // jQuery and most libraries before `fetch`
  ["content-type"], // an API may refuse a GET without it: apollographql.com/docs/apollo-server/security/cors
];

/**
 * The frameworks whose first field a request has, where the origin may choose by it. A browser that opens a page asks for
 * no part, which saves looking for these fields.
 */
export function partsAskedFor(
  request: { get(name: string): string | null },
  mayChoose: (name: string) => boolean,
): readonly PartFields[] {
  if (request.get("sec-fetch-mode") === "navigate") return NONE;
  let asked = NONE;
  for (const fields of FRAMEWORKS) {
    if (request.get(fields[0]) !== null && mayChoose(fields[0])) asked = [...asked, fields];
  }
  return asked;
}

/** One list for all requests for pages. */
const NONE: readonly PartFields[] = [];

/** The fields that select a part in addition to the named ones. */
export function unnamedPartFields(parts: readonly PartFields[], named: readonly string[]): readonly string[] {
  return parts.filter((fields) => !tellsPartsApart(fields, (name) => named.includes(name))).flat();
}

/**
 * Whether the named fields tell the framework's parts apart. Next itself writes `Vary`, and names all that it heeds. The
 * others leave that to sites and adapters, most of which name the first field and heed more.
 */
export function tellsPartsApart(fields: PartFields, isNamed: (name: string) => boolean): boolean {
  return fields.every(isNamed) || (fields[0] === "rsc" && isNamed("rsc"));
}

/** All fields that these frameworks send, except the one that says where the visitor is. */
const OF_FRAMEWORKS =
  /^(?:hx-(?!current-url)|(?:x-)?turbo-|x-pjax|x-inertia|x-up-|x-livewire|next-|x-tsr-|x-qrl$|x-server-i|rsc$|(?:x-requested-with|content-type)$)/;

/** Whether a framework may choose a part by this field. Even if a few pages ignore it, the next one may not. */
export function mayChoosePart(name: string): boolean {
  return OF_FRAMEWORKS.test(name);
}
