/**
 * Text that others wrote, safe for a terminal: control characters, those that change its direction or cannot be seen,
 * and separators of lines are each shown as U+FFFD, so that nobody takes the text for one without them.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd");
}
