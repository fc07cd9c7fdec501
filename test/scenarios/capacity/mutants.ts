import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of how many requests the origin has at a time. */
export const mutants: Mutants = {
  "docs/http.md#an-origin-that-is-busy": {
    "any number of requests is sent at a time": {
      in: "OwnPermits.take",
      drop: "if (this.#taken >= this.#concurrency) return false;",
      foundBy: "capacity/waits-for-its-turn",
    },
    "one request more than the owner says is sent": {
      in: "OwnPermits.take",
      replace: ">=",
      by: ">",
      foundBy: "capacity/waits-for-its-turn",
    },
    "nobody gets a turn when the origin has room again": {
      in: "OwnPermits.giveBack",
      drop: "this.onFree();",
      foundBy: "capacity/waits-for-its-turn",
    },
    "who came last goes first": {
      in: "compareTurns",
      replace: "compareStandings(one, other) || one.since - other.since",
      by: "other.since - one.since",
      foundBy: "capacity/first-come-first-served",
    },
    "it does not matter how much of the origin a client has had": {
      in: "compareStandings",
      replace: "|| one.recentMisses - other.recentMisses",
      by: "",
      foundBy: "capacity/fewest-misses-first",
    },
    "a client of IPv6 is another one with each of its addresses": {
      in: "networkOf",
      replace: "bits >> 64n",
      by: "bits",
      foundBy: "capacity/a-network-is-one-client",
    },
    "a page that many wait for has the place of the one that asked first": {
      in: "followOrTryAgain",
      drop: "if (fetch.place) originGate?.share(fetch.place, clientOf(context));",
      foundBy: "capacity/place-of-the-best",
    },
    "a page that somebody waits for who has had more loses its place": {
      in: "PermitQueue.improve",
      drop: "if (compareStandings(standing, place) >= 0) return;",
      foundBy: "capacity/place-of-the-best",
    },
    "who was there before is like everybody else": {
      in: "compareStandings",
      replace: "rankOf(one) - rankOf(other) ||",
      by: "",
      foundBy: "capacity/known-session-first",
    },
    "a session counts as soon as it is set": {
      in: "standingOf",
      replace: "session.setAt + SETTLED_MS <= queueSince &&",
      by: "",
      foundBy: "capacity/session-made-in-time",
    },
    "each cookie counts as a session": {
      in: "KnownSessions.find",
      replace: "this.#use(pair, now)",
      by: "this.#use(pair, now) ?? { setAt: 0, network: null, name: pair }",
      foundBy: "capacity/invented-session",
    },
    "a cookie that the request had already counts as one that the origin has set": {
      in: "sessionsSetBy",
      replace: ".filter((cookie) => !sent.includes(cookie))",
      by: "",
      foundBy: "capacity/session-that-the-request-had",
    },
    "a cookie that everybody gets counts as a session": {
      in: "KnownSessions.note",
      drop: "if (same.network !== network) same.network = null;",
      foundBy: "capacity/session-of-two-networks",
    },
    "a session begins anew with each cookie": {
      in: "sessionsSetBy",
      replace: "sent.find((pair) => isOfOneName(pair, cookie)) ?? null",
      by: "null",
      foundBy: "capacity/renewed-session",
    },
    "a session that no client gets counts": {
      in: "noteSessions",
      replace: "|| context.resolved.route.stripsSetCookie",
      by: "",
      foundBy: "capacity/stripped-session",
    },
    "sessions are not noted": {
      in: "sendInTurn",
      replace: "noteSessions(context, result.response, gate)",
      by: "undefined",
      foundBy: "capacity/known-session-first",
    },
    "a receipt is nothing at the origin": {
      in: "clientOf",
      replace: "facts.receiptToken?.logId === logId",
      by: "false",
      foundBy: "capacity/receipt-goes-first",
    },
    "each receipt counts, whatever its log": {
      in: "clientOf",
      replace: "logId !== null && facts.receiptToken?.logId === logId",
      by: "facts.receiptToken !== null",
      foundBy: "capacity/invented-receipt",
    },
    "a route has as many requests at the origin as the site": {
      in: "OriginGate.#queuesOf",
      replace: "ofRoute === undefined ? [this.#ofSite] : [ofRoute, this.#ofSite]",
      by: "[this.#ofSite]",
      foundBy: "capacity/share-of-a-route",
    },
    "a request may wait anew for the site once it has waited for its route": {
      in: "PermitQueue.#wait",
      replace: "Math.max(0, place.since + this.#limits.maxMs - this.#clock.now())",
      by: "this.#limits.maxMs",
      foundBy: "capacity/share-of-a-route-in-a-busy-site",
    },
    "who is turned away by the site keeps the turn of its route": {
      in: "OriginTurn.hold",
      drop: "this.end();",
      foundBy: "capacity/share-of-a-route-in-a-busy-site",
    },
    "a full queue makes room for nobody": {
      in: "PermitQueue.enter",
      replace: "|| this.#giveUpLast(place)",
      by: "",
      foundBy: "capacity/full-queue-makes-room",
    },
    "a full queue gives up the one whose turn comes next": {
      in: "lastInLine",
      replace: "compareTurns(each, last) >= 0",
      by: "compareTurns(each, last) < 0",
      foundBy: "capacity/full-queue-makes-room",
    },
    "who makes room waits on": {
      in: "PermitQueue.#giveUpLast",
      drop: "this.#leave(last, null);",
      foundBy: "capacity/full-queue-makes-room",
    },
    "the wait of the first in the queue is not told": {
      in: "PermitQueue.counts",
      replace: "now - since",
      by: "since",
      foundBy: "capacity/first-come-first-served",
    },
    "who has waited for its route before has not waited": {
      in: "PermitQueue.counts",
      replace: "Math.max(longestWaitMs, now - since)",
      by: "longestWaitMs || now - since",
      foundBy: "capacity/share-of-a-route-in-a-busy-site",
    },
    "a request counts until the head of its answer": {
      in: "endWith",
      replace: "ended === undefined",
      by: "true",
      foundBy: "capacity/until-the-last-byte",
    },
    "a stream of events holds others up until it ends": {
      in: "endWith",
      drop: 'if (/^\\s*text\\/event-stream\\b/i.test(fields.get("content-type") ?? "")) return turn.becomeStream(ended);',
      foundBy: "capacity/event-streams",
    },
    "any number of streams is open at a time": {
      in: "OriginTurn.becomeStream",
      replace: "ofStream && ended",
      by: "false",
      foundBy: "capacity/limit-of-streams",
    },
    "who asks for a stream asks the origin before there is a place for it": {
      in: "RequestFacts.asksForStream",
      replace: '|| /\\btext\\/event-stream\\b/i.test(this.field("accept") ?? "")',
      by: "",
      foundBy: "capacity/limit-of-streams",
    },
    "a stream that nobody asked for needs no place": {
      in: "OriginTurn.becomeStream",
      replace:
        "if (this.#enterStreams && this.#ofStream === null && !this.hold(await this.#enterStreams(), true)) return false;",
      by: "if (this.#enterStreams) this.#ofStream ??= await this.#enterStreams();",
      foundBy: "capacity/streams-that-nobody-asked-for",
    },
    "a request that gets no answer counts for ever": {
      in: "sendInTurn",
      replace: 'else if (result.kind !== "switched") turn.end();',
      by: "",
      foundBy: "capacity/after-a-failure",
    },
    "a request waits without end": {
      in: "PermitQueue.#wait",
      drop: "void patience.over.then(() => this.#leave(place, null));",
      foundBy: "capacity/waits-too-long",
    },
    "who is turned away may ask again before the others have had their turn": {
      in: "OriginGate.retryAfterSeconds",
      replace: "Math.ceil",
      by: "Math.floor",
      foundBy: "capacity/waits-too-long",
    },
    "any number of requests waits": {
      in: "mayWait",
      replace: "waiting < maxWaiting",
      by: "true",
      foundBy: "capacity/queue-is-full",
    },
    "who is turned away gets no stale page": {
      in: "hasFailed",
      replace: '|| result.kind === "busy"',
      by: "",
      foundBy: "capacity/stale-in-place",
    },
    "a busy origin counts as one that cannot be reached": {
      in: "failureOf",
      replace: '|| kind === "busy"',
      by: "",
      foundBy: "capacity/not-disconnected",
    },
    "each follower of a request that is turned away waits anew": {
      in: "followOrTryAgain",
      drop: 'if (outcome.byOrigin === "busy") return answerBusy(context);',
      foundBy: "capacity/followers-are-turned-away-together",
    },
    "a leader that is turned away does not say why": {
      in: "fetchOnce",
      replace: '!context.isUnattended && "busy"',
      by: "false",
      foundBy: "capacity/followers-are-turned-away-together",
    },
    "a refresh waits in line like a visitor": {
      in: "sendInTurn",
      replace: "isUnattended ? gate.enterIfIdle(route) :",
      by: "",
      foundBy: "capacity/refreshes-give-way",
    },
    "an explanation keeps to itself that the origin is busy": {
      in: "PermitQueue.isBusy",
      replace: "this.#waiting.size > 0",
      by: "this.#waiting.size > 1",
      foundBy: "capacity/explained",
    },
  },
};
