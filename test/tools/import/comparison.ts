import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Reply, SeenRequest } from "../../../local/cdn/scripted-origin.ts";
import type { Affected, Aspect, Difference, ImportedSite } from "../../../tools/import/imported-site.ts";
import { siteOf } from "../../../tools/import/imported-site.ts";
import { cookiesIn } from "../../../worker/rules/identity/cookies.ts";
import { matchesAnyName } from "../../../worker/rules/key/name-pattern.ts";
import type { ClientAnswer, Engine } from "../../engine/engine.ts";
import { startMemoryEngine } from "../../engine/memory/memory-engine.ts";
import type { ClientRequest } from "../../engine/scenario.ts";
import type { Configuration } from "./configurations.ts";
import { NginxProcess } from "./nginx-process.ts";
import { type OriginState, type Step, stepsFor } from "./requests.ts";

export interface Comparison {
  readonly requests: number;
  /** The differences between both answers that the import's list does not explain, in words. */
  readonly unexplained: readonly string[];
  /** The differences of the list that showed. */
  readonly shown: ReadonlySet<Difference>;
}

export const FOLDER = fileURLToPath(new URL("configurations/", import.meta.url));

/** Asks nginx with a configuration, and Tidemark with the site imported from it, for the same pages. */
export async function compare(configuration: Configuration, imported: ImportedSite, seed: number): Promise<Comparison> {
  const origin = await TwofoldOrigin.start(configuration);
  const nginx = await NginxProcess.start(join(FOLDER, configuration.name), origin.port);
  const { origin: _, ...site } = siteOf(imported);
  const tidemark = startMemoryEngine(site, 1);
  tidemark.answerBy!((request) => origin.replyTo(request));
  const judge = new Judge(configuration, imported, origin);
  try {
    for (const step of stepsFor(configuration, seed)) await play(step, nginx, tidemark, origin, judge);
  } finally {
    await nginx.stop();
    await origin.stop();
    await tidemark.stop();
  }
  return judge;
}

async function play(
  step: Step,
  nginx: NginxProcess,
  tidemark: Engine,
  origin: TwofoldOrigin,
  judge: Judge,
): Promise<void> {
  if (step.kind === "time") {
    await nginx.advance(step.seconds);
    await tidemark.advance(step.seconds * 1000);
    return;
  }
  if (step.kind === "origin") {
    origin.state = step.state;
    return;
  }
  const before = { nginx: origin.seen.length, tidemark: tidemark.seen.length };
  const byNginx = await nginx.send(step.request);
  // nginx updates a stale page behind its answer. The request for that must not be taken for the next step's.
  const updates = byNginx.fields["x-cache"] === "STALE" ? 1 : 0;
  await origin.hasAnswered(Math.max(before.nginx + updates, origin.seen.length));
  await nginx.hasCaughtUp();
  const answers = { nginx: byNginx, tidemark: await tidemark.settle(tidemark.send(step.request)) };
  await tidemark.finishWork();
  judge.compare(
    step.request,
    { answer: answers.nginx, asked: origin.seen[before.nginx] },
    { answer: answers.tidemark, asked: tidemark.seen[before.tidemark] },
  );
}

