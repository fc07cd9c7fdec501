import { mayBeKeyed, type RouteInput } from "#tidemark/internal";
import type { Source } from "../imported-site.ts";
import { capturedBy, type MapKey, variableIn, writtenIn } from "./conditions/maps.ts";
import { type Assignment, type Evaluation, isConstant } from "./conditions/requests-where.ts";
import { isOfDevices } from "./device-words.ts";

type Key = NonNullable<RouteInput["key"]>;

/** A `proxy_cache_key` in the words of a route. */
export interface ImportedKey {
  readonly key: Key;
  readonly bypassedCookies: readonly string[];
  readonly from: readonly Source[];
  /** The parts that a route cannot key by. Pages that differ in them must not be stored under one key. */
  readonly unknown: readonly string[];
  /** The cookies whose values made separate entries, without a bound. */
  readonly unboundedCookies: readonly string[];
  /** Choices that are made differently from nginx's map: `device`, `languages`. */
  readonly approximate: readonly string[];
  readonly leavesOutHost: boolean;
  /** GET and HEAD have separate entries. */
  readonly splitsMethods: boolean;
  /** The query is not part of the key, or only these parameters are. */
  readonly onlyParameters: readonly string[] | null;
}

/** The most values of a cookie, and the most languages, by which a route may key. */
const MOST_CHOICES = 32;

/** nginx's own key. */
const DEFAULT_KEY = "$scheme$proxy_host$request_uri";

/** Variables whose values are in the edge's key anyway. */
const IN_EVERY_KEY =
  /^(?:scheme|https|proxy_host|proxy_port|server_port|server_name|host|http_host|request_method|http_accept_encoding|uwsgi_host|slice_range)$/;
const PATH_AND_QUERY = /^(?:request_uri)$/;
const PATH = /^(?:uri|document_uri|document_root|fastcgi_script_name)$/;
const QUERY = /^(?:args|query_string)$/;

export function importKey(
  text: string | null,
  { maps, assignments, captured, skipped }: Pick<Evaluation, "maps" | "assignments" | "captured" | "skipped">,
): ImportedKey {
  const key: { -readonly [Name in keyof Key]: Key[Name] } = {};
  const unknown: string[] = [];
  const unboundedCookies: string[] = [];
  const approximate: string[] = [];
  const from: Source[] = [];
  const fields: string[] = [];
  const parameters: string[] = [];
  const cookies: Record<string, readonly string[]> = {};
  let hasQuery = false;
  const variables = variablesIn(text ?? DEFAULT_KEY);
  for (const written of writtenVariablesIn(text ?? DEFAULT_KEY)) {
    const name = written.toLowerCase();
    const kind = /^(cookie|arg)_./.exec(name)?.[1];
    const rest = written.replace(/^[^_]*_/, "");
    const map = maps.get(name);
    const assigned = assignments.filter(({ variable }) => variable === name);
    if (isInEveryKey(name) || name === "is_args") continue;
    if (PATH_AND_QUERY.test(name) || QUERY.test(name)) hasQuery = true;
    else if (captured.has(name) || skipped.has(name) || (map && assigned.length > 0)) unknown.push(`$${written}`);
    else if (assigned.length > 0) {
      if (assigned.every(isConstant)) continue;
      if (assigned.every(isOfDevice)) {
        key.device = true;
        approximate.push("device");
      } else unknown.push(`$${written}`);
    } else if (kind === "arg") parameters.push(rest);
    else if (kind === "cookie") unboundedCookies.push(rest);
    else if (isKeyField(name)) fields.push(fieldOf(name)!);
    else if (/^geoip2?_(?:data_)?country(?:_iso)?_code$/.test(name)) key.country = true;
    else if (map) {
      for (const { source } of [map, ...map.entries]) from.push(source);
      const of = variableIn(map.of) ?? map.of;
      const values = [...new Set([...map.entries.map(({ value }) => value), map.fallback])].filter(
        (value) => value !== "",
      );
      const names = [...new Set(map.entries.map((entry) => entry.key))];
      const isFew = [names, values].every(({ length }) => length > 0 && length <= MOST_CHOICES);
      const unread = [...map.entries, { key: "", isExpression: false, value: map.fallback }].flatMap((entry) =>
        variablesIn(entry.value).filter((each) => !isKeyedWith(each, of, entry)),
      )[0];
      const isChoice = values.every((value) => variablesIn(value).every(isInEveryKey));
      if (unread !== undefined) unknown.push(`$${written}, which may be $${unread}`);
      else if (of === "http_user_agent" && isChoice && names.every(isOfDevices)) {
        key.device = true;
        approximate.push("device");
      } else if (of === "http_accept_language" && isFew && values.every(isLanguage)) {
        key.languages = [
          ...(map.fallback === "" ? [] : [map.fallback]),
          ...values.filter((value) => value !== map.fallback),
        ];
        approximate.push("languages");
      } else if (of.startsWith("cookie_") && isFew && names.every((each) => /^[\w.-]+$/.test(each))) {
        cookies[writtenIn(map.of)!.slice("cookie_".length)] = names;
      } else if (isKeyField(of)) {
        fields.push(fieldOf(of)!);
        approximate.push(fields.at(-1)!);
      } else if (!IN_EVERY_KEY.test(of)) unknown.push(`$${written}`);
    } else unknown.push(`$${written}`);
  }
  if (!variables.some((name) => PATH.test(name) || PATH_AND_QUERY.test(name))) unknown.push("a key without the path");
  if (fields.length > 0) key.fields = fields;
  if (Object.keys(cookies).length > 0) key.cookies = cookies;
  if (!hasQuery) key.query = { only: parameters };
  return {
    key,
    bypassedCookies: unboundedCookies,
    from,
    unknown,
    unboundedCookies,
    approximate,
    leavesOutHost: text !== null && !variables.some((name) => /^(?:proxy_host|server_name|host|http_host)$/.test(name)),
    splitsMethods: variables.includes("request_method"),
    onlyParameters: hasQuery ? null : parameters,
  };
}

