/**
 * Changes the fields of a response. Throws a `TypeError` that says what to do if the platform lets nobody change them: those
 * of `Response.redirect` and of answers to `fetch`. `call`: the function that was called, for the message.
 */
export function changeFields(call: string, change: () => void): void {
  try {
    change();
  } catch (cause) {
    if (!(cause instanceof TypeError && /immutable/i.test(cause.message))) throw cause;
    throw new TypeError(
      `${call}: the fields of this response cannot be changed, as those of Response.redirect and of fetch: ` +
        "take a copy, new Response(response.body, response)",
      { cause },
    );
  }
}
