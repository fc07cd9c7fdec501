/** The fields of an answer that name the fetch of its bytes, and the fetch that has confirmed them last. */
export const FETCH_FIELD = "x-fetch";
export const VALIDATION_FIELD = "x-validation";

/** `null` for a number that is not there. */
export function numbersIn(fields: { get(name: string): string | null }): {
  readonly fetch: number | null;
  readonly validation: number | null;
} {
  return { fetch: numberIn(fields, FETCH_FIELD), validation: numberIn(fields, VALIDATION_FIELD) };
}

function numberIn(fields: { get(name: string): string | null }, name: string): number | null {
  const text = fields.get(name);
  return text === null ? null : Number(text);
}
