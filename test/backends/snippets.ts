import { readFileSync } from "node:fs";

/** The blocks of code below a heading of docs/purging.md, up to the next heading, each with its language. */
export function snippetsBelow(heading: string): readonly { readonly language: string; readonly code: string }[] {
  const page = readFileSync("docs/purging.md", "utf8");
  const section = page.split(/^#{2,3} /m).find((each) => each.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`docs/purging.md has no heading ${heading}`);
  return [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, code]) => ({
    language: language!,
    code: code!,
  }));
}

/** The block below a heading that begins with a comment of this text, like the name of its file. */
export function snippetNamed(heading: string, name: string): string {
  const found = snippetsBelow(heading).find(({ code }) => code.startsWith(`// ${name}\n`));
  if (found === undefined) throw new Error(`docs/purging.md shows no ${name} below ${heading}`);
  return found.code;
}
