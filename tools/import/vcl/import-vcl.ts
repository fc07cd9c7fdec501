import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { RouteInput } from "../../../internal.ts";
import { BY_DESIGN } from "../by-design.ts";
import { type Difference, ImportError, type ImportedSite, type Source, type Sourced } from "../imported-site.ts";
import type { ImportOptions } from "../nginx/import-nginx.ts";
import { durationOf, UNITS } from "../nginx/lifetimes.ts";
import { cookieNames, regexPatterns } from "../nginx/path-patterns.ts";
import { type VclStatement, vclStatements } from "./vcl-statements.ts";

type Rules = Omit<RouteInput, "match">;

/**
 * Reads a VCL as a site, as far as it is a list of rules: paths that pass, cookies and fields that pass, lifetimes by
 * path. VCL is a program. What is not one of these rules is listed, and a `return (pass)` that the import does not
 * understand makes the whole site pass, because what must not be stored must not be guessed.
 */
export function importVcl(file: string, text: string, options: ImportOptions): ImportedSite {
  const files: string[] = [];
  const statements = withIncludes(file, text, files);
  const reader = new VclReader(options, statements);
  for (const statement of statements) reader.read(statement);
  return reader.finish(file, files);
}

function withMatchFirst({ match, ...rules }: RouteInput): RouteInput {
  return { match, ...rules };
}

/** The deepest nesting of includes. A file that includes itself would go on for ever. */
const MAX_DEPTH = 16;

/** The statements of a file, with those of the files that it includes; their names are relative to it. */
function withIncludes(file: string, text: string, files: string[], name = basename(file), depth = 0): VclStatement[] {
  files.push(name);
  return vclStatements(text, name).flatMap((statement): VclStatement[] => {
    const included = /^include "([^"]+)"$/.exec(statement.text)?.[1];
    if (included === undefined) return [statement];
    const path = isAbsolute(included) ? included : join(dirname(file), included);
    const { place } = statement.source;
    if (depth === MAX_DEPTH) throw new ImportError(`${place}: files include each other more than ${MAX_DEPTH} deep`);
    if (!existsSync(path)) throw new ImportError(`${place}: there is no file ${path}`);
    return withIncludes(path, readFileSync(path, "utf8"), files, included, depth + 1);
  });
}

