import type { ReuseRules } from "../rules/directives/reuse-rules.ts";
import type { Stamp, StoredFields, StoredHead } from "../rules/storing/stored-response.ts";
import type { VariantFields } from "../rules/variants/vary.ts";

/** The values that decide whether a head may answer, by position. Names would take two thirds of the reading time. */
type Facts = readonly [
  key: string,
  status: number,
  bodyBytes: number,
  bodyKey: string | null,
  fetchedAt: number,
  receivedAt: number,
  initialAgeMs: number,
  freshnessSeconds: number,
  logId: string | null,
  seq: number,
  staleWhileRevalidateSeconds: number | null,
  staleIfErrorSeconds: number | null,
  flags: number,
];

/** Boolean values as bits of one number, which is read faster. */
const FLAGS = {
  sharedWithAuthorized: 1,
  validateAlways: 2,
  mayServeStale: 4,
  immutable: 8,
  sharedWithSessions: 16,
  mayServeStaleOverSMaxage: 32,
};

type Flag = keyof typeof FLAGS;

const BITS = Object.entries(FLAGS) as readonly (readonly [Flag, number])[];

/** The fields of the response, its variant and the purge keys that were given to it. */
type Contents = readonly [
  variant: VariantFields,
  fields: StoredFields,
  hiddenFields: StoredFields,
  givenPurgeKeys: readonly string[],
];

/** A head as two values for JSON: the values that decide, and all others. */
export function headParts(head: StoredHead): readonly [Facts, Contents] {
  const { reuse, stamp } = head;
  return [
    [
      head.key,
      head.status,
      head.bodyBytes,
      head.bodyKey,
      head.fetchedAt,
      head.receivedAt,
      head.initialAgeMs,
      head.freshnessSeconds,
      stamp?.logId ?? null,
      stamp?.seq ?? 0,
      reuse.staleWhileRevalidateSeconds,
      reuse.staleIfErrorSeconds,
      flagsOf(head),
    ],
    [head.variant, head.fields, head.hiddenFields, head.givenPurgeKeys],
  ];
}

/** A head from the texts of its parts. The second, longer part is parsed when it is first needed. */
export class EnvelopeHead implements StoredHead {
  readonly key: string;
  readonly status: number;
  readonly bodyBytes: number;
  readonly bodyKey: string | null;
  readonly fetchedAt: number;
  readonly receivedAt: number;
  readonly initialAgeMs: number;
  readonly freshnessSeconds: number;
  readonly sharedWithAuthorized: boolean;
  readonly sharedWithSessions: boolean;
  readonly stamp: Stamp | null;
  readonly reuse: ReuseRules;
  #contents: string | Contents;

  constructor(facts: string, contents: string) {
    const [
      key,
      status,
      bodyBytes,
      bodyKey,
      fetchedAt,
      receivedAt,
      initialAgeMs,
      freshnessSeconds,
      logId,
      seq,
      staleWhileRevalidateSeconds,
      staleIfErrorSeconds,
      flags,
    ] = JSON.parse(facts) as Facts;
    this.key = key;
    this.status = status;
    this.bodyBytes = bodyBytes;
    this.bodyKey = bodyKey;
    this.fetchedAt = fetchedAt;
    this.receivedAt = receivedAt;
    this.initialAgeMs = initialAgeMs;
    this.freshnessSeconds = freshnessSeconds;
    const has = (name: Flag) => (flags & FLAGS[name]) > 0;
    this.sharedWithAuthorized = has("sharedWithAuthorized");
    this.sharedWithSessions = has("sharedWithSessions");
    this.stamp = logId === null ? null : { logId, seq };
    this.reuse = {
      staleWhileRevalidateSeconds,
      staleIfErrorSeconds,
      validateAlways: has("validateAlways"),
      mayServeStale: has("mayServeStale"),
      mayServeStaleOverSMaxage: has("mayServeStaleOverSMaxage"),
      immutable: has("immutable"),
    };
    this.#contents = contents;
  }

  get variant(): VariantFields {
    return this.#parsed[0];
  }

  get fields(): StoredFields {
    return this.#parsed[1];
  }

  get hiddenFields(): StoredFields {
    return this.#parsed[2];
  }

  get givenPurgeKeys(): readonly string[] {
    return this.#parsed[3];
  }

  get #parsed(): Contents {
    if (typeof this.#contents === "string") this.#contents = JSON.parse(this.#contents) as Contents;
    return this.#contents;
  }
}

function flagsOf({ sharedWithAuthorized, sharedWithSessions, reuse }: StoredHead): number {
  const values: Record<Flag, boolean> = { sharedWithAuthorized, sharedWithSessions, ...reuse };
  return BITS.reduce((flags, [name, bit]) => (values[name] ? flags | bit : flags), 0);
}
