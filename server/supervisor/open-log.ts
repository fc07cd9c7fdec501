import { randomUUID } from "node:crypto";
import type { Clock } from "../../worker/ports/clock.ts";
import type { AppendRequest } from "../../worker/purges/log/log-contract.ts";
import type { LogSettings } from "../../worker/purges/log/log-settings.ts";
import { CountedWarning } from "../counted-warning.ts";
import type { Clocks } from "../log/clock-steps.ts";
import { type GrantAtStart, LogFile } from "../log/log-file.ts";
import type { LogFolder } from "../log/log-folder.ts";
import { LogKeeper, type PurgeStep, type ServedLog } from "../log/log-keeper.ts";
import { refusesWrites, StorageError } from "../log/storage-error.ts";
import { messageOf } from "../message-of.ts";
import { MachineNote } from "../postgres/machine-note.ts";
import { expectSharedLog, openSharedLog } from "../postgres/open-shared-log.ts";
import { systemClock } from "../system-clock.ts";
import type { SupervisorEvent } from "./supervisor-events.ts";

export interface LogOptions {
  readonly clock: Clock & Clocks;
  readonly report: (event: SupervisorEvent) => void;
  readonly logSettings?: Partial<LogSettings>;
  /** The address of the PostgreSQL database whose log several machines share. Default: a log of its own in the folder. */
  readonly sharedLog?: string;
  /** How long a receipt waits for the workers' confirmations: milliseconds. Default: 250. */
  readonly confirmWithinMs?: number;
  /** Called at the steps of each purge, for tests that interrupt it. */
  readonly onPurgeStep?: (step: PurgeStep, purge: AppendRequest) => void;
}

/** Rejects, with a message for the owner, if the log is one of several machines and cannot be used now. */
export async function expectLog({
  sharedLog,
  clock = systemClock,
}: Partial<Pick<LogOptions, "sharedLog" | "clock">>): Promise<void> {
  if (sharedLog !== undefined) await expectSharedLog({ url: sharedLog, clock, random: Math.random });
}

/** Opens the log in a folder. `servers`: the server's own one if this is that of one of several sites, else `null`. */
export async function openLog(
  owned: LogFolder,
  grant: GrantAtStart,
  servers: LogFolder | null,
  { clock, report, logSettings, onPurgeStep, sharedLog, confirmWithinMs }: LogOptions,
): Promise<ServedLog> {
  const folder = owned.path;
  const kept = {
    clock,
    hasStrangers: () => owned.hasOrphans(),
    confirmWithinMs,
    onFailure: (cause: unknown) => report({ kind: "log-failed", cause }),
    onCounts: (cause: unknown) => report({ kind: "warning", line: countsInWords(folder, cause) }),
    onStep: onPurgeStep,
  };
  const settings = logSettings && { settings: logSettings };
  const counted = new CountedWarning((line) => report({ kind: "warning", line }));
  if (sharedLog !== undefined) {
    const machines = {
      onReplaced: (where: string) =>
        report({
          kind: "log-replaced",
          why: `the log in PostgreSQL at ${where} is not the one that this server used before`,
        }),
      onLateMachines: (names: readonly string[]) =>
        counted.add(
          `a purge settles only when the leases have run out, because ${names.join(", ")} did not confirm it in time`,
        ),
    };
    return openSharedLog({ url: sharedLog, folder, grant, ...kept, ...settings, ...machines, random: Math.random });
  }
  MachineNote.expectNoneIn(folder);
  const file = new LogFile({
    folder,
    clocks: clock,
    newId: randomUUID,
    grant,
    isOneOfSeveral: servers !== null,
    ...settings,
    claimFolder: () => {
      if (servers !== null) claimOnceWritable(servers);
      owned.claim();
    },
    onReplaced: (why) => report({ kind: "log-replaced", why }),
  });
  const onUnwritable = (cause: unknown) => report({ kind: "log-unwritable", cause });
  const onWritable = () => report({ kind: "log-writable" });
  const onSlowCommit = () =>
    counted.add(
      `the disk of the purge log in ${folder} is too slow, so pages went to the origin while it wrote a purge`,
    );
  return new LogKeeper({ file, ...kept, onUnwritable, onWritable, onSlowCommit });
}

/** Locks the server's own folder, unless its disk takes no writes: that must not keep a log on another disk from use. */
function claimOnceWritable(servers: LogFolder): void {
  try {
    servers.claim();
  } catch (cause) {
    if (!refusesWrites(servers.path)) throw cause;
  }
}

/** Whether the workers' reports can be stored, for the owner: `null` says that they can again. */
function countsInWords(folder: string, cause: unknown): string {
  if (cause === null) return `the counts of requests are stored in ${folder} again`;
  const why = messageOf((cause instanceof StorageError && cause.cause) || cause);
  return `the counts of requests cannot be stored in ${folder}, and wait in the workers, where a reload or stop loses them: ${why}`;
}
