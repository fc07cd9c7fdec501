import { type Case, isFirst, ONE_BROWSER, OTHER_BROWSER, page } from "./case.ts";

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
    defence: { in: "reasonToRefuseFields", replace: "if (++count > maxFields)", by: "if (false)" },
  },
  {
    name: "an answer with too large fields is an error, and is not stored",
    origin: (request) => page("v1", isFirst(request) ? { "x-large": "x".repeat(66_000) } : {}),
    ...VISITORS,
    defence: { in: "reasonToRefuseFields", replace: "if (bytes > maxBytes)", by: "if (false)" },
  },
  {
    name: "an answer with a control character in a field is an error, and is not stored",
    origin: (request) => page("v1", isFirst(request) ? { "x-odd": "a\u0001b" } : {}),
    ...VISITORS,
    defence: { in: "reasonToRefuseFields", replace: "if (CONTROL_CHARACTER.test(value))", by: "if (false)" },
  },
  {
    name: "a body that is cut off is not stored",
    origin: (request) => ({ ...page("0123456789"), ...(isFirst(request) && { cutAfterBytes: 4 }) }),
    ...VISITORS,
    defence: {
      in: "pump",
      replace: 'drop("cut-off");',
      by: 'tell({ kind: "whole", bytes: joined(chunks, readBytes) });',
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
      in: "pump",
      replace: 'drop("cut-off");',
      by: 'tell({ kind: "whole", bytes: joined(chunks, readBytes) });',
    },
  },
  {
    name: "a body over the limit is not stored",
    site: { limits: { storeBytes: 5, largeBytes: 5 } },
    origin: (request) => ({ ...page(isFirst(request) ? "0123456789" : "01234"), framing: "chunked" }),
    ...VISITORS,
    defence: { in: "pump", replace: "readBytes > maxBytes", by: "false" },
  },
  {
    name: "a body without a visible end is not stored",
    origin: (request) => ({
      ...page(isFirst(request) ? "01234" : "0123456789"),
      framing: isFirst(request) ? "close" : "length",
    }),
    ...VISITORS,
    defence: {
      in: "reasonInResponse",
      drop: 'if (!isFramed(status, field)) return "unframed-body";',
    },
  },
  {
    name: "an answer with more tags than the limit is not stored",
    site: { limits: { tags: 3 } },
    origin: (request) => page(isFirst(request) ? "tagged" : "v1", isFirst(request) ? { "cache-tag": "a b c d" } : {}),
    ...VISITORS,
    defence: {
      in: "collectTags",
      replace: "if (new Set([...tags, ...earlierTags]).size > maxTags)",
      by: "if (false)",
    },
  },
];
