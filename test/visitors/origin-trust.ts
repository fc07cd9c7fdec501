import { type Case, isFirst, ONE_BROWSER, OTHER_BROWSER, page } from "./case.ts";

const LIMITS = "worker/rules/fields/field-limits.ts";
const FILL = "worker/flow/storing/fill.ts";
const VISITORS = {
  first: { path: "/a", fields: ONE_BROWSER },
  second: { path: "/a", fields: OTHER_BROWSER },
};

/** A single mistake of the origin is not kept. */
export const originTrust: readonly Case[] = [
  {
    name: "an answer with too many fields is an error, and is not stored",
    origin: (request) =>
      page("v1", isFirst(request) ? Object.fromEntries([...Array(300).keys()].map((n) => [`x-${n}`, "1"])) : {}),
    ...VISITORS,
    defence: { file: LIMITS, from: "if (++count > maxFields)", to: "if (false)" },
  },
  {
    name: "an answer with too large fields is an error, and is not stored",
    origin: (request) => page("v1", isFirst(request) ? { "x-large": "x".repeat(66_000) } : {}),
    ...VISITORS,
    defence: { file: LIMITS, from: "if (bytes > maxBytes)", to: "if (false)" },
  },
  {
    name: "an answer with a control character in a field is an error, and is not stored",
    origin: (request) => page("v1", isFirst(request) ? { "x-odd": "a\u0001b" } : {}),
    ...VISITORS,
    defence: { file: LIMITS, from: "if (CONTROL_CHARACTER.test(value))", to: "if (false)" },
  },
  {
    name: "a body that is cut off is not stored",
    origin: (request) => ({ ...page("0123456789"), ...(isFirst(request) && { cutAfterBytes: 4 }) }),
    ...VISITORS,
    defence: {
      file: FILL,
      from: 'tell({ kind: "cut-off" });',
      to: 'tell({ kind: "whole", bytes: joined(chunks, readBytes) });',
    },
  },
  {
    name: "chunks that end too early are not stored",
    origin: (request) => ({
      ...page("0123456789", { "transfer-encoding": "chunked" }),
      framing: "chunked",
      ...(isFirst(request) && { cutAfterBytes: 4 }),
    }),
    ...VISITORS,
    defence: {
      file: FILL,
      from: 'tell({ kind: "cut-off" });',
      to: 'tell({ kind: "whole", bytes: joined(chunks, readBytes) });',
    },
  },
  {
    name: "a body larger than may be stored is not",
    site: { limits: { storeBytes: 5, largeBytes: 5 } },
    origin: (request) => ({ ...page(isFirst(request) ? "0123456789" : "01234"), framing: "chunked" }),
    ...VISITORS,
    defence: { file: FILL, from: "readBytes > maxBytes", to: "false" },
  },
  {
    name: "a body with no end to be seen is not stored",
    origin: (request) => ({
      ...page(isFirst(request) ? "01234" : "0123456789"),
      framing: isFirst(request) ? "close" : "length",
    }),
    ...VISITORS,
    defence: {
      file: "worker/rules/storing/storable.ts",
      from: 'if (!isFramed(status, field)) return "unframed-body";',
      to: "",
    },
  },
  {
    name: "an answer with more tags than can be kept is not stored",
    site: { limits: { tags: 3 } },
    origin: (request) => page(isFirst(request) ? "tagged" : "v1", isFirst(request) ? { "cache-tag": "a b c d" } : {}),
    ...VISITORS,
    defence: {
      file: "worker/rules/storing/tags.ts",
      from: "if (new Set([...tags, ...earlierTags]).size > maxTags)",
      to: "if (false)",
    },
  },
];
