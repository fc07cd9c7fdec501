import type { Mutants } from "./mutant.ts";

const FILL = "worker/flow/storing/fill.ts";

/** Wrong rules of when a body is whole. */
export const bodies: Mutants = {
  "cut-body-is-whole": {
    name: "what came before the cut is kept as the whole",
    file: FILL,
    from: 'tell({ kind: "cut-off" });',
    to: 'tell({ kind: "whole", bytes: join(chunks, readBytes) });',
    reddens: "a body that is cut off is passed on short, and is never a hit",
  },
  "cut-chunks-are-whole": {
    name: "chunks that came before the cut are kept as the whole",
    file: FILL,
    from: 'tell({ kind: "cut-off" });',
    to: 'tell(lengthBytes === null ? { kind: "whole", bytes: join(chunks, readBytes) } : { kind: "cut-off" });',
    reddens: "a chunked body that is cut off is never a hit",
  },
  "client-does-not-see-the-cut": {
    name: "the client is given a clean end where the body was cut off",
    file: FILL,
    from: "await client.abort(cause);",
    to: "await client.close();",
    reddens: "a body that is cut off is passed on short, and is never a hit",
  },
  "bytes-are-not-counted": {
    name: "a body that outgrows the limit is kept",
    file: FILL,
    from: "readBytes > maxBytes",
    to: "false",
    reddens: "a body over the limit streams past and is not stored, with or without a length",
  },
  "limit-is-outside": {
    name: "a body just as large as the limit is not kept",
    file: FILL,
    from: "readBytes > maxBytes",
    to: "readBytes >= maxBytes",
    reddens: "a body over the limit streams past and is not stored, with or without a length",
  },
};