function variablesIn(text: string): string[] {
  return writtenVariablesIn(text).map((each) => each.toLowerCase());
}

function writtenVariablesIn(text: string): string[] {
  return [...text.matchAll(/\$\{?(\w+)\}?/g)].map(([, name]) => name!);
}

function isLanguage(text: string): boolean {
  return /^[a-z]{2,3}(?:-[a-z0-9]{1,8})*$/i.test(text);
}

/** The request field that a variable has, in lower case; `null` for another variable. */
function fieldOf(variable: string): string | null {
  const [, name] = /^http_(\w+)$/.exec(variable) ?? [];
  return name?.replaceAll("_", "-") ?? null;
}

/** Whether a variable is a field by which a route may key. */
function isKeyField(variable: string): boolean {
  const field = fieldOf(variable);
  return field !== null && mayBeKeyed(field);
}

function isInEveryKey(variable: string): boolean {
  return IN_EVERY_KEY.test(variable) || PATH.test(variable);
}

/** Whether a variable that an entry of a map yields is in the key by itself, or with the whole value that the map reads. */
function isKeyedWith(variable: string, of: string, entry: MapKey): boolean {
  if (isInEveryKey(variable)) return true;
  return (IN_EVERY_KEY.test(of) || isKeyField(of)) && (variable === of || isCaptureOf(variable, entry));
}

/** Whether an entry's own expression sets a variable. Without one, `$1` is what another expression found. */
function isCaptureOf(variable: string, { key, isExpression }: MapKey): boolean {
  if (!isExpression) return false;
  const groups = key.replace(/\\.|\[\^?\]?(?:\\.|[^\]\\])*\]/g, "");
  return /^\d$/.test(variable) || capturedBy(groups).includes(variable);
}

/** Whether a value is constant, or chosen only by the words of devices in `User-Agent`. */
function isOfDevice(assignment: Assignment): boolean {
  const [, looked] = /^\$(?:\{http_user_agent\}|http_user_agent\b)(.*)$/is.exec(assignment.condition ?? "") ?? [];
  const isChosen = looked !== undefined && isOfDevices(looked);
  return isConstant(isChosen ? { ...assignment, condition: null } : assignment);
}
