import { chosenBy, type Given, variesBy, weakly } from "./origin-record.ts";

/** A page, the answer that has confirmed it last (itself, if none has), and both together. RFC 9111 §4.3.4, §4.3.5. */
export interface Composed {
  readonly page: Given;
  readonly confirmed: Given;
  /** The fields that a cache held before that, and holds after it, and since when. */
  readonly before: Given;
  readonly stored: Given;
}

/** All that a cache may hold of the page whose last confirmation this is. There may have been others between. */
export function composedOf(page: Given, confirmed: Given, record: readonly Given[]): readonly Composed[] {
  if (page === confirmed) return [{ page, confirmed, before: page, stored: page }];
  const between = record.slice(page.number, confirmed.number - 1).filter((each) => isOfPage(each, page));
  const ways: Given[] = [page, ...between.flatMap((each) => updated(page, each))];
  const all = [
    ...ways,
    ...ways.flatMap((way) => between.flatMap((each) => (each.at >= way.at ? updated(way, each) : []))),
  ];
  return all.flatMap((way) => updated(way, confirmed).map((stored) => ({ page, confirmed, before: way, stored })));
}

function isOfPage({ host, target, method, status }: Given, page: Given): boolean {
  return (
    host === page.host && target === page.target && (status === 304 || (method === "HEAD" && status === page.status))
  );
}

/**
 * What is stored once the answer has confirmed it; nothing if it does not. After a 304 it may be the variant of that
 * request, too, which the origin has selected it for: the `Vary` of the 304 may name what it did not vary by before.
 */
function updated(stored: Given, by: Given): readonly Given[] {
  const isSelected = variesBy(stored).every((name) => chosenBy(stored.asked, name) === chosenBy(by.asked, name));
  if (!isOfPage(by, stored) || by.number <= stored.number || !isSelected) return [];
  const hasHeld = by.status === 304 ? wasHeld(stored, by) : isSame(stored, by);
  if (!hasHeld) return [];
  const { age: _age, date: _date, ...kept } = stored.fields;
  const confirmed = { ...stored, at: by.at, number: by.number, fields: { ...kept, ...by.fields } };
  return by.status === 304 ? [confirmed, { ...confirmed, asked: by.asked }] : [confirmed];
}

/** Whether a 304 is for the stored page, which its request named, and not for another one. */
function wasHeld({ fields }: Given, { asked, fields: of304 }: Given): boolean {
  const tag = asked["if-none-match"];
  const isOther = fields.etag !== undefined && of304.etag !== undefined && weakly(of304.etag) !== weakly(fields.etag);
  if (isOther) return false;
  if (tag !== undefined) return fields.etag !== undefined && weakly(tag) === weakly(fields.etag);
  return fields["last-modified"] !== undefined && asked["if-modified-since"] === fields["last-modified"];
}

/** Whether a HEAD shows the stored page. */
function isSame({ fields, text }: Given, by: Given): boolean {
  if (by.text.length !== text.length && by.fields["content-encoding"] === fields["content-encoding"]) return false;
  const { etag, "last-modified": modified } = by.fields;
  if (etag !== undefined && weakly(etag) !== weakly(fields.etag ?? "")) return false;
  return (modified === undefined || modified === fields["last-modified"]) && (etag ?? modified) !== undefined;
}
