/** The parts of the edge's member of `Cache-Status` that the request log shows, and matchers read. */
export interface OwnCacheStatus {
  /** The reason in words, without quotes; `null` for none. */
  readonly detail: string | null;
  /** `null` unless a stored response answers. */
  readonly ttlS: number | null;
  readonly stored: boolean;
  /** Whether the request has waited for the fetch of another one. */
  readonly collapsed: boolean;
}

/** Reads the last member of `Cache-Status`, which is the edge's own. RFC 9211 §2. */
export function ownCacheStatus(field: string | null): OwnCacheStatus {
  // A comma or a semicolon in a string ends no member and no parameter. RFC 9651 §3.3.3.
  const member = (field ?? "").match(/(?:"(?:[^"\\]|\\.)*"|[^,"])+/g)?.at(-1) ?? "";
  const parameters = member.match(/(?:"(?:[^"\\]|\\.)*"|[^;"])+/g)?.map((each) => each.trim()) ?? [];
  const parameter = (name: string) => parameters.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
  const detail = parameter("detail");
  const ttl = parameter("ttl");
  return {
    detail: detail?.startsWith('"') ? detail.slice(1, -1).replace(/\\(.)/g, "$1") : (detail ?? null),
    ttlS: ttl === undefined ? null : Number(ttl),
    stored: parameters.includes("stored"),
    collapsed: parameters.includes("collapsed"),
  };
}
