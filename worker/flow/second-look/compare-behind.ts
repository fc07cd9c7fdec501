import type { NotStored, NotStoredBecause } from "../../rules/storing/not-stored.ts";
import type { ReceivedAnswer } from "../origin/ask-origin.ts";
import { readBehind, startFillFor } from "../reading-bodies.ts";
import { pageOf, type RequestContext } from "../request-context.ts";

/** The reasons that say that a page is for one visitor. */
const FOR_ONE: ReadonlySet<NotStoredBecause> = new Set(["private", "set-cookie", "cookie"]);

/** One such page in this many is compared. */
const ONE_OF = 8;
/** Longer pages are not. */
const MAX_BYTES = 64 * 1024;

/** Reads some of the pages that are for one visitor on their way, to find out whether they differ at all. */
export function compareBehind(
  context: RequestContext,
  response: ReceivedAnswer,
  { because }: NotStored,
): ReceivedAnswer {
  const { ports, facts, arrival, incoming, answersHead } = context;
  const { status, body, lengthBytes } = response;
  const isCompared = FOR_ONE.has(because) && status === 200 && facts.method === "GET" && !answersHead;
  if (!isCompared || arrival.order % ONE_OF !== 0 || body === null || lengthBytes === null || lengthBytes > MAX_BYTES) {
    return response;
  }
  const toClient = readBehind(context, startFillFor(context, body, lengthBytes, MAX_BYTES), (bytes) => {
    const visitor = [incoming.clientAddress, incoming.request.headers.get("cookie")].filter((mark) => mark !== null);
    const at = ports.clock.now();
    ports.reporter.report({ kind: "passed-on", ...pageOf(context), visitor, bytes, at });
  });
  return { ...response, body: toClient };
}
