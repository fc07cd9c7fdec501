import type { Source } from "../imported-site.ts";
import type { Directive } from "./directives.ts";
import { cookieNames } from "./path-patterns.ts";

/** What of a request makes a variable true: neither empty nor `0`. */
export type Cause =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "cookies"; readonly names: readonly string[] }
  | { readonly kind: "parameters"; readonly names: readonly string[] }
  | { readonly kind: "path"; readonly regex: string; readonly ignoreCase: boolean }
  /** A method that is never answered from the cache anyway, or an answer that is never stored anyway. */
  | { readonly kind: "never-stored" }
  | { readonly kind: "any-query" }
  | { readonly kind: "unknown"; readonly variable: string };

export interface Caused {
  readonly cause: Cause;
  /** The lines of the map, or of the `if`s, that the variable comes from. */
  readonly from: readonly Source[];
  /** False if more requests have the cause than make the variable true. */
  readonly isExact: boolean;
}

/** The `map` blocks of a configuration, by the variable that they set. */
export type Maps = ReadonlyMap<string, MapBlock>;

export interface MapBlock {
  readonly source: Source;
  /** The text that is looked up, like `$http_cookie`. */
  readonly of: string;
  readonly fallback: string;
  readonly entries: readonly { readonly key: string; readonly value: string; readonly source: Source }[];
}

export function mapsOf(directives: readonly Directive[]): Maps {
  const blocks = directives.filter(({ name, block, args }) => name === "map" && block !== null && args.length === 2);
  return new Map(
    blocks.map(({ args, block, source }) => {
      const lines = block!.filter(({ name }) => !["default", "hostnames", "volatile"].includes(name));
      const entries = lines.map((line) => ({
        key: line.name.replace(/^\\(?=default$|hostnames$|volatile$|~)/, ""),
        value: line.args[0] ?? "",
        source: line.source,
      }));
      const fallback = block!.find(({ name }) => name === "default")?.args[0] ?? "";
      return [args[1]!.replace(/^\$/, ""), { source, of: args[0]!, fallback, entries }];
    }),
  );
}

/** What makes a parameter of `proxy_cache_bypass` or `proxy_no_cache` true, with the blocks that can `set` it. */
export function causesOf(parameter: string, maps: Maps, blocks: readonly (readonly Directive[])[]): readonly Caused[] {
  const variable = /^\$\{?(\w+)\}?$/.exec(parameter)?.[1];
  if (variable === undefined) return [unknown(parameter)];
  const map = maps.get(variable);
  if (map) return causesOfMap(map);
  if (isSetByLua(blocks.flat(), variable)) return [unknown(parameter)];
  const sets = blocks.flatMap((block) => setsOf(block, variable));
  if (sets.length > 0) return causesOfSets(sets, variable);
  return [{ ...causeOfTest(variable, "!=", "0"), from: [] }];
}

function unknown(variable: string): Caused {
  return { cause: { kind: "unknown", variable }, from: [], isExact: false };
}

function isTrue(value: string): boolean {
  return value !== "" && value !== "0";
}

function causesOfMap(map: MapBlock): readonly Caused[] {
  const variable = /^\$\{?(\w+)\}?$/.exec(map.of)?.[1];
  if (variable === undefined || map.entries.some(({ value }) => value.includes("$")) || map.fallback.includes("$")) {
    return [unknown(map.of)];
  }
  const whenTrue = map.entries.filter(({ value }) => isTrue(value));
  if (isTrue(map.fallback)) {
    if (variable === "request_method" && map.entries.every(({ key }) => /^(?:GET|HEAD)$/.test(key))) {
      return [{ cause: { kind: "never-stored" }, from: [map.source], isExact: true }];
    }
    if (whenTrue.length > 0 || map.entries.some(({ key }) => key !== "" && key !== "0")) return [unknown(map.of)];
    return [{ ...causeOfTest(variable, "!=", ""), from: [map.source] }];
  }
  return whenTrue.map(({ key, source }) => {
    const [, operator, regex] = /^(~\*?)(.*)$/s.exec(key) ?? [];
    const { cause, isExact } = causeOfTest(variable, operator ?? "=", regex ?? key);
    return { cause, from: [map.source, source], isExact: isExact && map.entries.every(({ value }) => isTrue(value)) };
  });
}

interface SetLine {
  /** The condition of the `if` around it; `null` if it is always set. */
  readonly condition: string | null;
  readonly value: string;
  readonly sources: readonly Source[];
}

