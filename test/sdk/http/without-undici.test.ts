import { expect, test, vi } from "vitest";
import { openUndici } from "../../../sdk/http/transport-undici.ts";

// What Bun gives for the package undici: its own fetch, and agents that do nothing.
vi.mock("undici", () => ({ Agent: class {}, fetch: globalThis.fetch }));

test("on Bun, whose agents hold no connections and have no close, closing works", async () => {
  await expect(openUndici().close()).resolves.toBeUndefined();
});
