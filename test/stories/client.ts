import type { CdnAnswer, CdnRequest } from "../../local/index.ts";
import { visitorFields } from "../simulation/identity.ts";
import type { Dice } from "./dice.ts";
import type { Region } from "./places.ts";

/** A visitor and the language that the visitor asks for. */
export interface Visitor {
  /** A cookie or an `Authorization`; `null` for neither. */
  readonly identity: string | null;
  readonly language: string;
  /** The visitor's fields; the origin recognises the request by its `User-Agent`. */
  readonly fields: Readonly<Record<string, string>>;
}

export function anyVisitor(dice: Dice, number: number): Visitor {
  const identity = dice.pick([...[null, null, null, null, null, null], "cookie:1", "cookie:2", "authorization:1"]);
  const language = dice.pick(["", "de", "en"]);
  const fields = { "user-agent": `visitor ${number}`, ...visitorFields(identity, language) };
  return { identity, language, fields };
}

/** The number of the fetch of these bytes; `null` if they are incomplete, or not a page. */
export function fetchIn({ body, cutOff }: CdnAnswer): number | null {
  const number = cutOff ? undefined : /^fetch +(\d+) whole$/.exec(body)?.[1];
  return number === undefined ? null : Number(number);
}

export type Request = CdnRequest<Region>;
