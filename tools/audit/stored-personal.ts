import { effectiveCacheControl, varyFields } from "#tidemark/internal";
import { type Exchange, fieldOf, groupsOf, type PathRecord } from "./exchange.ts";
import { isFromStore } from "./from-store.ts";
import { credentialsOf, type Identity } from "./identity.ts";
import { applyInputs } from "./input.ts";
import { cookiesSet } from "./marks.ts";

/** Why an answer says that it is for only one visitor. */
export type PersonalBecause = "private" | "no-store" | "set-cookie" | "vary: cookie" | "authorization";

/** An answer from a cache that must not store it. */
export interface StoredPersonal {
  readonly answer: Exchange;
  readonly because: PersonalBecause;
}

/** The stored answers whose own fields say that they are for one visitor. */
export function storedPersonal(record: PathRecord, identities: readonly Identity[]): readonly StoredPersonal[] {
  const sent = ({ who, inputs }: Exchange) => applyInputs("/", credentialsOf(who, identities), inputs).fields;
  const ofEverybody = cookiesOfEverybody(record);
  return groupsOf(record).flatMap((group) => {
    const [first, ...later] = group;
    return later.flatMap((answer, index) => {
      if (!isFromStore(record, answer, first!)) return [];
      const before = group.slice(0, index + 1);
      return [
        ...saidByDirectives(answer),
        ...saidBySetCookie(answer, before, ofEverybody),
        ...saidByVary(
          answer,
          before.some((each) => sent(each).cookie === sent(answer).cookie),
        ),
        ...saidByAuthorization(answer, sent(first!).authorization !== undefined),
      ].map((because) => ({ answer, because }));
    });
  });
}

/** RFC 9111 §5.2.2.5, §5.2.2.7. A field for CDNs overrides the one for browsers (RFC 9213). */
function saidByDirectives(answer: Exchange): readonly PersonalBecause[] {
  const { cacheControl } = effectiveCacheControl((name) => fieldOf(answer, name), []);
  if (cacheControl.noStore && !cacheControl.mustUnderstand) return ["no-store"];
  return cacheControl.private === "whole" ? ["private"] : [];
}

/** RFC 9111 §7.3. A cookie that is new in this answer comes from the edge. */
function saidBySetCookie(
  answer: Exchange,
  before: readonly Exchange[],
  ofEverybody: readonly string[],
): readonly PersonalBecause[] {
  const stored = new Set(before.flatMap(cookiesSet));
  const isStored = cookiesSet(answer).some((pair) => stored.has(pair) && !ofEverybody.includes(pair));
  return isStored ? ["set-cookie"] : [];
}

/** The cookies that each answer past the cache sets, whoever asks: the edge adds them, or they tell nobody apart. */
function cookiesOfEverybody(record: PathRecord): readonly string[] {
  const [some = [], ...others] = groupsOf(record).map(([first]) => cookiesSet(first!));
  return some.filter((pair) => others.every((each) => each.includes(pair)));
}

/** RFC 9111 §4.1: an answer that varies by cookie was selected for a request with other cookies. */
function saidByVary(answer: Exchange, hadSameCookies: boolean): readonly PersonalBecause[] {
  const vary = varyFields(fieldOf(answer, "vary"));
  const isByCookie = vary === "*" || vary.includes("cookie");
  return isByCookie && !hadSameCookies ? ["vary: cookie"] : [];
}

/** RFC 9111 §3.5. */
function saidByAuthorization(answer: Exchange, wasAuthorized: boolean): readonly PersonalBecause[] {
  const { cacheControl } = effectiveCacheControl((name) => fieldOf(answer, name), []);
  const isForAll = cacheControl.public || cacheControl.mustRevalidate || cacheControl.sMaxage !== "absent";
  return wasAuthorized && !isForAll ? ["authorization"] : [];
}
