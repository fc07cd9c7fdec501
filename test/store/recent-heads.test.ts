import { describe, expect, test } from "vitest";
import type { StoredHead } from "../../worker/rules/storing/stored-response.ts";
import { headText, writeEnvelope } from "../../worker/store/envelope.ts";
import { RecentHeads } from "../../worker/store/recent-heads.ts";
import { storedHead } from "../rules/storing/stored-head.ts";

function textOf(head: StoredHead): string {
  return headText(new Headers(writeEnvelope({ head, body: new Uint8Array(0) }).fields))!;
}

describe("the heads that were read last", () => {
  const first = storedHead({ status: 200 });
  const changed = storedHead({ status: 404 });

  test("are parsed once for the same text under the same key", () => {
    const heads = new RecentHeads();
    const read = heads.read(first.key, textOf(first));
    expect(read!.head).toMatchObject({ key: first.key, status: 200 });
    expect(heads.read(first.key, textOf(first))).toBe(read);
  });

  test("are read again once the text has changed, and never under another key", () => {
    const heads = new RecentHeads();
    heads.read(first.key, textOf(first));
    expect(heads.read(first.key, textOf(changed))!.head).toMatchObject({ status: 404 });
    expect(heads.read(first.key, textOf(first))!.head).toMatchObject({ status: 200 });
    expect(heads.read(`${first.key}/other`, textOf(first))).toBeUndefined();
    expect(heads.read(first.key, null)).toBeUndefined();
  });

  test("are forgotten, the oldest first, beyond 512", () => {
    const heads = new RecentHeads();
    const read = heads.read(first.key, textOf(first));
    for (let page = 0; page < 512; page++) {
      const head = storedHead({ key: `${first.key}/${page}` });
      heads.read(head.key, textOf(head));
    }
    expect(heads.read(first.key, textOf(first))).not.toBe(read);
  });

  test("are forgotten, the oldest first, beyond two million characters, and each counts once", () => {
    const heads = new RecentHeads();
    const long = (page: string, etag: string) =>
      storedHead({ key: `${first.key}/${page}`, hiddenFields: ["etag", etag.repeat(30_000)] });
    const readLong = (page: string, etag = "a") => heads.read(`${first.key}/${page}`, textOf(long(page, etag)));
    for (let change = 0; change < 100; change++) readLong("changing", change % 2 === 0 ? "a" : "b");
    const changing = readLong("changing", "b");
    const read = readLong("first");
    for (let page = 0; page < 60; page++) readLong(`${page}`);
    expect(readLong("changing", "b")).toBe(changing);
    expect(readLong("first")).toBe(read);
    for (let page = 60; page < 70; page++) readLong(`${page}`);
    expect(readLong("first")).not.toBe(read);
  });
});
