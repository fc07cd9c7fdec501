import type { PurgeReceiptBody } from "../wire/purge-receipt.ts";
import type { PurgeRecordBody, PurgeRecordPageBody } from "../wire/purge-record.ts";
import type { PurgeRequestBody } from "../wire/purge-request.ts";
import { counted, whole } from "../wire/text/numbers.ts";
import { hasPurgeToken, purge, Refused, read, rememberPurgeToken } from "./api.ts";
import { byId, type Child, fill, h, say, table } from "./elements.ts";
import { readAgain } from "./pages.ts";
import { instant } from "./words.ts";

/** The rows that each wish for older purges adds, the most in one answer of the edge, and the most items in a row. */
const ROWS = 25;
const MAX_ROWS = 500;
const ITEMS = 3;

const LIVE_MS = 1_000;
const QUIET_MS = 10_000;

/** How many of the latest purges are shown. */
let wanted = ROWS;
/** The numbers of the shown purges that have not settled. */
let unsettled: number[] = [];
/** The purge of the form as it is, with its id, so that it happens once however often it is sent; `null` once edited. */
let tried: PurgeRequestBody | null = null;

export function startPurges(): void {
  const form = byId<HTMLFormElement>("purge");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(true);
  });
  form.addEventListener("input", () => hold(null));
  byId("wet").addEventListener("click", () => void send(false));
  byId("more").addEventListener("click", () => {
    wanted += ROWS;
    readAgain();
  });
}

/** Shows the latest purges. Resolves to the time until the trail changes. */
export async function refreshPurges(): Promise<number> {
  byId("purge-token-row").hidden = hasPurgeToken();
  const rows: PurgeRecordBody[] = [];
  let page: PurgeRecordPageBody;
  let before = "";
  do {
    page = await read(`purges?limit=${Math.min(wanted - rows.length, MAX_ROWS)}${before}`);
    rows.push(...page.purges);
    before = `&before=${page.next}`;
  } while (page.next !== null && rows.length < wanted);
  for (const { seq, settled } of rows) if (settled && unsettled.includes(seq)) say(`Purge ${seq} has settled.`);
  unsettled = rows.flatMap(({ seq, settled }) => (settled ? [] : seq));
  byId("more").hidden = page.next === null;
  const columns = ["No.", "Items", "Mode", "State", "When", "By"];
  const nothing = h("p", { class: "soft" }, "Nothing has been purged yet.");
  fill("trail", rows.length === 0 ? nothing : table("Trail", columns, rows.map(row)));
  return unsettled.length > 0 ? LIVE_MS : QUIET_MS;
}

function row({ seq, items, itemCount, mode, settled, at, by, reason, repeatOf }: PurgeRecordBody): Child[] {
  const more = itemCount - Math.min(ITEMS, items.length);
  const why = [reason, repeatOf !== null && `again, after ${repeatOf}`].filter(Boolean).join("; ");
  return [
    whole(seq),
    h("span", h("code", items.slice(0, ITEMS).join("  ")), more > 0 && ` and ${whole(more)} more`, h("small", why)),
    mode,
    h("span", { class: settled ? "badge good" : "badge" }, settled ? "settled" : "settling …"),
    instant(at),
    by,
  ];
}

/** Tries the purge of the form's items, or carries out the tried purge. */
async function send(dryRun: boolean): Promise<void> {
  const given = byId<HTMLInputElement>("purge-token").value || null;
  if (given === null && !hasPurgeToken()) {
    byId("purge-token-row").hidden = false;
    showPlan(
      false,
      h("p", { class: "note" }, "A purge needs a token with the scope purge: the session may only read."),
    );
    byId("purge-token").focus();
    return;
  }
  const request = dryRun ? requestOfForm() : tried;
  if (!request) return;
  hold(request);
  try {
    const receipt = await purge<PurgeReceiptBody>(dryRun ? { ...request, dryRun } : request, given);
    if (given !== null) rememberPurgeToken(given);
    byId<HTMLInputElement>("purge-token").value = "";
    if (!dryRun) accepted(receipt);
    else if (request === tried) showPlan(true, ...plan(receipt));
    if (document.activeElement?.id === "purge-token") byId("wet").focus(); // the field is hidden next
    byId("purge-token-row").hidden = true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const isDenied = [401, 403].includes(error.status);
    if (isDenied) {
      rememberPurgeToken(null);
      byId("purge-token-row").hidden = false;
    }
    // With the same id, so that it may be sent again.
    const mayPurge = !dryRun && !isDenied && request === tried;
    if (!dryRun || request === tried) showPlan(mayPurge, h("p", { class: "note" }, h("pre", error.message)));
  }
}

function hold(request: PurgeRequestBody | null): void {
  tried = request;
  showPlan(false);
}

/** Shows what is known about a purge, and whether the tried one may be carried out now. */
function showPlan(mayPurge: boolean, ...children: Child[]): void {
  if (!mayPurge && document.activeElement?.id === "wet") byId("plan").focus();
  byId<HTMLButtonElement>("wet").disabled = !mayPurge;
  fill("plan", ...children);
}

/** The purge in the words of `tidemark purge -`: a kind and a colon, or a URL. */
function requestOfForm(): PurgeRequestBody {
  const lines = byId<HTMLTextAreaElement>("items")
    .value.split("\n")
    .flatMap((line) => line.trim() || []);
  const of = (kind: string) => lines.flatMap((line) => (line.startsWith(kind) ? [line.slice(kind.length)] : []));
  const lists = {
    tags: of("tag:"),
    prefixes: of("prefix:"),
    hosts: of("host:"),
    urls: lines.filter((line) => line !== "everything" && !/^(?:tag|prefix|host):/.test(line)),
  };
  const named = Object.entries(lists).filter(([, list]) => list.length > 0);
  const reason = byId<HTMLInputElement>("reason").value;
  return {
    ...Object.fromEntries(named),
    ...(lines.includes("everything") && { everything: true as const }),
    mode: byId<HTMLSelectElement>("mode").value as "hard" | "soft",
    ...(reason !== "" && { reason }),
    id: `dashboard-${crypto.getRandomValues(new Uint32Array(4)).join("-")}`,
  };
}

function plan({ planned = [], warnings = [], accepted: { everything } }: PurgeReceiptBody): Child[] {
  const items = planned.map(({ item, key, route }) => [
    h("code", item),
    h("code", key),
    route === undefined ? "" : (route ?? "no route"),
  ]);
  return [
    h(
      "p",
      `This would purge ${everything ? "the whole site" : counted(items.length, "item")}. Nothing has happened yet.`,
    ),
    ...warnings.map((text) => h("p", { class: "note" }, text)),
    items.length > 0 && table("Plan", ["Item", "Key", "Route"], items),
  ];
}

function accepted({ seq, settlesInMs, replayed }: PurgeReceiptBody): void {
  const words = `Purge ${seq} ${replayed ? "was accepted earlier" : "is accepted"}.`;
  showPlan(false, h("p", { class: "note good" }, `${words} It settles in ${settlesInMs / 1000} s: see the trail.`));
  unsettled.push(seq);
  readAgain();
}
