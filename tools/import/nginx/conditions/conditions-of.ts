import { ImportError, type Source } from "../../imported-site.ts";
import { forbidsStoring, isOfAddresses, letsAllIn, noteOn, rowOf } from "../directive-table.ts";
import type { Directive } from "../files/directives.ts";
import { handlerOf } from "../handlers.ts";
import { allInForce, inForce } from "../in-force.ts";
import { EVERY_PATH, folderLine, indexNames, type Location, nextTarget } from "../locations.ts";
import { fieldOf, linesOverVisitors } from "../origin-fields.ts";
import { IS_OFF, IS_TRUE } from "./comparison.ts";
import { type Maps, variableIn } from "./maps.ts";
import {
  assignmentsOf,
  type Caused,
  capturesOf,
  conditionOf,
  type Evaluation,
  isConstant,
  mayHoldOn,
  requestsWhere,
  requestsWhereIf,
} from "./requests-where.ts";

/** A condition under which nginx neither answers from the cache nor stores as usual. */
export interface Condition {
  /** The line. */
  readonly source: Source;
  readonly caused: readonly Caused[];
  /** `bypass`: fetched for this request; `no-cache`: not stored; `both`; `other`: nginx answers by other rules. */
  readonly effect: "bypass" | "no-cache" | "both" | "other";
}

/** The context for reading every location. */
export interface ServerFacts {
  readonly server: readonly Directive[];
  readonly maps: Maps;
  /** The variables that an expression outside of servers may set. */
  readonly captured: ReadonlySet<string>;
  /** The fields of which no visitor's own can choose a page that the site stores. */
  readonly replaced: ReadonlySet<string>;
  /** The hosts of the site; empty for any. */
  readonly hosts: readonly string[];
}

/** All conditions that a location's requests meet. Throws an `ImportError` for a `try_files` without parameters. */
export function conditionsOn(location: Location, facts: ServerFacts): readonly Condition[] {
  const evaluation = evaluationOf(location, facts);
  return [
    ...forbidden(location),
    ...ofTriedFiles(location),
    ...ofRewriting(location, facts, evaluation),
    ...ofCaching(location, evaluation),
    ...ofErrorPages(location),
    ...ofCredentials(location, facts),
  ];
}

function always(source: Source, text = source.text): Condition {
  return { source, caused: [{ cause: { kind: "unknown", text }, from: [], isExact: true }], effect: "other" };
}

/** The directives because of which a location stores nothing, for any visitor. */
function forbidden(location: Location): readonly Condition[] {
  const { way, lostAt } = location;
  const lines = way.flatMap((levels, step) => {
    const found = allInForce(levels);
    const isOpen = letsAllIn(found);
    // An internal redirect may go to an internal location.
    return found.filter(
      (each) => forbidsStoring(each) && !(each.name === "internal" && step > 0) && !(isOpen && isOfAddresses(each)),
    );
  });
  const lost = lostAt === null ? [] : [lostAt];
  return [...new Set([...lines, ...lost])].map(({ source }) => always(source));
}

/**
 * `try_files`, if its files decide more than which answers nginx gives without the cache: another visitor may have
 * other files, and a last `=404` refuses pages that the origin might have. Not if PHP itself refuses missing scripts,
 * or if a redirect always leads to the same file.
 */
