/** The text of a file without its byte order mark, which some editors write and most readers skip. */
export function withoutMark(text: string): string {
  return text.replace(/^\ufeff/, "");
}
