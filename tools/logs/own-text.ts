/** A copy of the text in separate memory. A slice of a line would keep a whole piece of the log in memory. */
export function ownText(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}
