import type { Mutants } from "../../mutants/mutant.ts";

const overtaken = "budget: a client with many misses is overtaken by one with few";
const secondWaits = "budget: of two at once the second waits until the first has its answer";
const spread = "budget: misses logged with whole seconds are spread over the second";
const sampled = "budget: a sampled page counts for all that it represents, each at another time of the second";

/** Trials that let through other requests than the edge would, or say so wrongly. */
export const mutants: Mutants = {
  "budget: whose turn it would have been": {
    "any number is at the origin": {
      in: "BudgetTrial.#enter",
      replace: "this.#running.size < this.#budget.concurrency",
      by: "true",
      foundBy: secondWaits,
    },
    "one more than the limit is at the origin": {
      in: "BudgetTrial.#enter",
      replace: "this.#running.size < this.#budget.concurrency",
      by: "this.#running.size <= this.#budget.concurrency",
      foundBy: secondWaits,
    },
    "an answer ends after the miss that comes then": {
      in: "BudgetTrial.#passTo",
      replace: "at > now",
      by: "at >= now",
      foundBy: "budget: an answer that ends when a miss comes has made room for it",
    },
    "a client's misses do not count": {
      in: "BudgetTrial.#come",
      replace: 'client === "" ? 0 : this.#recentMisses.count(`network ${networkOf(client)}`, now)',
      by: "0",
      foundBy: overtaken,
    },
    "clients without an address are one client": {
      in: "BudgetTrial.#come",
      replace: 'client === "" ? 0 : this.#recentMisses.count(`network ${networkOf(client)}`, now)',
      by: "this.#recentMisses.count(`network ${networkOf(client)}`, now)",
      foundBy: "budget: clients without addresses go in their order of arrival, and none is named",
    },
    "old misses count as much as new ones": {
      in: "BudgetTrial.#come",
      replace: "this.#recentMisses.count(`network ${networkOf(client)}`, now)",
      by: "this.#recentMisses.count(`network ${networkOf(client)}`, 0)",
      foundBy: "budget: misses of three minutes ago count half",
    },
    "no turn goes to the one who came first": {
      in: "BudgetTrial.#giveTurn",
      drop: "this.#turns++;",
      foundBy: "budget: one turn of twenty goes to the request that came first",
    },
    "any number may wait": {
      in: "BudgetTrial.#enter",
      replace: "mayWait(waiting, this.#turnsLately.at(now), this.#budget.queue)",
      by: "true",
      foundBy: "budget: when the queue is full, a request that would be the last gets no place",
    },
    "nobody gives up a place": {
      in: "BudgetTrial.#enter",
      replace: "this.#giveUpLast(place)",
      by: "false",
      foundBy: "budget: when the queue is full, the last request gives up its place to one that goes before it",
    },
    "the last gives up its place to anybody": {
      in: "BudgetTrial.#giveUpLast",
      replace: "last === undefined || compareTurns(newcomer, last) >= 0",
      by: "last === undefined",
      foundBy: "budget: when the queue is full, a request that would be the last gets no place",
    },
    "one that gave up its place does not count": {
      in: "BudgetTrial.#giveUpLast",
      drop: "this.#noPlace++;",
      foundBy: "budget: when the queue is full, the last request gives up its place to one that goes before it",
    },
    "a turn comes at any time": {
      in: "BudgetTrial.#sendAway",
      replace: "!hasWaitedTooLong(place, now, this.#budget.queue)",
      by: "true",
      foundBy: "budget: one that has waited too long leaves its place to others",
    },
    "one that has waited too long keeps its place until an answer ends": {
      in: "BudgetTrial.#passTo",
      drop: "this.#sendAway(now);",
      foundBy: "budget: one that has waited too long leaves its place to others",
    },
    "one that has waited too long still gets the turn that comes then": {
      in: "BudgetTrial.#passTo",
      drop: "this.#sendAway(at);",
      foundBy: "budget: one that has waited as long as it may gets no turn",
    },
    "misses of a second come at once": {
      in: "BudgetTrial.#playSecond",
      replace: "Math.floor((place++ * 1000) / misses)",
      by: "0",
      foundBy: spread,
    },
    "misses are spread though the log has milliseconds": {
      in: "BudgetTrial.#playSecond",
      replace: "misses > this.#held.length || this.#held.every(({ at }) => at % 1000 === 0)",
      by: "true",
      foundBy: "budget: misses of a log with milliseconds come when it says",
    },
    "a page of a sample counts once": {
      in: "BudgetTrial.#playSecond",
      replace: "copy < miss.weight",
      by: "copy < 1",
      foundBy: sampled,
    },
    "a page of a sample counts once for its network": {
      in: "BudgetTrial.#noteNetwork",
      replace: "networkText(client), weight",
      by: "networkText(client), 1",
      foundBy: sampled,
    },
    "all that a page of a sample stands for come at once": {
      in: "BudgetTrial.#playSecond",
      replace: "misses > this.#held.length || this.#held.every(({ at }) => at % 1000 === 0)",
      by: "this.#held.every(({ at }) => at % 1000 === 0)",
      foundBy: sampled,
    },
    "time goes back": {
      in: "BudgetTrial.take",
      replace: "Math.max(this.#second, Math.floor(at / 1000))",
      by: "Math.floor(at / 1000)",
      foundBy: "budget: a miss that is older than an earlier one counts in that one's second",
    },
    "the log outranks --origin-ms": {
      in: "BudgetTrial.#come",
      replace: "this.#budget.originMs ?? tookMs ?? this.#usualMs",
      by: "tookMs ?? this.#budget.originMs ?? this.#usualMs",
      foundBy: "budget: --origin-ms overrides the log",
    },
    "what the log says of a time does not count": {
      in: "BudgetTrial.#come",
      replace: "this.#budget.originMs ?? tookMs ?? this.#usualMs",
      by: "this.#budget.originMs ?? this.#usualMs",
      foundBy:
        "budget: without --origin-ms each answer takes as long as the log says, or the average so far, or 200 ms",
    },
    "a miss without a time takes 200 ms whatever the others took": {
      in: "BudgetTrial.#come",
      replace: "tookMs ?? this.#usualMs",
      by: "tookMs ?? DEFAULT_ORIGIN_MS",
      foundBy:
        "budget: without --origin-ms each answer takes as long as the log says, or the average so far, or 200 ms",
    },
    "the wait of 99 % is that of all": {
      in: "BudgetTrial.end",
      replace: "this.#waitOf(waited * 0.99)",
      by: "this.#waitOf(waited)",
      foundBy: "budget: the longest wait is one request's, and 99 % waited less",
    },
    "the most without a budget is the most that ever were": {
      in: "BudgetTrial.#countWithoutBudget",
      drop: "while ((this.#withoutBudget.first ?? Infinity) <= now) this.#withoutBudget.removeFirst();",
      foundBy: "budget: nobody waits while there is room",
    },
    "what still waits at the end is lost": {
      in: "BudgetTrial.end",
      drop: "this.#passTo(Infinity);",
      foundBy: secondWaits,
    },
    "the second that was read last is lost": {
      in: "BudgetTrial.end",
      drop: "this.#playSecond();",
      foundBy: secondWaits,
    },
    "each address of IPv6 is a network": {
      in: "BudgetTrial.#noteNetwork",
      replace: "networkText(client)",
      by: "client",
      foundBy: "budget: the networks with the most misses are listed, IPv6 by the network half of the address",
    },
  },
};
