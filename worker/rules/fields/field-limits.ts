import { memoize } from "./memoize.ts";
import { isToken } from "./token.ts";

type Fields = Iterable<readonly [name: string, value: string]>;

/** The limits for the fields of a message. */
export interface FieldLimits {
  readonly maxFields: number;
  /** The most bytes of all names and values together. */
  readonly maxBytes: number;
}

/** Characters that no value may contain: control characters other than the tab. RFC 9110 §5.5. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL_CHARACTER = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/** The same few names come again and again. */
const isFieldName = memoize(isToken);

/** The reason for which a message's fields are refused, in words; `null` if they are accepted. */
export function reasonToRefuseFields(fields: Fields, { maxFields, maxBytes }: FieldLimits): string | null {
  let count = 0;
  let bytes = 0;
  for (const [name, value] of fields) {
    bytes += name.length + value.length;
    if (++count > maxFields) return `more than ${maxFields} fields`;
    if (bytes > maxBytes) return `more than ${maxBytes} bytes of fields`;
    if (!isFieldName(name)) return "a field with an invalid name";
    if (CONTROL_CHARACTER.test(value)) return `a control character in ${name}`;
  }
  return null;
}

/** The reason for which one of a message's fields is not valid in HTTP, in words; `null` if all are. */
export function reasonFieldIsBroken(fields: Fields): string | null {
  return reasonToRefuseFields(fields, { maxFields: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY });
}
