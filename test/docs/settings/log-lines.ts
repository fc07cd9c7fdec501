import type { SupervisorEvent } from "../../../server/supervisor/supervisor-events.ts";

type OfKind<Kind extends SupervisorEvent["kind"]> = Extract<SupervisorEvent, { readonly kind: Kind }>;

/** An event as its line shows it, and what that means to whoever reads it. */
type Lines = { readonly [Kind in SupervisorEvent["kind"]]: readonly [event: OfKind<Kind>, meaning: string] };

/** Stands for what differs from line to line. */
const CAUSE = "…";

/** Every event that a server tells of. */
export const EVENT_LINES: Lines = {
  listening: [
    { kind: "listening", addresses: ["127.0.0.1:8080", "https://127.0.0.1:8443"], workers: 4, version: "0.2.0" },
    "It has started, or taken over from an older version.",
  ],
  "worker-listening": [
    { kind: "worker-listening", name: "worker-1", pid: 4711 },
    "A worker has started or been replaced.",
  ],
  "worker-died": [
    { kind: "worker-died", name: "worker-1", ending: { code: null, signal: "SIGKILL", because: null }, againInMs: 0 },
    "With SIGKILL the kernel lacked memory, or somebody killed it.",
  ],
  "worker-killed": [
    { kind: "worker-killed", name: "worker-1" },
    "Its answers took over an hour after a reload, or 9 s after a stop, a failed or third reload.",
  ],
  reloaded: [{ kind: "reloaded" }, "A changed config, or SIGHUP, has taken effect."],
  "reload-failed": [
    { kind: "reload-failed", cause: CAUSE },
    "The changed config, a variable or a certificate is not valid. Mend it; it is read again.",
  ],
  warning: [{ kind: "warning", line: CAUSE }, "A valid setting that may not be meant; the sentence says what to do."],
  reopened: [{ kind: "reopened" }, "After SIGUSR1: the old access log may be compressed or deleted."],
  upgraded: [{ kind: "upgraded", pid: 4711 }, "After SIGUSR2: the new version serves."],
  "upgrade-failed": [
    { kind: "upgrade-failed", cause: CAUSE },
    "The new version did not start, and nothing has changed. Mend what it names, and send SIGUSR2 again.",
  ],
  stopping: [{ kind: "stopping" }, "It answers what it has begun, and ends."],
  "log-replaced": [
    { kind: "log-replaced", why: CAUSE },
    "The log was restored, damaged, is another database, or lacks purges of a host that another site had. Misses rise until pages are stored again.",
  ],
  "log-unwritable": [
    { kind: "log-unwritable", cause: CAUSE },
    "The server has started on a disk that takes no writes, or cannot use the log of one of several sites.",
  ],
  "log-writable": [{ kind: "log-writable" }, "That is over."],
  "log-failed": [
    { kind: "log-failed", cause: CAUSE },
    "A call of the log failed. It is repeated, or its caller was refused.",
  ],
  "purges-refused": [{ kind: "purges-refused", cause: CAUSE }, "Purges get 503 until the cause is gone; hits go on."],
  "purges-taken": [
    { kind: "purges-taken", site: null },
    "That is over. Send refused purges again, with the same `id`.",
  ],
  "log-awaited": [
    { kind: "log-awaited", cause: CAUSE, withinMs: 30_000 },
    "At the start the database does not answer, or another process has locked the log's file. See to that.",
  ],
  "broken-peer": [
    { kind: "broken-peer", cause: CAUSE },
    "A process at the log's socket did not speak its protocol. Workers connect again by themselves.",
  ],
};

/** A line that one part of the server writes: `…` stands for what differs. */
export interface OtherLine {
  readonly line: string;
  readonly source: string;
  readonly meaning: string;
}

