/** What stands between two commas outside quotes. A quote that is not closed ends with the text. */
const MEMBER = /(?:"(?:[^"\\]|\\.)*"?|[^,"])+/;
const MEMBERS = new RegExp(MEMBER, "g");
const FIRST = new RegExp(`^${MEMBER.source}`);

/** The members of a list with the white space around them, without empty ones. RFC 9110 §5.6.1. */
export function membersOf(text: string): readonly string[] {
  return text.match(MEMBERS) ?? [];
}

/** What is before the first comma: the first line of a field whose lines were joined. RFC 9110 §5.3. */
export function firstMember(text: string): string {
  return FIRST.exec(text)?.[0] ?? "";
}
