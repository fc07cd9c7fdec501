import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { readNamedTokens } from "../../worker/control/access/named-tokens.ts";
import { configuredTokens } from "../../worker/control/access/tokens.ts";
import type { FillBudget } from "../../worker/isolate.ts";
import type { LearningIsolate } from "../../worker/learning-isolate.ts";
import type { ReadLedger } from "../../worker/metrics/reports.ts";
import type { Platform } from "../../worker/platform.ts";
import type { Bodies } from "../../worker/ports/bodies.ts";
import type { Origin } from "../../worker/ports/origin.ts";
import type { PermitsOf } from "../../worker/ports/origin-permits.ts";
import { BROUGHT_WITHIN_MS } from "../../worker/rules/queueing/queue-order.ts";
import { compressionSettings } from "../../worker/site/compression-settings.ts";
import { compileSite, type Site } from "../../worker/site/site.ts";
import type { LimitsInput } from "../../worker/site/site-input.ts";
import type { MemoryEntries } from "../../worker/store/memory-tier.ts";
import { nodeBodies } from "../bodies/node-bodies.ts";
import type { MachineFetches } from "../cache-lock/machine-fetches.ts";
import type { DictionaryMemory } from "../compression/dictionary-memory.ts";
import type { MakingQueue } from "../compression/making-queue.ts";
import { NodeCompression } from "../compression/node-compression.ts";
import type { DiskTier } from "../disk/disk-tier.ts";
import type { LogCalls } from "../log/log-messages.ts";
import { addressText, type OriginAddress } from "../origin/origin-address.ts";
import type { OriginTalks } from "../origin/origin-talks.ts";
import { connectToSeveral, type OriginAtAddress } from "../origin/several-addresses.ts";
import { UndiciOrigin, type UndiciOriginOptions } from "../origin/undici-origin.ts";
import type { PermitLeases } from "../permits/leased-permits.ts";
import { startNodeIsolate } from "../program/node-isolate.ts";
import { systemClock } from "../system-clock.ts";
import { connectToParent, ParentOrigin } from "../tiers/parent-origin.ts";
import { withRoomForTiers } from "../tiers/room-for-tiers.ts";
import { rulesFingerprint } from "../tiers/rules-fingerprint.ts";
import { partOfEach } from "./connection-limit.ts";
import type { SiteSettings } from "./edge-settings.ts";
import { memoryAlone } from "./memory-alone.ts";

/** A site in a worker's process: its rules, its isolate and its connections to the origin. */
export interface StartedSite {
  readonly settings: SiteSettings;
  readonly site: Site;
  /** The fingerprint of its rules. */
  readonly rules: string;
  readonly isolate: LearningIsolate;
  /** Reports to the ledger for the last time, and ends. */
  end(): Promise<void>;
}

/** What a site gets from its process. */
export interface SiteParts {
  readonly log: LogCalls;
  /** All sites of this process hold bodies of requests in the same room. */
  readonly bodies: Bodies;
  /** For pages, all sites of this process together. */
  readonly memoryBytes: number;
  /** The site's part of what several sites share. */
  readonly memory: MemoryEntries;
  readonly fills?: FillBudget;
  /** The turns in which all sites of this process compress. */
  readonly compressing: MakingQueue;
  /** For the dictionaries of all sites of this process. */
  readonly dictionaries: DictionaryMemory;
  /** The name of the worker in an explanation, if there are several. */
  readonly worker: string | undefined;
  /** `null` for none. */
  readonly tier: DiskTier | null;
  /** The largest body for which the disk has room; `null` without a disk. */
  readonly largestBodyBytes: number | null;
  /** Reads its ledger for its owner. Default: as the log gives it. */
  readonly readLedger?: ReadLedger | undefined;
  /** What the workers of the machine know of refusals. Default: what this one knows. */
  readonly lastRefusal?: Platform["lastRefusal"];
  /** The fetches of all workers of this machine. Default: each worker fetches for itself. */
  readonly fetches?: MachineFetches | undefined;
  /** The permits for the origins, which all workers of the machine share. */
  readonly permits: PermitLeases;
  /** What the workers of the machine tell each other of their origins. */
  readonly originTalks: OriginTalks;
  /** How many workers the machine has. */
  readonly workers: number;
  /** Connections to its origin at a time, and to its parent; `null` without a limit. */
  readonly maxOriginConnections: number | null;
  /** Whether visitors get its pages by now. */
  readonly isServed: () => boolean;
  readonly write: (line: string) => void;
}

