import type { Mutants } from "./mutant.ts";

const ORIGIN_FIELDS = "worker/rules/forwarding/origin-request-fields.ts";
const HEARS = "the origin hears from the edge who asked for what, whatever the client claims";

/** Wrong rules of what goes to the origin and what comes back. */
export const proxy: Mutants = {
  "client-claims-its-host": {
    name: "a client's X-Forwarded fields go through",
    file: "worker/rules/request/request-fields.ts",
    from: '"x-forwarded",',
    to: "",
    reddens: HEARS,
  },
  "underscores-go-through": {
    name: "a claim with underscores goes through",
    file: "worker/rules/request/request-fields.ts",
    from: 'name.replaceAll("_", "-")',
    to: "name",
    reddens: HEARS,
  },
  "client-overrides-the-method": {
    name: "a client's method override goes through where the answer may be stored",
    file: "worker/rules/request/request-fields.ts",
    from: '"x-http-method-override",',
    to: "",
    reddens: HEARS,
  },
  "client-claims-an-address": {
    name: "a client's X-Real-IP goes through",
    file: "worker/rules/request/request-fields.ts",
    from: '"x-real-ip",',
    to: "",
    reddens: HEARS,
  },
  "via-is-not-sent": {
    name: "the origin is not told who passed the request on",
    file: ORIGIN_FIELDS,
    from: 'append(sentValue("via"), "1.1 tidemark")',
    to: 'sentValue("via") ?? ""',
    reddens: HEARS,
  },
  "via-is-not-shown": {
    name: "the client is not told who passed the answer on",
    file: "worker/flow/answering/answers.ts",
    from: 'fields.append("via", "1.1 tidemark");',
    to: "",
    reddens: "statuses, fields and bodies come back as they were, several lines of a field included",
  },
  "origin-is-told-not-to-cache": {
    name: "the edge tells the origin to answer anew",
    file: ORIGIN_FIELDS,
    from: "if (forwarded.cookie !== null)",
    to: 'fields.push(["cache-control", "no-cache"]);\n  if (forwarded.cookie !== null)',
    reddens: "the origin gets no directive of the edge's own",
  },
  "client-sets-the-owners-fields": {
    name: "a client's own value of an extra field goes before the owner's",
    file: ORIGIN_FIELDS,
    from: "fields.push([name.toLowerCase(), value]);",
    to: "fields.push([name.toLowerCase(), sentValue(name.toLowerCase()) ?? value]);",
    reddens: "the owner's extra fields reach the origin, and a client cannot set them",
  },
  "if-match-is-looked-up": {
    name: "a condition on the origin's own state is looked up",
    file: "worker/rules/request/request-facts.ts",
    from: 'field("if-match") !== null',
    to: "false",
    reddens: "a condition on the origin's own state is asked of the origin, and not stored",
  },
  "if-unmodified-since-is-looked-up": {
    name: "a condition on when the origin last changed is looked up",
    file: "worker/rules/request/request-facts.ts",
    from: 'field("if-unmodified-since") !== null',
    to: "false",
    reddens: "a condition on the origin's own state is asked of the origin, and not stored",
  },
  "named-hops-go-on": {
    name: "fields that Connection names go on",
    file: "worker/rules/forwarding/hop-by-hop.ts",
    from: "if (connection === null) ",
    to: "",
    reddens: "hop-by-hop fields, and those that Connection names, are neither forwarded nor stored",
  },
  "te-goes-on": {
    name: "a hop-by-hop field goes on",
    file: "worker/rules/forwarding/hop-by-hop.ts",
    from: '"te",',
    to: "",
    reddens: "hop-by-hop fields, and those that Connection names, are neither forwarded nor stored",
  },
  "relative-location-is-completed": {
    name: "a relative Location is made a whole one",
    file: "worker/rules/forwarding/location.ts",
    from: "/^[a-z][a-z0-9+.-]*:|^[/\\\\]{2}/i.test(location.trim())",
    to: "true",
    reddens: "a redirect is passed on, and does not name the hidden origin",
  },
  "tags-are-shown": {
    name: "clients see the tags",
    file: "worker/rules/forwarding/client-response-fields.ts",
    from: ", ...TAG_FIELDS",
    to: "",
    reddens: "tag fields are read and never shown",
  },
  "loop-is-not-seen": {
    name: "a request that comes back goes round again",
    file: "worker/flow/origin/ask-origin.ts",
    from: 'hasLooped(facts.field("cdn-loop"), resolved.host)',
    to: "false",
    reddens: "a request that comes back to its own edge is refused with 508",
  },
  "another-edge-is-a-loop": {
    name: "another edge's member in CDN-Loop is taken for our own",
    file: ORIGIN_FIELDS,
    from: "member.trim() === loopMember(host)",
    to: 'member.trim().startsWith("tidemark;")',
    reddens: "another Tidemark in front of this one is no loop",
  },
  "failure-may-be-stored": {
    name: "others may store that the origin was down",
    file: "worker/rules/forwarding/edge-answer-fields.ts",
    from: '"cache-control": "no-store"',
    to: '"cache-control": "max-age=60"',
    reddens: "an origin that is down is a 502 that says so, names nobody, and is not stored",
  },
};