/** Statements that the edge does by itself, or that change no answer. */
const ITSELF = [
  /^vcl 4\.\d$/,
  /^import \w+/,
  /^return \((?:hash|lookup|deliver|fetch|synth_deliver)\)$/,
  /^(?:set|unset) req\.http\.[Xx]-[Ff]orwarded-[Ff]or\b/,
  /^set beresp\.do_(?:stream|gzip|gunzip) =/,
  /^call std\./,
  /^std\.(?:log|collect)\(/,
];

const DEFAULT_TTL: Difference = {
  kind: "changed",
  source: null,
  why: 'Varnish stores for two minutes (default_ttl) what the origin gives no lifetime. The edge does so where the route says defaultTtl: "2m".',
  aspects: ["stored"],
  affects: { routes: null },
};

class VclReader {
  readonly #options: ImportOptions;
  readonly #differences: Difference[] = [];
  readonly #passed: Sourced<RouteInput>[] = [];
  readonly #byPath: Sourced<RouteInput>[] = [];
  readonly #ofAll: { rules: Rules; from: Source[] } = { rules: {}, from: [] };
  readonly #bypass: { cookies: string[]; fields: string[] } = { cookies: [], fields: [] };
  #backend: Sourced<string> | null = null;
  #passesAll: Source | null = null;
  #takesPurges: Source[] = [];

  /** The subs that others call, by name. */
  readonly #subs: ReadonlyMap<string, readonly VclStatement[]>;

  constructor(options: ImportOptions, statements: readonly VclStatement[]) {
    this.#options = options;
    const subs = statements.flatMap(({ text, block }) =>
      block && /^sub (?!vcl_)/.test(text) ? [[text.slice("sub ".length), block] as const] : [],
    );
    this.#subs = new Map(subs);
  }

  read(statement: VclStatement): void {
    const { text, block, source } = statement;
    const [, kind, name] = /^(backend|sub|acl|probe|director) (\w+)$/.exec(text) ?? [];
    if (block === null) {
      if (!ITSELF.some((each) => each.test(text))) this.#drop(source, "The import does not know this statement.");
    } else if (kind === "backend") this.#readBackend(statement);
    else if (kind === "acl" || kind === "probe") {
      // An acl says nothing until a rule asks for it, and the edge asks its origin without probes.
    } else if (kind === "sub" && name === "vcl_recv") for (const each of block) this.#readReceive(each);
    else if (kind === "sub" && name === "vcl_backend_response")
      for (const each of block) this.#readResponse(each, null);
    else if (kind === "sub" && name === "vcl_deliver") for (const each of block) this.#readDeliver(each);
    else if (kind === "sub" && (name === "vcl_init" || name === "vcl_fini")) {
      for (const each of block)
        if (!ITSELF.some((one) => one.test(each.text))) this.#drop(each.source, "The edge asks one origin.");
    } else if (kind === "sub" && name === "vcl_hash") for (const each of block) this.#readHash(each);
    else if (
      kind === "sub" &&
      /^vcl_(?:hit|miss|pass|pipe|purge)$/.test(name!) &&
      block.every((each) => ITSELF.some((one) => one.test(each.text)))
    )
      return;
    else if (!this.#subs.has(text.slice("sub ".length))) this.#drop(source, "Code is not carried over.");
  }

  finish(file: string, files: readonly string[]): ImportedSite {
    const { origin, host } = this.#options;
    const backend = origin === null ? this.#backend : { value: origin, from: [] };
    if (backend === null)
      throw new ImportError(`${file}: there is no backend with a .host, so name the site's address with --origin`);
    const bypass = Object.fromEntries(Object.entries(this.#bypass).filter(([, names]) => names.length > 0));
    const rules: Rules = { ...this.#ofAll.rules, ...(Object.keys(bypass).length > 0 && { bypass }) };
    const everything: Sourced<RouteInput> = this.#passesAll
      ? { value: { match: "/*", pass: true }, from: [this.#passesAll, ...this.#ofAll.from] }
      : { value: { match: "/*", ...rules }, from: this.#ofAll.from };
    const byPath = this.#passesAll
      ? []
      : this.#byPath.toReversed().map(({ value, from }) => ({
          value: withMatchFirst({ ...rules, ...value }),
          from: [...from, ...this.#ofAll.from],
        }));
    if (byPath.length > 1) {
      const why =
        "Of several conditions on the path, the last one that is true decides alone here. In VCL they add up.";
      this.#differences.push({
        kind: "changed",
        source: byPath[0]!.from[0]!,
        why,
        aspects: ["stored"],
        affects: { routes: null },
      });
    }
    if (this.#ofAll.rules.ttl === undefined) this.#differences.push(DEFAULT_TTL);
    const ownHost = host === new URL(backend.value).host;
    if (ownHost)
      throw new ImportError(
        `${backend.value} is an address of the site itself: name the server behind it with --origin`,
      );
    return {
      files,
      origin: backend,
      hosts: host === null ? null : { value: [host], from: [] },
      settings: this.#takesPurges.length > 0 ? [{ value: { doors: { varnish: true } }, from: this.#takesPurges }] : [],
      routes: [...this.#passed, ...byPath, everything],
      differences: [...this.#differences, ...BY_DESIGN],
    };
  }

  #readBackend({ block, source }: VclStatement): void {
    if (this.#backend) {
      this.#drop(source, "A site has one origin. Put a load balancer in front of several.");
      return;
    }
    const value = (name: string) =>
      block!.find(({ text }) => text.startsWith(`.${name} `) || text.startsWith(`.${name}=`));
    const textOf = (name: string) => /"([^"]*)"/.exec(value(name)?.text ?? "")?.[1];
    const [host, port = "80"] = [textOf("host"), textOf("port")];
    const url = host === undefined ? null : URL.parse(`http://${host}:${port}`);
    if (url === null) return;
    this.#backend = {
      value: url.origin,
      from: [source, ...["host", "port"].flatMap((name) => value(name)?.source ?? [])],
    };
  }

  #readReceive({ text, block, source }: VclStatement): void {
    if (block === null) {
      const called = /^call (\w+)$/.exec(text)?.[1];
      if (called !== undefined) {
        const sub = this.#subs.get(called);
        if (sub === undefined) this.#passAll(source);
        for (const each of sub ?? []) this.#readReceive(each);
      } else if (text === "return (pass)") this.#passesAll = source;
      else if (!ITSELF.some((each) => each.test(text))) this.#dropChange(source, text);
      return;
    }
    const condition = /^(?:if|elseif|elsif|else if) \((.*)\)$/s.exec(text)?.[1]?.trim();
    const returns = block.map((each) => each.text).find((each) => each.startsWith("return"));
    const inside = block.filter((each) => !each.text.startsWith("return"));
    const isPurge = /req\.method == "(?:PURGE|BAN)"/.test(condition ?? "");
    if (isPurge) {
      this.#takesPurges.push(source);
      this.#differences.push({
        kind: "safer",
        source,
        why: "Purges need a token of the scope door:varnish, and no list of addresses: docs/purge-from.md. A purge is final at every place at once.",
        aspects: [],
        affects: { routes: null },
      });
      return;
    }
    if (condition === undefined) {
      this.#drop(source, "Code is not carried over.");
      if (returns === "return (pass)" || block.some((each) => each.block)) this.#passAll(source);
      return;
    }
    if (returns === "return (pass)" || returns === "return (pipe)") {
      for (const part of condition.split(/\s*\|\|\s*/)) this.#readPass(part, [source], text);
      for (const each of inside) this.#drop(each.source, "The edge sends requests that pass as they came.");
      return;
    }
    const url = /^req\.url ~ "([^"]*)"$/s.exec(condition)?.[1];
    const unsetsCookie = inside.some(
      (each) => each.text === "unset req.http.Cookie" || each.text === "unset req.http.cookie",
    );
    if (url !== undefined && unsetsCookie && inside.length === 1) {
      const why =
        "The edge leaves cookies out by name, in cookies.ignore, on all routes. Pages that are for everybody say public, and are then stored for visitors with cookies, too.";
      this.#differences.push({
        kind: "dropped",
        source,
        why,
        aspects: ["stored", "origin-field"],
        affects: { routes: null, cookies: ["*"] },
        field: "cookie",
      });
      return;
    }
    const refuses = returns !== undefined && /synth\((?:4\d\d)/.test(returns);
    if (refuses)
      this.#differences.push({
        kind: "access",
        source,
        why: "The edge refuses nobody: the origin has to, or the firewall in front of it.",
        aspects: ["answer", "stored"],
        affects: { routes: null },
      });
    else this.#drop(source, "A condition with an effect of its own is not carried over.");
    // What is decided deeper down could keep pages from being stored.
    if (JSON.stringify(block).includes("return (pass)")) this.#passAll(source);
  }

  /** One of the conditions, any of which makes a request pass. */
  #readPass(condition: string, from: readonly Source[], text: string): void {
    const part = condition.replace(/^\((.*)\)$/, "$1").trim();
    const [source] = from as readonly [Source];
    const [, subject, operator, value] = /^(req\.[\w.-]+)(?: (~|==|!=|!~) "([^"]*)")?$/s.exec(part) ?? [];
    if (subject === "req.method" && value !== undefined) {
      this.#readMethod(operator!, value, source, part);
      return;
    }
    if (/^req\.method != "GET" && req\.method != "HEAD"$/.test(part)) return;
    if (subject === "req.url" && (operator === "~" || operator === "==")) {
      const [, ignoreCase, regex] = /^(\(\?i\))?(.*)$/s.exec(value!)!;
      const pattern = operator === "==" ? `^${regex!.replace(/[\^$\\.*+?()[\]{}|]/g, "\\$&")}$` : regex!;
      const found = /[?&]/.test(pattern.replace(/\(\?[:=!]|[)\]\w.][?]/g, ""))
        ? null
        : regexPatterns(pattern, { ignoreCase: ignoreCase !== undefined, prefix: null });
      if (found?.kind !== "patterns") {
        this.#passAll(source, text);
        return;
      }
      for (const match of found.patterns) this.#passed.push({ value: { match, pass: true }, from });
      return;
    }
    const field = /^req\.http\.([\w-]+)$/.exec(subject ?? "")?.[1]?.toLowerCase();
    if (field === "authorization" && operator === undefined) return;
    if (field === "cookie" && operator === "~") {
      const names = cookieNames(value!);
      if (names === null) {
        this.#passAll(source, text);
        return;
      }
      this.#bypass.cookies.push(...names);
      this.#ofAll.from.push(source);
      const why = `Cookies of these names go past the cache: ${names.join(", ")}. Varnish looked for the expression anywhere in Cookie.`;
      this.#differences.push({
        kind: "changed",
        source,
        why,
        aspects: ["stored", "answer"],
        affects: { routes: null, cookies: ["*"] },
      });
      return;
    }
    if (field === "cookie" && operator === undefined) {
      const why =
        "With any cookie the origin was asked. The edge answers from the cache, and stores what such a request gets only if the origin says that it is for everybody. Name the cookies that change pages in bypass.cookies.";
      this.#differences.push({
        kind: "changed",
        source,
        why,
        aspects: ["stored"],
        affects: { routes: null, cookies: ["*"] },
      });
      return;
    }
    if (field !== undefined && (operator === undefined || operator === "~" || operator === "==")) {
      this.#bypass.fields.push(field);
      this.#ofAll.from.push(source);
      return;
    }
    this.#passAll(source, text);
  }

  #readMethod(operator: string, value: string, source: Source, text: string): void {
    const methods = value.match(/[A-Z]+/g) ?? [];
    const isSafe = methods.some((method) => method === "GET" || method === "HEAD");
    const isNegated = operator.startsWith("!");
    if (isNegated !== isSafe) this.#passAll(source, text);
  }

  #passAll(source: Source, condition = source.text): void {
    this.#passesAll ??= source;
    const why = `The import cannot tell which requests ${condition.replace(/^if /, "")} means, and what must not be stored must not be guessed: nothing is stored. Write its routes, and take out pass.`;
    this.#differences.push({ kind: "changed", source, why, aspects: ["stored"], affects: { routes: null } });
  }

  #readResponse({ text, block, source }: VclStatement, url: Sourced<readonly string[]> | null): void {
    if (block !== null) {
      const regex = /^(?:if|elseif|elsif|else if) \(bereq\.url ~ "([^"]*)"\)$/s.exec(text)?.[1];
      const [, ignoreCase, plain] = /^(\(\?i\))?(.*)$/s.exec(regex ?? "")!;
      const found =
        regex === undefined || url !== null
          ? null
          : regexPatterns(plain!, { ignoreCase: ignoreCase !== undefined, prefix: null });
      if (found?.kind !== "patterns") {
        this.#drop(
          source,
          "A condition on answers is not carried over, unless it is one on bereq.url alone. The origin says in Cache-Control what is stored.",
        );
        if (/uncacheable|ttl = 0|\(pass\)/.test(JSON.stringify(block))) this.#passAll(source);
        return;
      }
      for (const each of block) this.#readResponse(each, { value: found.patterns, from: [source] });
      return;
    }
    const rules = this.#rulesOf(text, source);
    if (rules === null) return;
    if (url === null) {
      Object.assign(this.#ofAll.rules, rules);
      this.#ofAll.from.push(source);
      return;
    }
    for (const match of url.value) {
      const known = this.#byPath.findIndex(({ value }) => value.match === match);
      const before = this.#byPath[known];
      const value = { ...before?.value, match, ...rules };
      const next = { value, from: [...(before?.from ?? url.from), source] };
      if (known === -1) this.#byPath.push(next);
      else this.#byPath[known] = next;
    }
  }

  #rulesOf(text: string, source: Source): Rules | null {
    const [, name, time] = /^set beresp\.(ttl|grace|keep) = (\d+(?:\.\d+)?(?:ms|[smhdwy]))$/.exec(text) ?? [];
    if (name === "ttl" && secondsOf(time!) === 0) return { pass: true };
    if (name === "ttl") {
      const why =
        "ttl is for answers that may be stored. Those with private, no-store or Set-Cookie are not, and errors keep the origin's lifetime.";
      this.#differences.push({ kind: "safer", source, why, aspects: ["stored"], affects: { routes: null } });
      return { ttl: durationOf(secondsOf(time!)) };
    }
    if (name === "grace") {
      const why =
        "A stale page stands in while the origin fails, and while it is fetched again. must-revalidate and proxy-revalidate, which Varnish ignores, forbid both.";
      this.#differences.push({ kind: "changed", source, why, aspects: ["stored"], affects: { routes: null } });
      const grace = durationOf(secondsOf(time!));
      return { stale: { ifError: grace, whileRevalidate: grace, overSMaxage: true } };
    }
    if (name === "keep" || ITSELF.some((each) => each.test(text))) return null;
    if (/^unset beresp\.http\.set-cookie$/i.test(text)) return { stripSetCookie: true };
    if (text === "set beresp.uncacheable = true" || text === "return (pass)") {
      this.#passAll(source);
      return null;
    }
    this.#drop(source, "The edge does not change answers: the origin has to.");
    return null;
  }

  #readDeliver({ text, block, source }: VclStatement): void {
    const isXCache = (each: VclStatement) => /^set resp\.http\.X-Cache = "(?:HIT|MISS)"$/i.test(each.text);
    if (block !== null && /^(?:if \(obj\.hits > 0\)|else)$/.test(text) && block.every(isXCache)) return;
    if (block === null && (isXCache({ text, block, source }) || ITSELF.some((each) => each.test(text)))) return;
    if (block === null && /^unset resp\.http\.(?:Via|X-Varnish|Age)$/i.test(text)) return;
    this.#drop(source, "The edge adds its own fields to answers and removes none of the origin's.", "response-field");
  }

  #readHash({ text, block, source }: VclStatement): void {
    if (block === null && /^(?:hash_data\((?:req\.url|req\.http\.host|server\.ip)\)|return \(lookup\))$/.test(text))
      return;
    if (block !== null && /req\.http\.host/.test(text)) return;
    const field = /^hash_data\(req\.http\.([\w-]+)\)$/.exec(text)?.[1]?.toLowerCase();
    if (field !== undefined && !/^(?:cookie|authorization|range)$/.test(field)) {
      this.#ofAll.rules = { ...this.#ofAll.rules, key: { fields: [field] } };
      this.#ofAll.from.push(source);
      return;
    }
    this.#passAll(source);
  }

  #dropChange(source: Source, text: string): void {
    const why = /^(?:set|unset) req\./.test(text)
      ? "The edge does not rewrite requests: the origin has to."
      : "The import does not know this statement.";
    this.#drop(source, why, "answer");
  }

  #drop(source: Source, why: string, aspect?: Difference["aspects"][number]): void {
    this.#differences.push({
      kind: "dropped",
      source,
      why,
      aspects: aspect ? [aspect] : [],
      affects: { routes: null },
    });
  }
}

/** A time of VCL, which has one number, perhaps with a fraction: `1.5h`. */
function secondsOf(time: string): number {
  const [, count, unit] = /^([\d.]+)([a-z]+)$/.exec(time)!;
  return Number(count) * UNITS[unit!]!;
}
