import type { fetch as undiciFetch } from "undici";
import { expectTypeOf, test } from "vitest";
import type {
  BatchOutcome,
  BatchReceipt,
  createPurger,
  Fetch,
  Planned,
  PurgeBatch,
  PurgeCollector,
  PurgeErrorCode,
  PurgeInput,
  PurgeOptions,
  PurgeRecord,
  PurgeRecordPage,
  PurgeRequest,
  Purger,
  Receipt,
  ReceiptBody,
  Refreshed,
  RejectedItem,
} from "../../sdk/index.ts";
import type { createPurger as createWebPurger } from "../../sdk/index.web.ts";
import type { RecordingPurger } from "../../sdk/testing.ts";
import type { Problem, ProblemCode } from "../../wire/problem.ts";
import type { PurgeReceiptBody } from "../../wire/purge-receipt.ts";
import type { PurgeRecordBody, PurgeRecordPageBody } from "../../wire/purge-record.ts";
import type { PurgeRequestBody } from "../../wire/purge-request.ts";

// The type checker, which reads the tests too, is what fails here. At run time these tests do nothing.

/** The SDK takes readonly lists, because it does not change them; the wire's lists are not readonly. */
type WritableLists<T> = {
  [K in keyof T]: T[K] extends readonly (infer Item)[] | undefined ? Item[] | undefined : T[K];
};

test("A request has the type of the wire's body", () => {
  expectTypeOf<WritableLists<PurgeRequest>>().toExtend<PurgeRequestBody>();
  expectTypeOf<keyof PurgeRequest>().toEqualTypeOf<keyof PurgeRequestBody>();
});

test("A request as it may be written has the fields of a request, and takes one", () => {
  expectTypeOf<keyof PurgeInput>().toEqualTypeOf<keyof PurgeRequest>();
  expectTypeOf<PurgeRequest>().toExtend<PurgeInput>();
});

test("A request that names nothing is an error of types", () => {
  expectTypeOf<{ reason: string }>().not.toExtend<PurgeInput>();
  expectTypeOf<Record<never, never>>().not.toExtend<PurgeInput>();
  expectTypeOf<{ tags: ReadonlySet<string>; reason: string }>().toExtend<PurgeInput>();
  expectTypeOf<{ everything: true }>().toExtend<PurgeInput>();
});

test("The audit trail has the type of the wire's", () => {
  expectTypeOf<PurgeRecord>().toEqualTypeOf<PurgeRecordBody>();
  expectTypeOf<PurgeRecordPage>().toEqualTypeOf<PurgeRecordPageBody>();
});

test("A receipt has the type of the wire's receipt, and settled()", () => {
  expectTypeOf<ReceiptBody>().branded.toEqualTypeOf<PurgeReceiptBody>();
  expectTypeOf<Refreshed>().toEqualTypeOf<NonNullable<PurgeReceiptBody["refreshed"]>[number]>();
  expectTypeOf<Receipt>().toExtend<PurgeReceiptBody>();
  expectTypeOf<Receipt["settled"]>().returns.toEqualTypeOf<Promise<void>>();
});

test("The error codes are those of the wire and seven of the SDK", () => {
  expectTypeOf<PurgeErrorCode>().toEqualTypeOf<
    | ProblemCode
    | "not-configured"
    | "closed"
    | "unreachable"
    | "incomplete-answer"
    | "unexpected-answer"
    | "server-error"
    | "timeout"
  >();
  expectTypeOf<RejectedItem>().toEqualTypeOf<NonNullable<Problem["errors"]>[number]>();
});

test("Options have the details of a request, a signal, a deadline and a trace", () => {
  expectTypeOf<Omit<PurgeOptions, "signal" | "deadlineMs" | "traceparent">>().toEqualTypeOf<
    Pick<PurgeRequest, "mode" | "dryRun" | "id" | "reason" | "refresh" | "repeatAfterMs">
  >();
});

test("Items come one by one, in lists or in sets, with the options last", () => {
  expectTypeOf<Purger["purgeTags"]>().toBeCallableWith("a", "b");
  expectTypeOf<Purger["purgeTags"]>().toBeCallableWith("a", "b", { id: "x", deadlineMs: 5 });
  expectTypeOf<Purger["purgeTags"]>().toBeCallableWith(...["a", "b"]);
  expectTypeOf<Purger["purgeTags"]>().toBeCallableWith(["a"]);
  expectTypeOf<Purger["purgeTags"]>().toBeCallableWith(new Set(["a"]), "b", { reason: "x" });
  expectTypeOf<Purger["purgeUrls"]>().toBeCallableWith([new URL("https://www.example.com/"), "/a"]);
  expectTypeOf<Purger["purge"]>().toBeCallableWith({ urls: new Set([new URL("https://www.example.com/")]) });
  // @ts-expect-error A text is not a list of tags.
  expectTypeOf<Purger["purge"]>().toBeCallableWith({ tags: "a" });
  // @ts-expect-error A tag is not a URL.
  expectTypeOf<Purger["purgeTags"]>().toBeCallableWith(new URL("https://www.example.com/"));
  // @ts-expect-error Options come last.
  expectTypeOf<Purger["purgeTags"]>().toBeCallableWith({ id: "x" }, "a");
});

test("The methods of a batch can be chained, and its commit may resolve to null", () => {
  expectTypeOf<PurgeBatch["tags"]>().returns.toExtend<PurgeBatch>();
  expectTypeOf<PurgeBatch["commit"]>().returns.toEqualTypeOf<Promise<BatchReceipt | null>>();
  expectTypeOf<BatchReceipt>().toExtend<Receipt>();
  expectTypeOf<Planned>().toEqualTypeOf<NonNullable<PurgeReceiptBody["planned"]>[number]>();
});

test("A batch around a piece of work resolves to the value of the work and the receipt, and the work cannot commit it", () => {
  const around = (cdn: Purger) => cdn.batch(async (batch) => batch.tags("a") && 7, { reason: "x" });
  expectTypeOf(around).returns.toEqualTypeOf<Promise<BatchOutcome<number>>>();
  expectTypeOf<BatchOutcome<number>["receipt"]>().toEqualTypeOf<BatchReceipt | null>();
  expectTypeOf<PurgeCollector>().not.toHaveProperty("commit");
});

test("Both entries make the same type of purger, and the recording purger is one, too", () => {
  expectTypeOf<typeof createWebPurger>().toEqualTypeOf<typeof createPurger>();
  expectTypeOf<RecordingPurger>().toExtend<Purger>();
});

test("The platform's fetch and undici's fit the option fetch", () => {
  expectTypeOf<typeof globalThis.fetch>().toExtend<Fetch>();
  expectTypeOf<typeof undiciFetch>().toExtend<Fetch>();
});
