import type { Case } from "./case.ts";
import { dynamicPages } from "./dynamic-pages.ts";
import { identity } from "./identity.ts";
import { oneVisitorsError } from "./one-visitors-error.ts";
import { originTrust } from "./origin-trust.ts";
import { skipping } from "./raw/skipping.ts";
import { unkeyedInput } from "./unkeyed-input.ts";

/** Every case, by the bullet of docs/security.md that it belongs to. */
export const areas: Readonly<Record<string, readonly Case[]>> = {
  "unkeyed input": unkeyedInput,
  "dynamic pages": dynamicPages,
  identity,
  "one visitor's error": oneVisitorsError,
  "requests past the cache": skipping,
  "what the origin does": originTrust,
};

export const cases: readonly Case[] = Object.values(areas).flat();
