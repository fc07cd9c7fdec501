import type { fetch as undiciFetch } from "undici";
import { expectTypeOf, test } from "vitest";
import type {
  createPurger,
  Fetch,
  Planned,
  PurgeBatch,
  PurgeErrorCode,
  PurgeOptions,
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
import type { PurgeRequestBody } from "../../wire/purge-request.ts";

// These are judged by the type checker, which reads the tests too; run, they only show that they exist.

/** The SDK promises not to change the lists that it is given; the wire says nothing of that. */
type WritableLists<T> = {
  [K in keyof T]: T[K] extends readonly (infer Item)[] | undefined ? Item[] | undefined : T[K];
};

test("A request is what the wire takes", () => {
  expectTypeOf<WritableLists<PurgeRequest>>().branded.toEqualTypeOf<PurgeRequestBody>();
});

test("A receipt is what the wire brings, and can be waited for", () => {
  expectTypeOf<ReceiptBody>().branded.toEqualTypeOf<PurgeReceiptBody>();
  expectTypeOf<Refreshed>().toEqualTypeOf<NonNullable<PurgeReceiptBody["refreshed"]>[number]>();
  expectTypeOf<Receipt>().toExtend<PurgeReceiptBody>();
  expectTypeOf<Receipt["settled"]>().returns.toEqualTypeOf<Promise<void>>();
});

test("The codes are those of the wire and seven of our own", () => {
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

test("Options say of a purge what a request can say of itself, beside how long to try", () => {
  expectTypeOf<Omit<PurgeOptions, "signal" | "deadlineMs">>().toEqualTypeOf<
    Pick<PurgeRequest, "mode" | "dryRun" | "id" | "reason" | "refresh" | "repeatAfterMs">
  >();
});

test("Items come one by one, with the options last", () => {
  expectTypeOf<Purger["purgeTags"]>().toBeCallableWith("a", "b");
  expectTypeOf<Purger["purgeTags"]>().toBeCallableWith("a", "b", { id: "x", deadlineMs: 5 });
  expectTypeOf<Purger["purgeTags"]>().toBeCallableWith(...["a", "b"]);
  // @ts-expect-error Tags are no list here.
  expectTypeOf<Purger["purgeTags"]>().toBeCallableWith(["a"]);
  // @ts-expect-error Options come last.
  expectTypeOf<Purger["purgeTags"]>().toBeCallableWith({ id: "x" }, "a");
});

test("A batch goes on, and its commit may have nothing to say", () => {
  expectTypeOf<PurgeBatch["tags"]>().returns.toExtend<PurgeBatch>();
  expectTypeOf<PurgeBatch["commit"]>().returns.toEqualTypeOf<Promise<Receipt | null>>();
  expectTypeOf<Planned>().toEqualTypeOf<NonNullable<PurgeReceiptBody["planned"]>[number]>();
});

test("Both entries make the same purger, and the recording one can stand in for it", () => {
  expectTypeOf<typeof createWebPurger>().toEqualTypeOf<typeof createPurger>();
  expectTypeOf<RecordingPurger>().toExtend<Purger>();
});

test("The platform's fetch and undici's can be given", () => {
  expectTypeOf<typeof globalThis.fetch>().toExtend<Fetch>();
  expectTypeOf<typeof undiciFetch>().toExtend<Fetch>();
});
