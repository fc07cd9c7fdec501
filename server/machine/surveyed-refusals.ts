import type { Refusal } from "../../worker/metrics/last-refusals.ts";

/** A page of which somebody asks why its last answer was not stored. */
export interface AskedPage {
  readonly site: string;
  readonly url: string;
}

export type RefusedPage = AskedPage & Refusal;

/** What a process knows of those pages. `of`: what it knows of one. */
export function refusalsOf(asked: readonly AskedPage[], of: (page: AskedPage) => Refusal | undefined): RefusedPage[] {
  return asked.flatMap((page) => {
    const refusal = of(page);
    return refusal ? [{ ...page, ...refusal }] : [];
  });
}

/** The last one that any process has told of this page, or that the one which asks knows itself. */
export function newestRefusal(
  { site, url }: AskedPage,
  told: readonly RefusedPage[],
  own: Refusal | undefined,
): Refusal | undefined {
  const ofPage = told.filter((each) => each.site === site && each.url === url);
  return [...(own ? [own] : []), ...ofPage].reduce<Refusal | undefined>(
    (newest, { because, at }) => (newest && newest.at >= at ? newest : { because, at }),
    undefined,
  );
}
