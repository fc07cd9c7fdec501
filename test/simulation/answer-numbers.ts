/** In an answer: which fetch its bytes are of, and which one has confirmed them last. */
export const FETCH_FIELD = "x-fetch";
export const VALIDATION_FIELD = "x-validation";

/** `null` for what does not stand there. */
export function numbersIn(fields: Headers): { readonly fetch: number | null; readonly validation: number | null } {
  return { fetch: numberIn(fields, FETCH_FIELD), validation: numberIn(fields, VALIDATION_FIELD) };
}

function numberIn(fields: Headers, name: string): number | null {
  const text = fields.get(name);
  return text === null ? null : Number(text);
}
