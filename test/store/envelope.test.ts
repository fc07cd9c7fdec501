import { describe, expect, test } from "vitest";
import { variantKey } from "../../worker/rules/key/cache-key.ts";
import {
  changedHead,
  type StoredHead,
  type StoredResponse,
  type VariantMarker,
} from "../../worker/rules/storing/stored-response.ts";
import { headText, readEnvelope, writeEnvelope } from "../../worker/store/envelope.ts";
import { storedHead } from "../rules/storing/stored-head.ts";

const NO_BODY = new Uint8Array(0);
const PLAIN = storedHead({ bodyBytes: 0, sharedWithSessions: false });
const NO_FLAG = { ...PLAIN.reuse, mayServeStale: false };

function textOf(head: StoredHead): string {
  return headText(new Headers(writeEnvelope({ head, body: NO_BODY }).fields))!;
}

function opened(text: string, key = PLAIN.key): StoredHead | undefined {
  return (readEnvelope(key, text) as StoredResponse | undefined)?.head;
}

const heads: readonly { name: string; head: Partial<StoredHead> }[] = [
  { name: "no flag", head: { reuse: NO_FLAG } },
  { name: "only: may answer a request with Authorization", head: { reuse: NO_FLAG, sharedWithAuthorized: true } },
  { name: "only: may answer a request with a session", head: { reuse: NO_FLAG, sharedWithSessions: true } },
  { name: "only: always validated", head: { reuse: { ...NO_FLAG, validateAlways: true } } },
  { name: "only: may be served stale", head: { reuse: { ...NO_FLAG, mayServeStale: true } } },
  { name: "only: immutable", head: { reuse: { ...NO_FLAG, immutable: true } } },
  {
    name: "all flags",
    head: {
      reuse: { ...NO_FLAG, validateAlways: true, mayServeStale: true, immutable: true },
      sharedWithAuthorized: true,
      sharedWithSessions: true,
    },
  },
  {
    name: "a key and a log that contain the separator",
    head: { key: "https://a.test/~b~", stamp: { logId: "~", seq: 1 } },
  },
  { name: "no stamp", head: { stamp: null } },
  { name: "the first number of a log", head: { stamp: { logId: "log", seq: 0 } } },
  { name: "a window of no seconds", head: { reuse: { ...NO_FLAG, staleIfErrorSeconds: 0 } } },
  {
    name: "both windows, and no whole numbers of milliseconds",
    head: {
      reuse: { ...NO_FLAG, staleWhileRevalidateSeconds: 30, staleIfErrorSeconds: 60 },
      initialAgeMs: 0.5,
      freshnessSeconds: 1.5,
    },
  },
  {
    name: "a variant, a status, times, and fields of both kinds with all marks",
    head: {
      variant: [
        ["accept-language", "de~"],
        ["x-a", null],
      ],
      status: 404,
      fetchedAt: 1,
      receivedAt: 2,
      fields: ["x-a", '~"][,\\~ ü漢', "x-empty", "", "set-cookie", "a", "set-cookie", "b"],
      hiddenFields: ["surrogate-control", "~"],
      givenPurgeKeys: ["#~,ä"],
    },
  },
];

describe("the envelope", () => {
  test.each(heads)("keeps a head unchanged: $name", ({ head }) => {
    const given = storedHead({ bodyBytes: 0, ...head });
    expect(changedHead(opened(textOf(given), given.key)!, {})).toEqual(given);
  });

  test("keeps a variant marker unchanged, with any characters", () => {
    const key = "https://a.test/~b~";
    const fields = [["accept-language", "~ü"]] as const;
    const marker: VariantMarker = {
      head: { key, stamp: { logId: "~", seq: 1 }, fetchedAt: 1 },
      variants: [{ key: variantKey(key, fields), fields, encoding: "br", fetchedAt: 1, freshUntil: 0, variesBy: [] }],
    };
    const text = headText(new Headers(writeEnvelope(marker).fields));
    expect(readEnvelope(key, text)).toEqual(marker);
    expect(readEnvelope("https://a.test/b", text)).toBeUndefined();
    expect(readEnvelope(key, text!.replace(/^5/, "4"))).toBeUndefined();
  });

  const text = textOf(PLAIN);

  test("reads what the version before it wrote, but for markers", () => {
    expect(changedHead(opened(text.replace(/^5/, "4"))!, {})).toEqual(PLAIN);
  });

  const damaged: readonly [name: string, text: string | null][] = [
    ["no text", null],
    ["an empty text", ""],
    ["an earlier version", text.replace(/^5/, "3")],
    ["a version that begins like this one", text.replace(/^5/, "55")],
    ["the JSON of version 2", JSON.stringify({ version: 2, response: PLAIN })],
  ];
  test.each(damaged)("is a miss: %s", (_, damagedText) => {
    expect(changedHead(opened(text)!, {})).toEqual(PLAIN);
    expect(readEnvelope(PLAIN.key, damagedText)).toBeUndefined();
  });

  test.each([["https://www.example.test/b"], [`${PLAIN.key}~`]])(
    "treats an entry of another key as a miss: %s",
    (key) => {
      expect(readEnvelope(key, text)).toBeUndefined();
    },
  );

  test("is plain ASCII on one line, with any characters in it", () => {
    expect(textOf(storedHead({ fields: ["x-a", "ü漢\u007f\n~"] }))).toMatch(/^[\x20-\x7e]*$/);
  });
});
