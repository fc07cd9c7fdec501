/** A member's value, without its parameters. `null` is one of a type that no field here asks for: `1.5`, `a`, `(1 2)`. */
export type MemberValue = boolean | number | string | null;

const KEY = sourceOf(/[a-z*][a-z\d_.*-]*/);

/** RFC 9651 §3.3: a decimal, an integer, a string, a token, bytes, a boolean, a date, and a string of any characters. */
const BARE_ITEM = sourceOf(
  /-?\d{1,12}\.\d{1,3}/,
  /-?\d{1,15}/,
  /"(?:[ !#-[\]-~]|\\["\\])*"/,
  /[A-Za-z*][\w:/!#$%&'*+.^`|~-]*/,
  /:(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}(?:==)?|[A-Za-z\d+/]{3}=?)?:/,
  /\?[01]/,
  /@-?\d{1,15}/,
  /%"(?:[ !#$&-~]|%[\da-f]{2})*"/,
);
const PARAMETERS = `(?:; *${KEY}(?:=${BARE_ITEM})?)*`;
const ITEM = BARE_ITEM + PARAMETERS;
const VALUE = `(${BARE_ITEM}|\\( *(?:${ITEM}(?: +${ITEM})* *)?\\))`;
const LIST_MEMBER = memberWith(VALUE);
const DICTIONARY_MEMBER = memberWith(`(${KEY})(?:=${VALUE})?`);

/** The values of a list, RFC 9651 §3.1; none of a text that is not one. */
export function listValues(text: string): MemberValue[] {
  return membersOf(text, LIST_MEMBER).map(([, value]) => memberValue(value!));
}

/** The values of a dictionary by their names, RFC 9651 §3.2; none of a text that is not one. */
export function dictionaryValues(text: string): ReadonlyMap<string, MemberValue> {
  return new Map(membersOf(text, DICTIONARY_MEMBER).map(([, name, value = "?1"]) => [name!, memberValue(value)]));
}

function membersOf(text: string, member: RegExp): readonly RegExpExecArray[] {
  const members: RegExpExecArray[] = [];
  let end = 0;
  for (let found = member.exec(text); found; found = member.exec(text)) {
    members.push(found);
    end = member.lastIndex;
  }
  return /[^ \t]/.test(text.slice(end)) ? [] : members;
}

function memberValue(item: string): MemberValue {
  if (item.startsWith('"')) return item.slice(1, -1).replace(/\\(.)/g, "$1");
  if (item.startsWith("?")) return item === "?1";
  return /^-?\d+$/.test(item) ? Number(item) : null;
}

/** A member after the comma before it, unless it is the first. */
function memberWith(content: string): RegExp {
  return new RegExp(`(?:^ *|(?!^)[ \\t]*,[ \\t]*)${content}${PARAMETERS}`, "y");
}

function sourceOf(...patterns: readonly RegExp[]): string {
  return `(?:${patterns.map(({ source }) => source).join("|")})`;
}