/** What the parts of a server say beside that. */
export const OTHER_LINES: readonly OtherLine[] = [
  {
    line: "it had computed since … without answering, and was killed",
    source: "server/supervisor/worker-process.ts",
    meaning:
      "A worker computed for 30 s and came to nothing else, perhaps in a slow regular expression: `tidemark serve --check` names the slowest. Told on Linux.",
  },
  {
    line: "no worker starts, so the server ends; the last one, …, ended: …",
    source: "server/supervisor/worker-process.ts",
    meaning: "Five died before they accepted connections, and no other answers. The exit code is 1.",
  },
  {
    line: "a purge settles only when the leases have run out, because … did not confirm it in time",
    source: "server/supervisor/open-log.ts",
    meaning: "A machine of the shared log is slow or gone. `tidemark purges` names it.",
  },
  {
    line: "the counts of requests cannot be stored in …, and wait in the workers, where a reload or stop loses them: …",
    source: "server/supervisor/open-log.ts",
    meaning: "[The disk is full](operations.md#the-disk-is-full), mostly. Make room before you reload.",
  },
  {
    line: "the counts may lack … requests, because the purge log did not take this worker's last report",
    source: "server/startup/started-site.ts",
    meaning: "A worker ended while the log was out of reach, or its disk full. Statistics lack that many.",
  },
  {
    line: "cut off, because answers had not ended within … s.",
    source: "server/program/edge-program.ts",
    meaning:
      "Downloads or streams took over 9 s after a stop, a failed or third reload, or over an hour after another reload.",
  },
  {
    line: "TIDEMARK_TOKEN is not set, so nobody can purge.",
    source: "server/startup/prepared-site.ts",
    meaning: "Set it, or `TIDEMARK_TOKENS`.",
  },
  {
    line: "--disk is …, but the file system of … has only",
    source: "server/startup/disk-room.ts",
    meaning: "Name a smaller `--disk`, or a larger disk. Pages get what is there.",
  },
  {
    line: "--workers … and --memory … may take …, but only … may be used here",
    source: "server/startup/memory-room.ts",
    meaning:
      "Set fewer workers, or less memory for pages, or provide more memory: the system kills workers when it has no more memory.",
  },
  {
    line: "each worker accepts at most … connections, because a process may open only … files here",
    source: "server/startup/connection-limit.ts",
    meaning: "Raise it by `LimitNOFILE=`, `--ulimit nofile=` or `ulimit -n`.",
  },
  {
    line: "the token for the parent … could be read on the way",
    source: "server/startup/prepared-site.ts",
    meaning: "Name the parent by https.",
  },
  {
    line: "… expires in … days. Renew it, then send SIGHUP.",
    source: "server/connections/certificates.ts",
    meaning: "A certificate in a file. Renew it, and send SIGHUP.",
  },
  {
    line: "… stands alone in its file, so many clients refuse it. Name the file with the whole chain.",
    source: "server/connections/certificates.ts",
    meaning: "Browsers fetch what is missing; other clients do not. Name `fullchain.pem`.",
  },
  {
    line: "… has a chain that clients refuse: its number … did not issue the one before it.",
    source: "server/connections/certificates.ts",
    meaning: "Put the site's own certificate first, then the one of its issuer, and so on.",
  },
  {
    line: "the old certificates stay in use, but with the new settings: …",
    source: "server/startup/prepare-server.ts",
    meaning: "A certificate cannot be used, and nothing else waits for it. Mend it; all are read again.",
  },
  {
    line: "no certificate names …: browsers are shown another one there, and refuse it.",
    source: "server/startup/prepare-server.ts",
    meaning: "Public hosts of the sites that are in no certificate, and below no wildcard. Add one, and send SIGHUP.",
  },
  {
    line: "no certificate is ordered for …, because these are not public host names.",
    source: "server/acme/prepared-acme.ts",
    meaning: "`localhost`, an address, or a name such as `box.local`.",
  },
  {
    line: "systemd passed its sockets to process …, but this is process …: let the unit start node itself",
    source: "server/supervisor/activated-sockets.ts",
    meaning: "The unit starts `npx` or a shell, and the sockets are not used.",
  },
  {
    line: "systemd cannot be told the state of this service: …",
    source: "server/startup/service-manager.ts",
    meaning: "The command `systemd-notify` is missing.",
  },
  {
    line: "the pid file cannot be written: …",
    source: "server/startup/pid-file.ts",
    meaning: "The server runs all the same.",
  },
  {
    line: "The cache in … cannot be used (…). For now, pages are kept only in memory.",
    source: "server/disk/disk-health.ts",
    meaning: "The disk is full, read-only or broken. It is tried again every 5 s.",
  },
  { line: "The cache in … works again.", source: "server/disk/disk-health.ts", meaning: "That is over." },
  {
    line: "Others have left no room in the file system of …. For now, pages are kept only in memory.",
    source: "server/disk/eviction/janitor.ts",
    meaning: "All pages have left, and there is no room beyond what [log files may need](server.md#disk).",
  },
  {
    line: "There is room for the cache in … again.",
    source: "server/disk/eviction/janitor.ts",
    meaning: "That is over.",
  },
  {
    line: "is too slow, so some pages are kept only in memory",
    source: "server/disk/backlog.ts",
    meaning: "32 MiB of pages wait in a worker for the disk. The line says how many pages were not written.",
  },
  {
    line: "the disk of the purge log in … is too slow, so pages went to the origin while it wrote a purge",
    source: "server/supervisor/open-log.ts",
    meaning:
      "That took longer than the workers may serve pages without news of the log (`purge.leaseMs`). It needs a faster disk.",
  },
  {
    line: "The access log … cannot be written: … Its lines wait in memory.",
    source: "server/connections/access-log.ts",
    meaning: "Up to 8 MiB in each worker wait; what is beyond is counted, and lost.",
  },
  {
    line: "The access log … can be written again.",
    source: "server/connections/access-log.ts",
    meaning: "That is over.",
  },
  {
    line: "The access log … cannot be reopened, so the server still writes the old file: …",
    source: "server/connections/access-log.ts",
    meaning: "After a rotation: the server may not write the folder.",
  },
  {
    line: "The origin … cannot be reached, or hung up (…)",
    source: "worker/metrics/counters.ts",
    meaning:
      "[The origin is down](operations.md#the-origin-is-down-or-slow), or only gives no answer for single pages. Each worker tells it once a minute at most, with the number of failures.",
  },
  {
    line: "The origin … took too long to answer",
    source: "worker/metrics/counters.ts",
    meaning: "The same, with no head of an answer within `limits.originTimeout`.",
  },
  {
    line: "The origin … answers again.",
    source: "worker/metrics/counters.ts",
    meaning: "At least for one page.",
  },
  {
    line: "The origin … gave an answer that is not valid HTTP, or over this edge's limits (…)",
    source: "worker/metrics/counters.ts",
    meaning: "Each worker tells it once. `--log-format json` has all: `origin-bad-response`.",
  },
  {
    line: "The purge log cannot be reached (…). Until it answers, …",
    source: "worker/metrics/counters.ts",
    meaning: "The log's process does not answer this worker. [See to the log](operations.md#purges-get-503).",
  },
  {
    line: "The purge log answers again.",
    source: "worker/metrics/counters.ts",
    meaning: "That is over.",
  },
  {
    line: "the origin's address … takes no connection (…), so others are asked first",
    source: "server/origin/failed-addresses.ts",
    meaning:
      "Of an origin with several addresses, or a name that has several; the line says why. It is tried again every 10 s.",
  },
  {
    line: "the origin's address … answers again",
    source: "server/origin/failed-addresses.ts",
    meaning: "That is over.",
  },
  {
    line: "the parent … fails (…: …)",
    source: "server/tiers/parent-origin.ts",
    meaning: "The origin is asked in its place, if `--origin` names one; the parent again after 1 to 16 s.",
  },
  { line: "the parent … answers again", source: "server/tiers/parent-origin.ts", meaning: "That is over." },
  {
    line: "the parent … reads another purge log",
    source: "server/tiers/parent-origin.ts",
    meaning: "Give both the same `--log`. Until then the parent asks the origin for each request of this server.",
  },
  {
    line: "the parent … has other rules",
    source: "server/tiers/parent-origin.ts",
    meaning: "Give both the same config. The same holds meanwhile.",
  },
  {
    line: "the child … has other rules",
    source: "server/tiers/children.ts",
    meaning: "The same, told by the parent.",
  },
  {
    line: "parents form a ring",
    source: "server/tiers/children.ts",
    meaning: "A server is its own parent, perhaps through others. Such requests get 508.",
  },
  {
    line: "Node's own server answers all requests, because the trial of the faster way failed: …",
    source: "server/connections/start-listener.ts",
    meaning: "This version of Node has changed. Hits cost more; nothing else differs.",
  },
  {
    line: "The edge failed on a request: …",
    source: "server/connections/listener.ts",
    meaning: "A bug. Please report it, with the stack.",
  },
  {
    line: "Tidemark failed on a request…: …",
    source: "worker/metrics/counters.ts",
    meaning: "A bug. Please report it, with the stack. The request was sent to the origin, or got 502.",
  },
  {
    line: "there is a new certificate for …, valid until …",
    source: "server/acme/keeper-texts.ts",
    meaning: "ACME has worked.",
  },
  {
    line: "the certificate for … was not renewed yet: …",
    source: "server/acme/keeper-texts.ts",
    meaning: "An attempt failed; the line says when the next one is. More than a third of the lifetime is left.",
  },
  {
    line: "the certificate for … expires in … days, and could not be renewed: …",
    source: "server/acme/keeper-texts.ts",
    meaning: "The same, with less than a third left: see to it.",
  },
  {
    line: "there is no certificate for …: …",
    source: "server/acme/keeper-texts.ts",
    meaning: "The first order failed: connections with TLS for that host fail.",
  },
  {
    line: "site …: its purge log is out of reach: …",
    source: "server/supervisor/worker-main.ts",
    meaning:
      "The folder of one of several sites' logs is gone, or cannot be locked. Put it back as it was, or restart the server; until then new workers answer 503 for this site.",
  },
  {
    line: "site …: its purge log does not answer, so the server answers 503 for this site until it does.",
    source: "server/program/edge-program.ts",
    meaning: "One of several sites has lost its log; the others go on.",
  },
  {
    line: "the purge log does not answer, so this worker answers 503 until it does.",
    source: "server/program/edge-program.ts",
    meaning: "It has taken the place of the last one.",
  },
  {
    line: "A connection was refused: …",
    source: "server/connections/proxied-connections.ts",
    meaning:
      "With `--proxy-protocol`: no PROXY header came, or not from one of the `trustedProxies`. Told once a minute, with their number.",
  },
  {
    line: "connections were closed without an answer, far above the … that this worker takes",
    source: "server/connections/listener.ts",
    meaning:
      "More workers, or a higher `LimitNOFILE=`, raise [the limit](server.md#processes). Told once a minute, with their number.",
  },
  {
    line: "HTTP/2 connections were closed because they flooded the server",
    source: "server/http2/http2-sessions.ts",
    meaning: "They went beyond [a limit](server.md#limits-of-a-connection). Told once a minute, with their number.",
  },
  {
    line: "The access log … lost …, because ….",
    source: "server/connections/access-log.ts",
    meaning: "So many requests are not in the access log.",
  },
  {
    line: "Each worker asks the origin for itself",
    source: "server/cache-lock/machine-fetches.ts",
    meaning:
      "The folder of locks, `/dev/shm` or below `pages`, cannot be used or is full. Pages are fetched once per worker.",
  },
  {
    line: "Workers share their fetches again.",
    source: "server/cache-lock/machine-fetches.ts",
    meaning: "The folder of locks works again.",
  },
];
