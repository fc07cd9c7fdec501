import { type Exchange, freshAnswers, groupsOf, type PathRecord, partyOf } from "./exchange.ts";
import { bytes, type Channel, canaries, entityTag, fields, formToken, type Mark, setCookie, words } from "./marks.ts";

/** An answer that one party got although it was made for another. */
export interface PassedOn {
  readonly maker: Exchange;
  readonly receiver: Exchange;
  readonly marks: readonly Mark[];
}

/** By visitor: texts that only that visitor's answers may contain. */
export type Canaries = Readonly<Record<string, readonly string[]>>;

/** The marks that show that an answer was made for another visitor. */
const BETWEEN_VISITORS: readonly Channel[] = [words, bytes, entityTag, setCookie, fields, formToken];

/**
 * The marks that show that an answer was made for another input. Cookies and tokens do not: they are new in each answer
 * to a stranger.
 */
const BETWEEN_INPUTS: readonly Channel[] = [words, bytes, entityTag, fields];

/** The answers of one visitor that another got, for the same URL with the same inputs. */
export function passedBetweenVisitors(record: PathRecord, given: Canaries): readonly PassedOn[] {
  return passedOn(
    record,
    (maker, receiver) => maker.who !== receiver.who,
    (maker) => [canaries(given[maker.who] ?? []), ...BETWEEN_VISITORS],
  );
}

/** The answers to one input that the same visitor got for another, for the same URL or for two that should differ. */
export function passedBetweenInputs(record: PathRecord): readonly PassedOn[] {
  return passedOn(
    record,
    (maker, receiver) => maker.who === receiver.who,
    () => BETWEEN_INPUTS,
  );
}

function passedOn(
  record: PathRecord,
  isPair: (maker: Exchange, receiver: Exchange) => boolean,
  channelsFor: (maker: Exchange) => readonly Channel[],
): readonly PassedOn[] {
  const found: PassedOn[] = [];
  for (const group of groupsOf(record)) {
    for (const [index, answer] of group.entries()) {
      const party = partyOf(answer);
      const earlier = group.slice(0, index).filter((each) => partyOf(each) !== party && isPair(each, answer));
      const candidates = earlier
        .map((maker) => ({ maker, receiver: answer, marks: marksOf(record, maker, answer, channelsFor(maker)) }))
        .filter(({ marks }) => marks.length > 0);
      // If several visitors may be the source: the one who got the same bytes, or who left the most marks.
      const [best] = candidates.toSorted(
        (one, other) =>
          Number(other.maker.digest === answer.digest) - Number(one.maker.digest === answer.digest) ||
          other.marks.length - one.marks.length,
      );
      if (best) found.push(best);
    }
  }
  return found;
}

function marksOf(
  record: PathRecord,
  earlier: Exchange,
  answer: Exchange,
  channels: readonly Channel[],
): readonly Mark[] {
  const ofOther = freshAnswers(record, partyOf(earlier));
  const own = freshAnswers(record, partyOf(answer));
  return channels.flatMap((channel) => channel({ answer, earlier, ofOther, own }));
}
