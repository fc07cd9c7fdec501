import { createHash } from "node:crypto";
import type { Exchange, PathRecord } from "../../../tools/audit/exchange.ts";
import type { busterVerdict } from "../../../tools/audit/from-store.ts";
import type { Identity } from "../../../tools/audit/identity.ts";
import type { Input } from "../../../tools/audit/input.ts";
import type { Finding, judgePath } from "../../../tools/audit/judge-path.ts";
import type { provenanceOf } from "../../../tools/audit/provenance.ts";

/** The judges, from these sources or from mutated ones. */
export interface Judges {
  readonly judgePath: typeof judgePath;
  readonly busterVerdict: typeof busterVerdict;
  readonly provenanceOf: typeof provenanceOf;
}

/** One recorded answer. */
export interface Said {
  readonly status?: number;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Who asked with which input. A letter for each: `a` is alice, `b` is bob, `s` a stranger, and `S` one with the input. */
type Who = "a" | "b" | "s" | "S";

/** A page by what was asked about it. */
export interface RecordedCase {
  readonly name: string;
  /** What each gets past the cache: a function of the number of the rendering. Default: the same page for all. */
  readonly fresh?: Partial<Readonly<Record<Who, (rendering: number) => Said>>>;
  /** Requests for one URL in order, each with the number of the answer before it that it is a copy of, or `null`. */
  readonly shared?: readonly (readonly [who: Who, copyOf: number | null])[];
  /** Fields that copies have beside those of what they are copies of. Default: `X-Cache: HIT`. */
  readonly onCopies?: Readonly<Record<string, string>>;
  readonly input?: Input;
  readonly canaries?: readonly string[];
  readonly authorization?: true;
  /** alice's cookies. Default: `sid=secret-of-alice`. */
  readonly cookie?: string;
  /** The findings as `id: evidence`, in order. */
  readonly finds: readonly RegExp[];
}

const PLAIN: Said = { body: "<p>The same for everybody</p>" };
const NAMES = { a: "alice", b: "bob", s: "stranger", S: "stranger" } as const;
const LANG: Input = { kind: "cookie", name: "lang", value: "de" };
const RENDERINGS = 3;

/** What is found in the record of a case, as lines. */
export function findingsIn({ judgePath, provenanceOf }: Judges, each: RecordedCase): readonly string[] {
  const credentials = each.authorization
    ? { authorization: "Bearer secret-of-alice" }
    : { cookie: each.cookie ?? "sid=secret-of-alice" };
  const identities: readonly Identity[] = [
    { name: "alice", credentials, canaries: each.canaries ?? [] },
    { name: "bob", credentials: { cookie: "sid=secret-of-bob" }, canaries: [] },
  ];
  return judgePath(recordOf(each, provenanceOf), identities).map(lineOf);
}

function lineOf({ id, evidence }: Finding): string {
  return `${id}: ${evidence.join("; ")}`;
}

/** Everybody asks past the cache a few times; then the requests for one URL. */
export function recordOf(
  { fresh = {}, shared = [], onCopies = { "x-cache": "HIT" }, input = LANG }: RecordedCase,
  provenanceOf: Judges["provenanceOf"],
): PathRecord {
  const exchanges: Exchange[] = [];
  let rendering = 0;
  const render = (who: Who): Said => ({ ...PLAIN, ...fresh[who]?.(rendering++) });
  const add = (who: Who, buster: string, { status = 200, fields = {}, body = "" }: Said) => {
    const lines = Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, [text]]));
    exchanges.push({
      who: NAMES[who],
      buster,
      inputs: who === "S" ? [input] : [],
      status,
      fields: lines,
      text: body,
      digest: createHash("sha256").update(body).digest("base64"),
      bytes: body.length,
      provenance: provenanceOf(lines),
    });
  };
  for (let round = 0; round < RENDERINGS; round++) {
    for (const who of ["a", "b", "s", "S"] as const) add(who, `fresh ${exchanges.length}`, render(who));
  }
  const said: Said[] = [];
  for (const [who, copyOf] of shared) {
    const copied = copyOf === null ? null : said[copyOf]!;
    said.push(copied === null ? render(who) : { ...copied, fields: { ...copied.fields, ...onCopies } });
    add(who, "shared", said.at(-1)!);
  }
  return { target: { method: "GET", path: "/page" }, exchanges };
}
