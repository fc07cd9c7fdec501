import type { Mutants } from "./mutant.ts";

const HOP_BY_HOP = "worker/rules/forwarding/hop-by-hop.ts";
const ORIGIN_FIELDS = "worker/rules/forwarding/origin-request-fields.ts";
const MAX_FORWARDS = "worker/rules/forwarding/max-forwards.ts";

const VIA = "every hop adds itself to Via, both ways, and once only: also when the origin confirms what is stored";
const ONE_CONNECTION =
  "what concerns one connection stays on it: Trailer, TE, Keep-Alive and the proxy's own fields, on every route";
const HOPS = "Max-Forwards of OPTIONS counts the hops, and at zero the edge is the one that is asked";

/** Wrong rules of the fields that tell of connections and hops. */
export const fields: Mutants = {
  "outer-hops-are-forgotten": {
    name: "the origin hears of the last hop only",
    file: ORIGIN_FIELDS,
    from: 'append(sentValue("via"), "1.1 tidemark")',
    to: '"1.1 tidemark"',
    reddens: VIA,
  },
  "inner-hops-are-forgotten": {
    name: "clients hear of the last hop only",
    file: "worker/flow/answering/answers.ts",
    from: 'fields.append("via", "1.1 tidemark");',
    to: 'fields.set("via", "1.1 tidemark");',
    reddens: VIA,
  },
  "our-hop-is-stored": {
    name: "the edge's own hop is stored, and told again with each answer",
    file: "worker/flow/storing/storage-decision.ts",
    from: "const withheld = new Set(verdict.withheldFields);",
    to: 'const withheld = new Set(verdict.withheldFields);\n  fields.append("via", "1.1 tidemark");',
    reddens: VIA,
  },
  ...Object.fromEntries(
    ["trailer", "proxy-authentication-info", "proxy-authorization", "proxy-connection"].map((name) => [
      `${name}-goes-on`,
      { name: `${name} goes on`, file: HOP_BY_HOP, from: `"${name}",`, to: "", reddens: ONE_CONNECTION },
    ]),
  ),
  "names-of-hops-differ-in-case": {
    name: "fields that Connection names in another case go on",
    file: HOP_BY_HOP,
    from: "    .toLowerCase()\n",
    to: "",
    reddens: ONE_CONNECTION,
  },
  "directives-are-rewritten": {
    name: "clients get the directives that Tidemark knows, and no others",
    file: "worker/rules/forwarding/client-response-fields.ts",
    from: 'if (!fields.has("date"))',
    to: 'fields.set("cache-control", (fields.get("cache-control") ?? "").replace(/, ext.*/, ""));\n  if (!fields.has("date"))',
    reddens: "directives go to clients as they came, those that Tidemark does not know included",
  },
  "hops-are-not-counted": {
    name: "Max-Forwards goes on as it came",
    file: "worker/flow/origin/ask-origin.ts",
    from: 'maxForwards.kind === "forward" ? maxForwards.field : null',
    to: 'facts.field("max-forwards")',
    reddens: HOPS,
  },
  "last-hop-goes-on": {
    name: "a request that may go no further goes on",
    file: MAX_FORWARDS,
    from: 'left === 0 ? { kind: "answer" } : ',
    to: "",
    reddens: HOPS,
  },
  "hops-have-no-bound": {
    name: "more hops than can be counted go on",
    file: MAX_FORWARDS,
    from: "Math.min(Number(field), MAX_HOPS)",
    to: "Number(field)",
    reddens: HOPS,
  },
  "no-number-is-a-hop": {
    name: "a Max-Forwards that is no number is the last hop",
    file: MAX_FORWARDS,
    from: 'if (field === null || !/^[0-9]+$/.test(field)) return { kind: "forward", field };',
    to: 'if (field === null) return { kind: "forward", field };\n  if (!/^[0-9]+$/.test(field)) return { kind: "answer" };',
    reddens: HOPS,
  },
  "get-counts-hops": {
    name: "Max-Forwards counts the hops of a GET",
    file: MAX_FORWARDS,
    from: 'if (method !== "TRACE" && method !== "OPTIONS") return { kind: "forward", field };',
    to: "",
    reddens:
      "Max-Forwards means nothing for other methods: a GET with zero left is answered, and the field goes on only where nothing is stored",
  },
};
