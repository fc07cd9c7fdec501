import { isToken } from "./token.ts";

type Fields = Iterable<readonly [name: string, value: string]>;

/** How much a message may say in fields. */
export interface FieldLimits {
  readonly maxFields: number;
  /** Of all names and values together. */
  readonly maxBytes: number;
}

/** What no value may have: control characters but for the tab. RFC 9110 §5.5. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL_CHARACTER = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/** Why a message's fields are not taken, in words; `null` if they are. */
export function reasonToRefuseFields(fields: Fields, { maxFields, maxBytes }: FieldLimits): string | null {
  let count = 0;
  let bytes = 0;
  for (const field of fields) {
    bytes += field[0].length + field[1].length;
    if (++count > maxFields) return `more than ${maxFields} fields`;
    if (bytes > maxBytes) return `more than ${maxBytes} bytes of fields`;
    const broken = brokenBecause(field);
    if (broken !== null) return broken;
  }
  return null;
}

/** Why one of a message's fields is none that HTTP allows, in words; `null` if all are. */
export function reasonFieldIsBroken(fields: Fields): string | null {
  for (const field of fields) {
    const broken = brokenBecause(field);
    if (broken !== null) return broken;
  }
  return null;
}

function brokenBecause([name, value]: readonly [name: string, value: string]): string | null {
  if (!isToken(name)) return "a field whose name is none";
  if (CONTROL_CHARACTER.test(value)) return `a control character in ${name}`;
  return null;
}
