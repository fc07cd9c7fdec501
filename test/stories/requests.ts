import type { CdnAnswer } from "../../local/index.ts";
import { languageOf } from "../simulation/directives.ts";
import { type Answered, FROM_STORE, type History } from "../simulation/history.ts";
import { VALIDATION_FIELD } from "../simulation/log/answer-numbers.ts";
import { Told } from "../simulation/log/told.ts";
import { anyVisitor, fetchIn, type Request } from "./client.ts";
import { countAnswer } from "./count-answer.ts";
import type { Dice } from "./dice.ts";
import type { Pages } from "./pages.ts";
import { nameOf, type Place } from "./places.ts";
import type { Receipt } from "./purges.ts";
import { LEASE_MS, LOG_ID, type Stage } from "./stage.ts";

/** The requests of one story, and the record of its clients' answers. */
export class Requests {
  readonly #stage: Stage;
  readonly #story: string;
  readonly #host: string;
  readonly #dice: Dice;
  readonly #pages: Pages;
  readonly #history: History;
  /** The requests without an answer so far. */
  readonly #open = new Set<{ readonly target: string; readonly isolate: string }>();
  #count = 0;

  constructor(
    stage: Stage,
    story: { readonly name: string; readonly host: string },
    dice: Dice,
    pages: Pages,
    history: History,
  ) {
    this.#stage = stage;
    this.#story = story.name;
    this.#host = story.host;
    this.#dice = dice;
    this.#pages = pages;
    this.#history = history;
  }

  /** Whether they wait only for answers that the origin holds back. */
  get areQuiet(): boolean {
    return [...this.#open].every(({ target, isolate }) => this.#pages.isHeld(target, isolate));
  }

  /** A visitor's request; resolves to `null` if no complete answer comes. */
  async get(path: string, place: Place, receipt: Receipt | null): Promise<CdnAnswer | null> {
    const { timeline, knowledge } = this.#stage;
    const number = ++this.#count;
    const { identity, language, fields } = anyVisitor(this.#dice, number);
    const request = `request ${number} for ${path} at ${nameOf(place)}`;
    const after = receipt?.purged ?? null;
    const [arrivedAt, heard] = [timeline.now, Math.max(knowledge.heard(place), after?.seq ?? 0)];
    const token = after ? ` with the token of ${after.name}` : "";
    this.tell(`${request} arrives from ${identity ?? "anybody"} in "${language}"${token}`);
    const answer = await this.send(path, place, { fields, ...(receipt && { after: receipt.token }) });
    const fetch = answer && fetchIn(answer);
    if (!answer || fetch === null) return this.fails(request, answer);
    const fetched = this.#history.fetches.get(fetch)!;
    const validation = answer.fields[VALIDATION_FIELD];
    const confirmed = validation === undefined ? fetched : this.#history.fetches.get(Number(validation))!;
    const { xCache } = answer;
    this.tell(`${request} gets fetch ${fetch}${validation ? `, confirmed by ${validation}` : ""}: ${xCache}`);
    // It is not known when the isolate learned of the purge, so the soft window counts from now.
    const until = knowledge.knewUntil(place.region, LEASE_MS);
    const told = new Told([{ logId: LOG_ID, to: heard, at: arrivedAt }], { askedAt: until - LEASE_MS, until });
    const by = { request, arrivedAt, xCache, identity, language: languageOf(language), after };
    this.#record({ ...by, fetched, confirmed, chosenBy: told, givenBy: told, parent: null }, answer);
    return answer;
  }

  #record(answered: Answered, { cacheStatus }: CdnAnswer): void {
    if (!FROM_STORE.includes(answered.xCache)) this.#pages.hasArrived(answered.confirmed);
    this.#history.answers.push(answered);
    countAnswer(this.#stage, this.#history, answered, cacheStatus ?? "");
  }

  fails(request: string, answer: CdnAnswer | null): null {
    this.tell(`${request} fails: ${answer ? `${answer.status}${answer.cutOff ? ", cut off" : ""}` : "no answer"}`);
    return null;
  }

  /** A HEAD cannot show a wrong body, but may freshen or invalidate the stored page. */
  async head(path: string, place: Place): Promise<void> {
    const number = ++this.#count;
    this.tell(`HEAD ${number} of ${path} arrives at ${nameOf(place)}`);
    await this.send(path, place, { method: "HEAD", fields: { "user-agent": `visitor ${number}` } });
  }

  /** An unsafe request: the origin changes the page. */
  async post(path: string, place: Place): Promise<void> {
    const number = ++this.#count;
    this.tell(`POST ${number} to ${path} arrives at ${nameOf(place)}`);
    const fields = { "user-agent": `visitor ${number}` };
    const answer = await this.send(path, place, { method: "POST", body: "new", fields });
    this.tell(`POST ${number} to ${path} is answered: ${answer?.status ?? "not at all"}`);
  }

  /** `null` if the PoP hangs up. */
  async send(path: string, place: Place, request: Request): Promise<CdnAnswer | null> {
    const open = { target: path, isolate: nameOf(place) };
    this.#open.add(open);
    const { region: from, isolate } = place;
    const sent = this.#stage.cdn.request(path, { ...request, from, isolate, host: this.#host });
    const answer = await sent.catch(() => null);
    this.#open.delete(open);
    this.#stage.stir();
    return answer;
  }

  tell(words: string): void {
    this.#stage.timeline.tell(this.#story, words);
  }
}
