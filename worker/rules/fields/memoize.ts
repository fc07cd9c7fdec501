/** Enough for what the origins of a site write into one field, and little memory. */
const MAX_TEXTS = 256;
const MAX_TEXT_CHARACTERS = 256;

/**
 * The same function, with its last results remembered, for texts that come again and again. It must always return the
 * same for the same text, and no caller may change a result. A full memory is emptied: that is cheaper than to track
 * which text came when.
 */
export function memoize<Value extends object>(read: (text: string) => Value): (text: string) => Value {
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
