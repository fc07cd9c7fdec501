import { parseSync } from "rolldown/utils";
import type { Place } from "./tokens.ts";

/** A function, a class, a member of a class, or a variable of a module. */
export interface Declaration extends Place {
  /** `judge`, `PurgeView`, `PurgeView.check`, `PurgeView.#take`. */
  readonly name: string;
  /** `null` if it is not a function or a method. */
  readonly called: FunctionParts | null;
}

export interface FunctionParts {
  readonly isAsync: boolean;
  /** Its parameters and the type of its result. */
  readonly head: Place;
  readonly body: Place;
}

/** A parsed file. */
export interface Parsed {
  /** Its text, with spaces in the place of comments. */
  readonly code: string;
  readonly declarations: readonly Declaration[];
  readonly statements: readonly Place[];
}

type Statement = ReturnType<typeof parseSync>["program"]["body"][number];

/** Throws if the text is not TypeScript. */
export function parse(path: string, text: string): Parsed {
  const { program, comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new SyntaxError(`${path}: ${errors[0]!.message}\n${errors[0]!.codeframe}`);
  return {
    code: withoutComments(text, comments),
    declarations: program.body.flatMap(declaredBy),
    get statements() {
      return statementsIn(program);
    },
  };
}

function withoutComments(text: string, comments: readonly Place[]): string {
  return comments.reduce(
    (code, { start, end }) => code.slice(0, start) + " ".repeat(end - start) + code.slice(end),
    text,
  );
}

function declaredBy(statement: Statement): Declaration[] {
  const declared = "declaration" in statement && statement.declaration ? statement.declaration : statement;
  const { start, end } = statement;
  switch (declared.type) {
    case "FunctionDeclaration":
      return declared.id ? [{ name: declared.id.name, start, end, called: partsOf(declared) }] : [];
    case "ClassDeclaration": {
      const name = declared.id?.name ?? "default";
      const members = declared.body.body.flatMap((member) => {
        if (!("key" in member) || !("name" in member.key)) return [];
        const called = member.type === "MethodDefinition" ? partsOf(member.value) : null;
        return [{ name: `${name}.${memberName(member.key)}`, start: member.start, end: member.end, called }];
      });
      return [{ name, start, end, called: null }, ...members];
    }
    case "VariableDeclaration": {
      const isAlone = declared.declarations.length === 1;
      return declared.declarations.flatMap((each) =>
        each.id.type === "Identifier"
          ? [{ name: each.id.name, ...(isAlone ? { start, end } : { start: each.start, end: each.end }), called: null }]
          : [],
      );
    }
    default:
      return [];
  }
}

function memberName({ type, name }: { readonly type: string; readonly name: unknown }): string {
  return type === "PrivateIdentifier" ? `#${name}` : String(name);
}

interface FunctionNode extends Place {
  readonly async: boolean;
  readonly id: Place | null;
  readonly body: Place | null;
}

function partsOf({ async: isAsync, id, body, start }: FunctionNode): FunctionParts | null {
  return body && { isAsync, head: { start: id?.end ?? start, end: body.start }, body };
}

/** The statements of a tree, those within others included. */
function statementsIn(node: unknown): Place[] {
  if (typeof node !== "object" || node === null) return [];
  const { type = "", start, end } = node as { readonly type?: string } & Place;
  const within = Object.values(node).flatMap(statementsIn);
  return /(Statement|Declaration)$/.test(type) ? [{ start, end }, ...within] : within;
}