export function startSite(
  settings: SiteSettings,
  { memoryBytes, largestBodyBytes, tier, fetches, compressing, maxOriginConnections, ...given }: SiteParts,
): StartedSite {
  const { permits: leases, originTalks, dictionaries, workers, ...parts } = given;
  const compiled = withPartOfQueue(compileSite(settings.site, settings.overrides), workers);
  const rules = rulesFingerprint(compiled); // Memory and disk are each machine's own.
  const site = withLimitsOfServer(compiled, settings.site.limits, { memoryBytes, largestBodyBytes });
  const { origin, close } = originOf(settings, site, rules, maxOriginConnections, parts.write);
  const compresses = compressionSettings(settings.site);
  const files = tier?.compression ?? null;
  const isolate = startNodeIsolate(settings.parent === null ? site : withRoomForTiers(site), {
    ...parts,
    compression: compresses
      ? new NodeCompression({ settings: compresses, memoryBytes, files, queue: compressing, dictionaries })
      : undefined,
    clock: systemClock,
    random: Math.random,
    sharedTier: tier ?? memoryAlone,
    fetchesElsewhere: tier ? fetches?.ofSite(settings.name, (key) => tier.hasEntry(key)) : undefined,
    origin,
    permitsOf: permitsOf(settings, site, leases, workers),
    originTalk: originTalks.of(JSON.stringify([settings.name, settings.origin, site.otherOriginUrls, settings.parent])),
    originName: settings.origin ? addressText(settings.origin) : undefined,
    timer: { now: () => performance.now(), runsInMemory: true },
    isolate: randomUUID(),
    pop: hostname(),
    tokens: configuredTokens(settings.tokens, () => undefined, readNamedTokens), // the supervisor has said what is wrong with them
  });
  return {
    settings,
    site,
    rules,
    isolate,
    end: async () => {
      const lacking = await isolate.reportLast();
      if (lacking > 0) {
        given.write(
          `the counts may lack ${lacking} requests, because the purge log did not take this worker's last report`,
        );
      }
      await tier?.end();
      await close();
    },
  };
}

/**
 * Each worker has its own queue, and all of them together as many places as the owner says, but each has one, for long
 * enough: a request waits in it while a permit that is free in another worker is brought.
 */
function withPartOfQueue(site: Site, workers: number): Site {
  const { capacity } = site;
  if (capacity === null) return site;
  const maxMs = Math.max(BROUGHT_WITHIN_MS, capacity.queue.maxMs);
  const maxWaiting = Math.max(1, Math.ceil(capacity.queue.maxWaiting / workers));
  return { ...site, capacity: { ...capacity, queue: { maxMs, maxWaiting } } };
}

/** What a worker may ask of the origin. A parent has permits of its own. */
function permitsOf(
  { name, parent }: SiteSettings,
  { capacity }: Site,
  leases: PermitLeases,
  workers: number,
): PermitsOf | undefined {
  if (capacity === null || parent !== null) return undefined;
  return (part, concurrency) => leases.of(part === null ? name : `${name} ${part}`, concurrency, workers);
}

/** The origin, or a parent in its place, and what ends their connections. */
function originOf(
  { origin: address, parent, node }: SiteSettings,
  site: Site,
  rules: string,
  maxConnections: number | null,
  say: (line: string) => void,
): { readonly origin: Origin; close(): Promise<unknown> } {
  const common = { timeoutMs: site.limits.originTimeoutMs, bodies: nodeBodies, maxConnections };
  const tellsPublicHost = site.forward.host === "visitor";
  const itself = address && connectToOrigin(address, { site, tellsPublicHost, ...common }, say);
  if (parent === null) return { origin: itself!, close: () => itself!.close() };
  const connection = connectToParent({ address: parent.address, ...common });
  const origin = new ParentOrigin({
    parent: connection,
    origin: itself,
    token: parent.token,
    node,
    rules,
    originFields: site.originFields.map(([name]) => name.toLowerCase()),
    waitsMs: connection.timeoutMs,
    now: () => systemClock.now(),
    say,
  });
  return { origin, close: () => Promise.all([connection.close(), itself?.close()]) };
}

/** The origin at its address, or at each of several in turn. They get the name of the first, whose links are the site's. */
function connectToOrigin(
  address: OriginAddress,
  { site, maxConnections, ...options }: Omit<UndiciOriginOptions, "address" | "say"> & { readonly site: Site },
  say: (line: string) => void,
): OriginAtAddress {
  const others = site.otherOriginUrls.map((url) => ({ url, socketPath: null }));
  const count = 1 + others.length;
  if (count === 1) return new UndiciOrigin({ address, maxConnections: maxConnections ?? null, say, ...options });
  const ofEach = { ...options, maxConnections: maxConnections ? partOfEach(maxConnections, count) : null };
  return connectToSeveral([address, ...others], ofEach, () => systemClock.now(), say);
}

/** How many paths have to fail until the origin counts as down, if the owner does not say. */
const ORIGIN_DOWN_AFTER = 3;

/** The limits that follow from the server's memory and disk. */
function withLimitsOfServer(
  site: Site,
  given: LimitsInput | undefined,
  { memoryBytes, largestBodyBytes }: Pick<SiteParts, "memoryBytes" | "largestBodyBytes">,
): Site {
  const { limits } = site;
  const largeBytes = largeBytesOf(limits, given?.largeBytes !== undefined, largestBodyBytes);
  const originDownAfter = given?.originDownAfter ?? ORIGIN_DOWN_AFTER;
  return { ...site, limits: { ...limits, memoryBytes, largeBytes, originDownAfter } };
}

/** The largest body that is stored at all, in bytes. With a disk, the owner's word on it counts most. */
function largeBytesOf(
  { storeBytes, largeBytes }: Site["limits"],
  isGiven: boolean,
  largestBodyBytes: number | null,
): number {
  if (largestBodyBytes === null) return Math.min(largeBytes, storeBytes); // Nothing is stored apart from its head.
  // A body that is stored with its head may have its place in memory alone.
  return isGiven ? largeBytes : Math.max(largestBodyBytes, storeBytes);
}
