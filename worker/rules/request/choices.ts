import { cookiesIn } from "../identity/cookies.ts";
import { negotiatedLanguage } from "./negotiated-language.ts";

/** What a route keys by besides the URL, each with a bounded set of values. The origin gets only the chosen value. */
export interface ChoiceRules {
  /** By the name of a cookie, its values. Every other value counts as none. */
  readonly cookies: readonly (readonly [name: string, values: readonly string[]])[];
  /**
   * Languages; the first is for everybody who accepts none of them. The list is empty if the route has no such choice.
   */
  readonly languages: readonly string[];
  readonly country: boolean;
  readonly device: boolean;
}

/** The fields that send the origin a choice for which HTTP has no field. */
const COUNTRY_FIELD = "x-country";
const DEVICE_FIELD = "x-device";

/** Fields that are reduced to the class of the device. https://wicg.github.io/ua-client-hints/ */
const CLIENT_HINTS = [
  "sec-ch-ua",
  "sec-ch-ua-arch",
  "sec-ch-ua-bitness",
  "sec-ch-ua-form-factors",
  "sec-ch-ua-full-version",
  "sec-ch-ua-full-version-list",
  "sec-ch-ua-mobile",
  "sec-ch-ua-model",
  "sec-ch-ua-platform",
  "sec-ch-ua-platform-version",
  "sec-ch-ua-wow64",
];

/** The value for an unknown country. ISO 3166-1 leaves this code to its users. */
const NO_COUNTRY = "XX";

/** Under which names the choices select among stored responses: fields, and `cookie:` with a cookie's name. */
export function choiceNames({ cookies, languages, country, device }: ChoiceRules): string[] {
  return [
    ...cookies.map(([name]) => `cookie:${name}`),
    ...(languages.length > 0 ? ["accept-language"] : []),
    ...(country ? [COUNTRY_FIELD] : []),
    ...(device ? [DEVICE_FIELD] : []),
  ];
}

/** The choices of one request. */
export interface Choices {
  /** By field, in lower case, what the origin gets in place of what the client sent; `null` for nothing. */
  readonly fields: ReadonlyMap<string, string | null>;
  /** The `Cookie` field for the origin; `null` for none; `undefined` if the route chooses by no cookie. */
  readonly cookie: string | null | undefined;
  /** The values that select among stored responses, by choice (named as in `choiceNames`) and by field. */
  readonly selecting: ReadonlyMap<string, string | null>;
}

/** On routes without choices, which most are. */
const NOTHING_CHOSEN: Choices = { fields: new Map(), cookie: undefined, selecting: new Map() };

/** Reads the choices of a request. `country`: the client's country; `null` if unknown. */
export function readChoices(
  field: (name: string) => string | null,
  country: string | null,
  rules: ChoiceRules,
): Choices {
  const { cookies, languages } = rules;
  if (cookies.length === 0 && languages.length === 0 && !rules.country && !rules.device) return NOTHING_CHOSEN;
  const fields = new Map<string, string | null>();
  if (languages.length > 0) {
    fields.set("accept-language", negotiatedLanguage(field("accept-language"), languages));
  }
  if (rules.country)
    fields.set(COUNTRY_FIELD, country !== null && /^[A-Z][A-Z0-9]$/.test(country) ? country : NO_COUNTRY);
  if (rules.device) {
    const device = deviceClass(field("sec-ch-ua-mobile"), field("user-agent"));
    for (const hint of CLIENT_HINTS) fields.set(hint, null);
    fields.set("sec-ch-ua-mobile", device === "mobile" ? "?1" : "?0");
    fields.set(
      "user-agent",
      device === "mobile" ? "Mozilla/5.0 (compatible; Tidemark) Mobile" : "Mozilla/5.0 (compatible; Tidemark)",
    );
    fields.set(DEVICE_FIELD, device);
  }
  const selecting = new Map(fields);
  if (cookies.length === 0) return { fields, cookie: undefined, selecting };
  const sent = cookiesIn(field("cookie"));
  const pairs: string[] = [];
  for (const [name, values] of cookies) {
    const value = sent.find(([other]) => other === name)?.[1];
    const chosen = value !== undefined && values.includes(value) ? value : null;
    selecting.set(`cookie:${name}`, chosen);
    if (chosen !== null) pairs.push(`${name}=${chosen}`);
  }
  selecting.set("cookie", null); // the chosen values are in the key, and the origin gets no other cookies
  return { fields, cookie: pairs.length > 0 ? pairs.join("; ") : null, selecting };
}

/** The fields for the origin of a request whose answer is not stored, in addition to the client's own. */
export function toldChoices({ fields }: Choices): ReadonlyMap<string, string | null> {
  return new Map([...fields].filter(([name]) => name === COUNTRY_FIELD || name === DEVICE_FIELD));
}

/**
 * Whether a page for small screens is wanted: `Sec-CH-UA-Mobile` decides; without it, the word `Mobi` in `User-Agent`,
 * as browsers of phones have it, unless it is a tablet's.
 */
export function deviceClass(hint: string | null, userAgent: string | null): "mobile" | "desktop" {
  if (hint?.trim() === "?1") return "mobile";
  if (hint?.trim() === "?0" || userAgent === null) return "desktop";
  return /Mobi/.test(userAgent) && !/iPad|Tablet/.test(userAgent) ? "mobile" : "desktop";
}
