/** Enough for the different texts that a site's origins write into one field, and little memory. */
const MAX_TEXTS = 256;
const MAX_TEXT_CHARACTERS = 256;

/**
 * The same function with its recent results remembered, for texts that repeat. It must always return the same result
 * for the same text, and no caller may change a result. A full memory is emptied, because that costs less than tracking
 * the order of the texts.
 */
export function memoize<Value extends string | boolean | object>(
  read: (text: string) => Value,
): (text: string) => Value {
  const values = new Map<string, Value>();
  return (text) => {
    const known = values.get(text);
    if (known !== undefined) return known;
    const value = read(text);
    if (text.length > MAX_TEXT_CHARACTERS) return value;
    if (values.size === MAX_TEXTS) values.clear();
    values.set(text, value);
    return value;
  };
}
