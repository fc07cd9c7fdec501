/**
 * Untrusted text, safe for a terminal: control characters, invisible ones, those that change the direction, and line
 * separators are each shown as U+FFFD, so that the text cannot pass for one without them.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd");
}