function setsOf(block: readonly Directive[], variable: string): SetLine[] {
  const isSet = ({ name, args }: Directive) => name === "set" && args[0] === `$${variable}`;
  return block.flatMap((directive): SetLine[] => {
    if (isSet(directive)) return [{ condition: null, value: directive.args[1] ?? "", sources: [directive.source] }];
    if (directive.name !== "if" || directive.block === null) return [];
    const condition = conditionOf(directive);
    return directive.block
      .filter(isSet)
      .map((set) => ({ condition, value: set.args[1] ?? "", sources: [directive.source, set.source] }));
  });
}

function isSetByLua(block: readonly Directive[], variable: string): boolean {
  return block.some(
    ({ name, args, block: within }) =>
      (/^set_by_lua/.test(name) && args[0] === `$${variable}`) ||
      (name === "if" && within !== null && isSetByLua(within, variable)),
  );
}

/** The text between the parentheses of an `if`. */
function conditionOf({ args }: Directive): string {
  return args
    .join(" ")
    .replace(/^\(\s*/, "")
    .replace(/\s*\)$/, "");
}

function causesOfSets(sets: readonly SetLine[], variable: string): readonly Caused[] {
  const always = sets.filter(({ condition }) => condition === null);
  const conditional = sets.filter(({ condition }) => condition !== null);
  if (always.some(({ value }) => isTrue(value)) || conditional.some(({ value }) => !isTrue(value))) {
    return [unknown(`$${variable}`)];
  }
  return conditional.map(({ condition, value, sources }) => {
    const [, tested, operator = "!=", compared = "0"] = /^\$(\w+)(?:\s*(!?~\*?|!?=)\s*(.*))?$/s.exec(condition!) ?? [];
    if (tested === undefined || value.includes("$")) return { ...unknown(condition!), from: sources };
    return { ...causeOfTest(tested, operator, compared), from: sources };
  });
}

/** What a comparison of a variable with a value asks of a request. */
function causeOfTest(variable: string, operator: string, value: string): Pick<Caused, "cause" | "isExact"> {
  const exactly = (cause: Cause) => ({ cause, isExact: true });
  const atLeast = (cause: Cause) => ({ cause, isExact: false });
  const isPresence =
    (operator === "!=" && (value === "" || value === "0")) || (operator.startsWith("~") && /^\.[+*]?$/.test(value));
  const isTest = operator === "=" || operator.startsWith("~");
  const named = /^(http|cookie|arg)_(\w+)$/.exec(variable);
  if (variable === "request_method") {
    const stored = operator.startsWith("!") ? !isSafe(value) : isSafe(value);
    return stored ? atLeast({ kind: "unknown", variable: "$request_method" }) : exactly({ kind: "never-stored" });
  }
  if (variable === "http_cookie" && isTest) {
    const names = cookieNames(value);
    return atLeast(names ? { kind: "cookies", names } : { kind: "unknown", variable: `$${variable}` });
  }
  if (variable === "http_cookie" && isPresence) return atLeast({ kind: "unknown", variable: "$http_cookie" });
  if (/^(?:request_uri|uri|document_uri)$/.test(variable) && isTest) {
    const hasQuery = variable === "request_uri";
    // A pattern of a route is compared with the path alone.
    if (hasQuery && /[?&=]/.test(value.replace(/\(\?[:=!]|[)\]\w.][?]/g, ""))) {
      return atLeast({ kind: "unknown", variable: `$${variable}` });
    }
    const regex = operator === "=" ? `^${value.replace(/[\^$\\.*+?()[\]{}|]/g, "\\$&")}$` : value;
    return {
      cause: { kind: "path", regex, ignoreCase: operator === "~*" },
      isExact: !hasQuery || !regex.includes("$"),
    };
  }
  if (/^(?:query_string|args|is_args)$/.test(variable) && isPresence) return exactly({ kind: "any-query" });
  if (/^(?:upstream_http_set_cookie|sent_http_set_cookie)$/.test(variable)) return exactly({ kind: "never-stored" });
  if (named && (isPresence || isTest)) {
    const [, kind, name] = named as unknown as [string, "http" | "cookie" | "arg", string];
    const dashed = name.replaceAll("_", "-");
    const cause: Cause =
      kind === "http"
        ? { kind: "field", name: dashed }
        : { kind: kind === "cookie" ? "cookies" : "parameters", names: [name] };
    return { cause, isExact: isPresence && value !== "0" };
  }
  return atLeast({ kind: "unknown", variable: `$${variable}` });
}

/** Whether a method, or an expression for several, is of GET and HEAD alone. */
function isSafe(methods: string): boolean {
  return (methods.match(/[A-Z]+/g) ?? []).every((method) => method === "GET" || method === "HEAD");
}