/** The site behind both caches: over a socket for nginx, as a function for Tidemark. */
class TwofoldOrigin {
  readonly seen: SeenRequest[] = [];
  state: OriginState = "works";
  port = 0;
  #answered = 0;
  #waiting: { readonly count: number; readonly resolve: () => void } | undefined;
  readonly #pages: NonNullable<Configuration["pages"]>;
  readonly #server = createServer({ keepAlive: false }, (request, response) => {
    const { method = "", url = "", headers } = request;
    request.resume().on("end", () => {
      const seen = { method, target: url, fields: headers, body: "" };
      this.seen.push(seen);
      response.on("close", () => {
        this.#answered++;
        if (this.#waiting && this.#answered >= this.#waiting.count) this.#waiting.resolve();
      });
      const { failure, status = 200, fields = {}, body = "" } = this.replyTo(seen);
      if (failure) return response.destroy();
      for (const [name, value] of Object.entries(fields)) response.setHeader(name, value);
      response.writeHead(status, { "content-length": Buffer.byteLength(body) }).end(body);
    });
  });

  private constructor({ pages = {} }: Configuration) {
    this.#pages = pages;
  }

  static async start(configuration: Configuration): Promise<TwofoldOrigin> {
    const origin = new TwofoldOrigin(configuration);
    await new Promise<void>((resolve) => origin.#server.listen(0, "127.0.0.1", resolve));
    origin.port = (origin.#server.address() as AddressInfo).port;
    return origin;
  }

  replyTo(request: SeenRequest): Reply {
    if (this.state === "is silent") return { failure: "reset" };
    if (this.state === "has lost its pages") return { status: 404, body: "lost" };
    if (this.state === "fails") return { status: 503, body: "out of order" };
    return this.usualReplyTo(request);
  }

  usualReplyTo(request: SeenRequest): Reply {
    const path = request.target.split("?")[0]!;
    const page = Object.hasOwn(this.#pages, path) ? this.#pages[path]! : {};
    const reply = typeof page === "function" ? page(request) : page;
    return { body: `${request.method === "POST" ? "posted to" : "page of"} ${request.target}`, ...reply };
  }

  /** Resolves when the connection of this request is done with. */
  async hasAnswered(count: number): Promise<void> {
    if (this.#answered >= count) return;
    await new Promise<void>((resolve) => {
      this.#waiting = { count, resolve };
    });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

interface Exchange {
  readonly answer: ClientAnswer;
  /** The first request that it led to at the origin. */
  readonly asked: SeenRequest | undefined;
}

/** Compares answers, and looks for what differs in the import's list. */
class Judge implements Comparison {
  requests = 0;
  readonly unexplained: string[] = [];
  readonly shown = new Set<Difference>();
  /** By path: why both caches may hold different things. */
  readonly #apart = new Map<string, readonly Difference[]>();
  readonly #imported: ImportedSite;
  readonly #origin: TwofoldOrigin;
  readonly #hosts: readonly string[];
  readonly #routes: readonly { match: string; pattern: URLPattern }[];
  readonly #answerFields: readonly string[];
  readonly #originFields: readonly string[];

  constructor({ name, hosts }: Configuration, imported: ImportedSite, origin: TwofoldOrigin) {
    this.#imported = imported;
    this.#origin = origin;
    this.#hosts = hosts;
    this.#routes = imported.routes.map(({ value: { match } }) => ({
      match,
      pattern: new URLPattern({ pathname: match }),
    }));
    const text = textOf(join(FOLDER, name));
    const named = (directive: string) =>
      [...text.matchAll(new RegExp(`${directive} ([\\w-]+)`, "g"))].map(([, field]) => field!.toLowerCase());
    const ofAnswers = [...named("add_header"), ...named("proxy_hide_header"), "set-cookie", "location"];
    if (/\bexpires \d/.test(text)) ofAnswers.push("cache-control");
    this.#answerFields = ofAnswers.filter((each) => each !== "x-cache");
    this.#originFields = ["host", "accept-encoding", ...named("proxy_set_header")];
  }

  compare(request: ClientRequest, nginx: Exchange, tidemark: Exchange): void {
    this.requests++;
    const path = request.path.split("?")[0]!;
    const differing = this.#differing(nginx, tidemark);
    const applying = this.#imported.differences.filter(({ affects }) => this.#applies(affects, request));
    for (const { aspect, field, ...values } of differing) {
      const direct = applying.filter(
        (each) =>
          each.aspects.includes(aspect) &&
          (each.field === undefined || !field || each.field === field || aspect === "stored"),
      );
      for (const each of direct) this.shown.add(each);
      const apart = this.#apart.get(path) ?? [];
      const isOfField = aspect === "response-field" || aspect === "origin-field";
      const consequences = direct.length > 0 ? [] : apart.filter((each) => !isOfField || each.field === field);
      for (const each of consequences) this.shown.add(each);
      if (direct.length + consequences.length > 0) continue;
      const { method, host, fields: sent = {} } = request;
      const asked = `${method} ${host}${request.path} ${JSON.stringify(sent)}`;
      this.unexplained.push(
        `${asked}: ${field ?? aspect}: ${values.nginx} with nginx, ${values.tidemark} with Tidemark`,
      );
    }
    const reasons = applying.filter(({ aspects }) => aspects.includes("stored"));
    if (reasons.length > 0) this.#apart.set(path, [...new Set([...(this.#apart.get(path) ?? []), ...reasons])]);
    // Where both have just fetched the same, they hold the same.
    else if (nginx.asked && tidemark.asked && differing.length === 0) this.#apart.delete(path);
  }

  #differing(nginx: Exchange, tidemark: Exchange) {
    const found: { aspect: Aspect; field?: string; nginx: unknown; tidemark: unknown }[] = [];
    const note = (aspect: Aspect, a: unknown, b: unknown, field?: string) => {
      if (a !== b) found.push({ aspect, ...(field !== undefined && { field }), nginx: a, tidemark: b });
    };
    const means = ({ asked }: Exchange) => (asked ? "asked of the origin" : "answered from the cache");
    note("stored", means(nginx), means(tidemark));
    const [a, b] = [nginx.answer, tidemark.answer];
    const isOwn = (status: number) => status === 502 || status === 504;
    // The words of a cache about an origin that does not answer are its own.
    if (isOwn(a.status) && isOwn(b.status)) return found;
    note("answer", `${a.status} ${a.body}`, `${b.status} ${b.body}`);
    if (a.status === b.status) {
      for (const field of this.#answerFields)
        note("response-field", comparable(a.fields[field], field), comparable(b.fields[field], field), field);
    }
    if (!nginx.asked || !tidemark.asked) return found;
    note("origin-url", nginx.asked.target, tidemark.asked.target);
    for (const field of this.#originFields) {
      note(
        "origin-field",
        comparable(nginx.asked.fields[field], field),
        comparable(tidemark.asked.fields[field], field),
        field,
      );
    }
    return found;
  }

  #applies(affects: Affected, request: ClientRequest): boolean {
    const { routes, paths, methods, cookies, requestFields, parameters, statuses, host } = affects;
    const { answerFields, answerValues } = affects;
    const [path = "", query = ""] = request.path.split("?");
    const fields = request.fields ?? {};
    const route = this.#routes.find(({ pattern }) => pattern.test({ pathname: path }))?.match ?? "";
    const sent = (fields.cookie === undefined ? [] : cookiesIn(fields.cookie)).map(([name]) => name);
    const names = query.split("&").map((each) => each.split("=")[0]!);
    const asked = { method: "GET", target: request.path, fields, body: "" };
    const reply = this.#origin.replyTo(asked);
    // What is stored is from a time when the origin worked.
    const replied: Readonly<Record<string, unknown>> = this.#origin.usualReplyTo(asked).fields ?? {};
    const isAny = <T>(list: readonly T[] | undefined, test: (each: T) => boolean) =>
      list === undefined || list.some(test);
    return (
      isAny(routes ?? undefined, (each) => each === route) &&
      isAny(paths, (each) => each === path) &&
      isAny(methods, (each) => each === (request.method ?? "GET")) &&
      isAny(cookies, (each) => sent.some((name) => matchesAnyName(name, [each]))) &&
      isAny(requestFields, (each) => Object.keys(fields).some((name) => matchesAnyName(name, [each]))) &&
      isAny(parameters, (each) => query !== "" && names.some((name) => matchesAnyName(name, [each]))) &&
      isAny(answerFields, (each) => Object.hasOwn(replied, each)) &&
      isAny(answerValues && Object.entries(answerValues), ([name, value]) => value.test(String(replied[name] ?? ""))) &&
      isAny(statuses, (each) => (each === 0 ? reply.failure !== undefined : (reply.status ?? 200) === each)) &&
      (host === undefined ||
        (host === "foreign" ? !this.#hosts.includes(request.host!) : request.host !== this.#hosts[0]))
    );
  }
}

/** A value with what differs between both machines taken out. */
function comparable(value: unknown, field: string): string | undefined {
  if (value === undefined) return undefined;
  if (field === "location") return String(value).replace(/^http:\/\/[^/]+/, "");
  return String(value)
    .replace(/^(?:unix:|192\.0\.2\.7)$/, "the client")
    .replace(/^(?:127\.0\.0\.1:\d+|origin\.internal:8080)$/, "the origin");
}

function textOf(folder: string): string {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8").replace(/^\s*#.*$/gm, ""))
    .join("\n");
}