function ofTriedFiles(location: Location): readonly Condition[] {
  const { way, newPath } = location;
  const handler = handlerOf(location);
  const isRefusal = handler.kind === "upstream" && handler.family !== "fastcgi";
  return way.flatMap((levels, step) => {
    const [own] = levels;
    const line = own!.find(({ name }) => name === "try_files");
    if (line === undefined) return [];
    const last = line.args.at(-1);
    if (last === undefined) throw new ImportError(`${line.source.place}: try_files names no files`);
    const files = line.args.slice(0, -1);
    const isForAll = !/\$(?!\{?(?:uri|document_uri|fastcgi_script_name|host|server_name|document_root)\b)/.test(
      files.join(" "),
    );
    const isConstant = step > 0 && newPath !== null;
    const refuses = isRefusal && !isConstant && last.startsWith("=");
    // The path of another folder's index cannot be derived from the request.
    const hasOtherIndexes =
      folderLine(own!) !== null &&
      (indexNames(levels) === null ||
        files.some((each) => each.endsWith("/") && !/^\$(?:uri|\{uri\}|document_uri)\/$/.test(each)));
    return isForAll && !refuses && !hasOtherIndexes ? [] : [always(line.source)];
  });
}

/** `if`, `rewrite` and `return` of the server and of each location on the way. They run only in their own block. */
function ofRewriting(location: Location, { server }: ServerFacts, evaluation: Evaluation): readonly Condition[] {
  const { newPath } = location;
  const ownBlocks = location.way.map(([own]) => own!);
  const found = [server, ...ownBlocks].flatMap((block, index) => {
    const isInLocation = index > 0;
    // try_files does not count in the block of an `if`.
    const isFragile = isInLocation && block.some(({ name }) => name === "try_files");
    const followed = isInLocation && index < location.way.length ? nextTarget(block)?.directive : undefined;
    // After an internal redirect, the server's rewrites run on the new path.
    const paths = isInLocation && index === 1 ? null : newPath;
    return block.flatMap((directive): Condition[] => {
      const { name, args, source } = directive;
      if (name === "return" || setsTarget(directive)) return [always(source)];
      if (name === "rewrite" && directive !== followed) {
        const regex = args[0] ?? "";
        if (mayHoldOn(paths, { source: regex, ignoreCase: false }) || EVERY_PATH.test(regex)) return [always(source)];
        const cause = { kind: "path", regex, ignoreCase: false } as const;
        return [{ source, caused: [{ cause, from: [], isExact: true }], effect: "other" }];
      }
      if (name !== "if" || directive.block === null || (!isFragile && !hasEffect(directive.block))) return [];
      if (leadsToOtherAddress(directive, block)) return [];
      const caused = evaluationsAt(directive, evaluation, linesOf(location, server)).flatMap((each) =>
        requestsWhereIf(conditionOf(directive), each),
      );
      return [{ source, caused, effect: "other" }];
    });
  });
  return found;
}

/** Conditions on where a request arrived: on its scheme, port or host, of which each has pages of its own. */
const IS_OF_ADDRESS = /^\$\{?(?:host|http_host|server_name|server_port|scheme|https|ssl_protocol)\}?(?:\s|$)/;

/** The visitor's own path and query at an address, also as all that an expression found. */
const SAME_PAGE = /^https?:\/\/[^/?#]+?(?:\$\{?request_uri\}?\??|\$uri\$is_args\$args|(\/?\$1))$/;
const WHOLE_PATH = /^\^?\/?\(\.[*+]\)\$?$/;

/**
 * Whether an `if` of this block only redirects to the same page under another scheme or host. The edge serves the page
 * without a redirect, and stores it apart.
 */
export function leadsToOtherAddress(directive: Directive, block: readonly Directive[]): boolean {
  const [only, ...others] = directive.block ?? [];
  if (only === undefined || others.length > 0) return false;
  if (!isOfAddress(conditionOf(directive), block.slice(0, block.indexOf(directive)))) return false;
  const [first = "", target = "", flag = ""] = only.args;
  const [isSame, found] = SAME_PAGE.exec(target) ?? [];
  if (isSame === undefined) return false;
  if (only.name === "return") return /^30[1278]$/.test(first) && found === undefined;
  return (
    only.name === "rewrite" && /^(?:permanent|redirect)$/.test(flag) && (found === undefined || WHOLE_PATH.test(first))
  );
}

/** Whether a condition is on the address, or on a variable that only such conditions can have given this value. */
function isOfAddress(condition: string, before: readonly Directive[]): boolean {
  if (IS_OF_ADDRESS.test(condition)) return true;
  const [, variable, wanted = ""] = /^\$\{?(\w+)\}? = (\w+)$/.exec(condition) ?? [];
  const [first, ...later] = assignmentsOf(before).filter((each) => each.variable === variable);
  if (first === undefined || !isConstant(first) || first.value === wanted) return false;
  return later.every(
    ({ value, condition: ofLine, isCode }) =>
      !isCode && (!mayBe(value, wanted) || (ofLine !== null && IS_OF_ADDRESS.test(ofLine))),
  );
}

/** Whether a text, of which variables may be parts, can have this value. */
function mayBe(text: string, wanted: string): boolean {
  if (!text.includes("$")) return text === wanted;
  const [, ending = ""] = /\}([^$}]*)$/.exec(text) ?? [];
  return wanted.endsWith(ending);
}

/** Whether a line gives the origin another path or query than the visitor's. */
function setsTarget({ name, args }: Directive): boolean {
  return name === "set" && /^(?:args|query_string|uri|document_uri)$/.test(variableIn(args[0] ?? "") ?? "");
}

/** Whether an `if` block does more than set variables and answer fields. */
export function hasEffect(block: readonly Directive[]): boolean {
  return block.some((each) => {
    const row = rowOf(each);
    if (setsTarget(each)) return true;
    if (each.name === "set" || each.name === "break" || /^set_by_lua/.test(each.name)) return false;
    return row === null || !["output", "log", "setup"].includes(row.phase) || forbidsStoring(each);
  });
}

