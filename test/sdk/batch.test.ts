import { expect, test } from "vitest";
import { createRecordingPurger } from "../../sdk/testing.ts";
import { accepts, startFakeEdge } from "./fake-edge.ts";
import { purgerUnderTest } from "./purger-under-test.ts";

test("A batch sends all of its items as one purge, each item once", async () => {
  await using edge = await startFakeEdge(accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });
  await using batch = cdn.batch();

  batch.tags("song:1", "songs").urls("/songs").tags("songs", "song:2").prefixes("/shop").hosts("m.example.com");
  expect(edge.requests).toEqual([]);
  const receipt = await batch.commit({ reason: "import", mode: "soft" });

  expect(receipt?.seq).toBe(7);
  expect(edge.requests.map(({ body }) => body)).toEqual([
    {
      id: expect.any(String),
      urls: ["/songs"],
      tags: ["song:1", "songs", "song:2"],
      prefixes: ["/shop"],
      hosts: ["m.example.com"],
      reason: "import",
      mode: "soft",
    },
  ]);
});

test("A batch sends nothing if an error skips its commit", async () => {
  const cdn = createRecordingPurger();
  const failing = async () => {
    await using batch = cdn.batch();
    batch.tags("song:1");
    throw new Error("rolled back");
  };

  await expect(failing()).rejects.toThrow("rolled back");
  expect(cdn.calls).toEqual([]);
});

test("A batch without items sends nothing", async () => {
  const cdn = createRecordingPurger();
  const batch = cdn.batch();
  batch.tags();

  await expect(batch.commit()).resolves.toBeNull();
  expect(cdn.calls).toEqual([]);
});

test("A batch with everything leaves out its other items", async () => {
  const cdn = createRecordingPurger();

  await cdn.batch().tags("a").everything().urls("/b").commit();

  expect(cdn.calls).toEqual([{ everything: true }]);
});

test("Adding an item that cannot be right is a TypeError, and so is using a batch that is over", async () => {
  const batch = createRecordingPurger().batch();

  expect(() => batch.tags("a b")).toThrow(/^batch\.tags: tags\[0\]: a tag must be printable ASCII/);
  expect(() => batch.urls("about")).toThrow(/^batch\.urls: urls\[0\]: must be a path/);
  await batch.tags("a").commit();
  expect(() => batch.tags("b")).toThrow(/^batch\.tags: this batch is over/);
  expect(() => batch.everything()).toThrow(/^batch\.everything: this batch is over/);
  await expect(batch.commit()).rejects.toThrow(/^batch\.commit: this batch is over; begin another one$/);
});

test("A batch whose commit fails rejects with that error and is over", async () => {
  const cdn = createRecordingPurger();
  const error = new Error("the edge is away");
  cdn.failNext(error);
  const batch = cdn.batch().tags("a");

  await expect(batch.commit()).rejects.toBe(error);
  await expect(batch.commit()).rejects.toThrow(/^batch\.commit: this batch is over/);
});
