/** What `dying-writer.ts` writes, so that a reader can tell a whole text from a torn one. */

export function entryKey(number: number): string {
  return `https://www.example.test/crash/${number}`;
}

export function pageText(round: string): string {
  return `page of round ${round}; `.repeat(2000);
}

export function bodyText(round: string): string {
  return `body of round ${round}; `.repeat(40_000);
}
