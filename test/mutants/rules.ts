/** The rule of docs/protocol.md that a heading of that page names: `docs/protocol.md#r5-followers`. */
const HEADING_OF_A_RULE = /^docs\/protocol\.md(?:#r(\d+)\b.*|, R(\d+))$/;

/**
 * The rules that the source of a scenario names: `RFC 9111 §4.2.4, §5.2.2; docs/protocol.md#r5-followers` names
 * `RFC 9111 §4.2.4`, `RFC 9111 §5.2.2` and `R5`.
 */
export function rulesIn(source: string): readonly string[] {
  return source.split("; ").flatMap((part) => {
    const [, heading, named] = HEADING_OF_A_RULE.exec(part) ?? [];
    if (heading ?? named) return [`R${heading ?? named}`];
    const [page, ...sections] = part.split(/,? (?=§)/);
    return sections.length === 0 ? [part] : sections.map((section) => `${page} ${section}`);
  });
}
