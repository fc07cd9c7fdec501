import type { SharedTier } from "../../worker/store/tiered-store.ts";

/** No disk tier: what memory does not hold is fetched. */
export const memoryAlone: SharedTier = {
  get: () => undefined,
  put: async () => undefined,
  delete: async () => undefined,
  getBody: async () => undefined,
  putBody: async (_key, body) => {
    await body.cancel();
    throw new Error("there is no disk tier: name a folder with --cache");
  },
};
