import { readFileSync } from "node:fs";

const SOURCE = "worker/site/site-input.ts";

/** One setting, as `SiteInput` and the interfaces that it names declare it. */
export interface Setting {
  /** From the settings of a site or of a route: `stale.ifError`. */
  readonly path: string;
  /** In TypeScript, without what says only that it may be left out. */
  readonly type: string;
  readonly isRequired: boolean;
  /** The comment, without the sentence of the default. */
  readonly meaning: string;
  /** Empty if it has none. */
  readonly byDefault: string;
  /** The names of the interfaces that its own settings are in. */
  readonly nested: readonly string[];
}

/** An interface and what it says of itself. */
export interface Declared {
  readonly about: string;
  readonly settings: readonly Setting[];
}

const INTERFACE =
  /^(?:\/\*\*(?<about>(?:(?!\*\/)[\s\S])*)\*\/\n)?export interface (?<name>\w+)(?: extends (?<parent>\w+))? \{\n(?<body>[\s\S]*?)^\}/gm;
const MEMBER =
  /\s*\/\*\*(?<comment>(?:(?!\*\/)[\s\S])*)\*\/\s*readonly (?<name>\w+)(?<optional>\??): (?<type>[^;]+(?:\{[^}]*\}[^;]*)?);\n/y;

/**
 * The interfaces of the site's settings, by name, read from their source. Throws if it has a line that is none of a comment
 * and a setting, so that no setting is left out.
 */
export function declaredSettings(source = readFileSync(SOURCE, "utf8")): ReadonlyMap<string, Declared> {
  const found = [...source.matchAll(INTERFACE)].map(({ groups }) => groups as Record<string, string | undefined>);
  const names = found.map(({ name }) => name!);
  const own = new Map(found.map(({ name, body }) => [name!, membersOf(name!, body!, names)]));
  return new Map(
    found.map(({ name, about, parent }) => {
      const inherited = parent === undefined ? [] : own.get(parent)!;
      return [name!, { about: flowing(about ?? ""), settings: [...own.get(name!)!, ...inherited] }];
    }),
  );
}

function membersOf(owner: string, body: string, names: readonly string[]): readonly Setting[] {
  const settings: Setting[] = [];
  MEMBER.lastIndex = 0;
  let end = 0;
  for (let found = MEMBER.exec(body); found !== null; found = MEMBER.exec(body)) {
    const { comment, name, optional, type } = found.groups as Record<string, string>;
    end = MEMBER.lastIndex;
    const { meaning, byDefault } = partedComment(flowing(comment!));
    settings.push({
      path: name!,
      type: plainType(type!),
      isRequired: optional === "",
      meaning,
      byDefault,
      nested: (type!.match(/\w+/g) ?? []).filter((word) => names.includes(word)),
    });
  }
  if (body.slice(end).trim() !== "") throw new Error(`${SOURCE}, ${owner}: cannot be read: ${body.slice(end)}`);
  return settings;
}

/** A comment in one line. */
function flowing(comment: string): string {
  return comment
    .replace(/\n\s*\* ?/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/** The sentence that begins with "Default", and the others. A full stop in a number or in quotes ends none. */
function partedComment(comment: string): { meaning: string; byDefault: string } {
  const found = /(?:^| )Default(?: of each(?: list)?)?:? (.+?)\.(?= [A-Z`]|$)/.exec(comment);
  if (found === null) return { meaning: comment, byDefault: "" };
  const meaning = `${comment.slice(0, found.index)} ${comment.slice(found.index + found[0].length)}`;
  return { meaning: meaning.replace(/\s+/g, " ").trim(), byDefault: found[1]! };
}

function plainType(type: string): string {
  return type
    .replace(/\s+/g, " ")
    .replace(/ \| undefined$/, "")
    .replaceAll("readonly ", "")
    .replace(/Readonly<Record<string, (.+)>>/, "{ [name]: $1 }");
}