/** `proxy_cache_bypass`, `proxy_no_cache`, and a zone that a variable turns off. */
function ofCaching({ answeredBy, ...location }: Location, evaluation: Evaluation): readonly Condition[] {
  const handler = handlerOf({ answeredBy, ...location });
  if (handler.kind === "itself") return [];
  const read = (name: string) =>
    inForce(answeredBy, `${handler.family}_${name}`).flatMap(({ args, source }) =>
      args.map((text) => ({ text, source })),
    );
  const [bypassed, unstored] = [read("cache_bypass"), read("no_cache")];
  const isIn = (lines: readonly { readonly text: string }[], text: string) => lines.some((each) => each.text === text);
  const all = [...bypassed, ...unstored];
  const zone = read("cache").filter(({ text }) => text.includes("$"));
  return [
    ...zone.map(({ text, source }) =>
      // Two zones may hold two pages under one key.
      zonesOf(text, evaluation).size > 1
        ? always(source, text)
        : { source, caused: requestsWhere(text, IS_OFF, evaluation), effect: "both" as const },
    ),
    ...all
      .filter(({ text }, index) => all.findIndex((each) => each.text === text) === index)
      .map(({ text, source }) => ({
        source,
        caused: requestsWhere(text, IS_TRUE, evaluation),
        effect: isIn(unstored, text)
          ? isIn(bypassed, text)
            ? ("both" as const)
            : ("no-cache" as const)
          : ("bypass" as const),
      })),
  ];
}

/** The zones that a variable may name; the variable itself represents those that are not known. */
function zonesOf(text: string, { maps, assignments }: Evaluation): ReadonlySet<string> {
  const variable = variableIn(text);
  const map = variable === null ? undefined : maps.get(variable);
  const assigned = assignments.filter((each) => each.variable === variable).map(({ value }) => value);
  const values = map ? [map.fallback, ...map.entries.map(({ value }) => value)] : assigned;
  const zones = values.filter((value) => value !== "" && value !== "off");
  return new Set(zones.some((value) => value.includes("$")) ? [text, ...zones] : zones);
}

/** A page that replaces the origin's errors does not come from the cache. */
function ofErrorPages(location: Location): readonly Condition[] {
  const handler = handlerOf(location);
  if (handler.kind === "itself") return [];
  const intercepts = inForce(location.answeredBy, `${handler.family}_intercept_errors`)[0];
  const pages = inForce(location.answeredBy, "error_page");
  return intercepts?.args[0] === "on" && pages.length > 0 ? [always(intercepts.source)] : [];
}

/** Credentials that nginx kept from the origin, which may say `public` without having looked at any. */
function ofCredentials(location: Location, { replaced }: ServerFacts): readonly Condition[] {
  const lines = linesOverVisitors(location, replaced).filter((line) => fieldOf(line) === "authorization");
  return lines.map(({ source }) => {
    const cause = { kind: "field", name: "authorization", pattern: null } as const;
    return { source, caused: [{ cause, from: [], isExact: true }], effect: "no-cache" };
  });
}

/** The context for evaluating the conditions that a location's requests meet. */
export function evaluationOf(location: Location, { server, ...facts }: ServerFacts): Evaluation {
  const { newPath, changesQuery } = location;
  const lines = linesOf(location, server);
  // A rewrite with a flag skips the lines behind it, too.
  const isBreak = ({ name, args, block }: Directive): boolean =>
    name === "break" || (name === "rewrite" && args.length > 2) || (name === "if" && (block ?? []).some(isBreak));
  const first = lines.findIndex(({ name, block }) => name === "if" && !hasEffect(block ?? []) && block?.some(isBreak));
  const skipped = new Set(first === -1 ? [] : assignmentsOf(lines.slice(first + 1)).map(({ variable }) => variable));
  return {
    ...facts,
    captured: capturesOf(location, server, facts.captured),
    assignments: assignmentsOf(lines),
    skipped,
    mayBreak: lines.some(isBreak),
    newPath,
    changesQuery,
  };
}

/** The lines that requests of a location go through, in their order. */
function linesOf({ way, newPath }: Location, server: readonly Directive[]): readonly Directive[] {
  const blocks = way.map(([own]) => own!);
  // An internal redirect to a path runs the server's lines again; one to a named location does not.
  const order = newPath === null ? [server, ...blocks] : [server, ...blocks.slice(0, -1), server, blocks.at(-1)!];
  return order.flat();
}

/** The context at each place where a line runs. */
function evaluationsAt(line: Directive, evaluation: Evaluation, lines: readonly Directive[]): readonly Evaluation[] {
  return lines.flatMap((each, at) =>
    each === line ? [{ ...evaluation, assignments: assignmentsOf(lines.slice(0, at)) }] : [],
  );
}

/** Whether a line keeps visitors out. */
export function refuses(directive: Directive): boolean {
  const { name, args, block } = directive;
  if (name === "if" && block !== null) {
    const condition = conditionOf(directive);
    const isOfAddress = /^\$(?:host|http_host|scheme|https|server_name|ssl_protocol|http_x_forwarded_proto)\b/.test(
      condition,
    );
    return block.some((each) => refuses(each) || (!isOfAddress && isRedirect(each)));
  }
  if (name === "return") return /^[45]/.test(args[0] ?? "") || /^30[237]$/.test(args[0] ?? "");
  return noteOn(directive)?.kind === "access";
}

function isRedirect({ name, args }: Directive): boolean {
  if (name === "rewrite") return args[2] === "redirect" || /^https?:/.test(args[1] ?? "");
  return name === "return" && /^(?:3\d\d|https?:)/.test(args[0] ?? "");
}
