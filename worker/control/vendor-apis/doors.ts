import type { DoorName, Doors } from "../../../wire/doors.ts";
import { CONTROL_PREFIX } from "../../../wire/fields.ts";
import { MAX_PURGE_BYTES } from "../../../wire/purge-request.ts";
import type { Tokens } from "../../ports/access.ts";
import { type PurgePorts, purge } from "../purging/purge.ts";
import { readText } from "../read-text.ts";
import { repeatedName } from "../repeated-name.ts";
import { jsonObject, wideningFields } from "./door.ts";
import { type PurgeAddresses, whyTokenIsNeeded } from "./purge-addresses.ts";
import { VENDORS } from "./vendors.ts";

const DOORS_PREFIX = `${CONTROL_PREFIX}doors/`;

export interface DoorPorts extends PurgePorts {
  readonly tokens: Tokens;
  readonly doors: Doors;
  readonly purgeAddresses: PurgeAddresses;
}

/**
 * Answers a call in another vendor's form: under `/_tidemark/doors/`, or a PURGE or BAN of a page. `null` if it is at
 * none of the site's doors. `peer` is the address at the other end of the connection, where the platform tells it.
 */
export async function answerAtDoor(request: Request, peer: string | null, ports: DoorPorts): Promise<Response | null> {
  const { method, headers: fields } = request;
  const { origin, pathname, search } = new URL(request.url);
  const isPage = !pathname.startsWith(DOORS_PREFIX);
  const name = isPage ? doorOfPage(request, ports.doors) : pathname.slice(DOORS_PREFIX.length).split("/")[0]!;
  if (!isOpen(name, ports.doors)) return null;
  const door = VENDORS[name]!;
  const zone = ports.doors[name]!;
  const { words } = door;
  const token = door.token(fields);
  // `null` if an address replaces a token.
  const needed =
    isPage && name === "varnish" && token === null ? whyTokenIsNeeded(peer, fields, ports.purgeAddresses) : "";
  const access =
    needed === null
      ? ({ kind: "allowed", name: `address ${peer}` } as const)
      : // A token is bound to one door, and to its zone if it has one.
        await ports.tokens.check(token, zone === "" ? `door:${name}` : `door:${name}:${zone}`);
  if (access.kind === "refused") {
    // A token for all purges may purge a page as on any site.
    const isAnybodys = isPage && name === "varnish" && method === "PURGE" && wideningFields(fields).length === 0;
    const wrong = (token === null && words.noToken) || words.token;
    return isAnybodys && access.because === "forbidden" ? null : door.refuse(wrong, needed ?? "");
  }
  const read = await readText(request.body, MAX_PURGE_BYTES);
  if (read.kind === "refused") {
    const [status, ...texts] = words.invalid;
    return door.refuse([read.code === "too-large" ? 413 : status, ...texts], read.because);
  }
  const json = jsonObject(read.text);
  const repeated = json && repeatedName(read.text);
  if (repeated !== null) return door.refuse(words.invalid, `the name ${repeated} stands twice in one object`);
  const path = pathname.slice(isPage ? 1 : DOORS_PREFIX.length + name.length + 1);
  const { publicScheme, publicHost } = ports.rules;
  const site = publicHost === null ? origin : `${publicScheme}://${publicHost}`;
  const page = `${site}/${path}${search}`;
  const reading = door.read({ method, path, search, page, fields, zone, body: read.text, json: json ?? {} });
  if ("refusal" in reading) return door.refuse(words[reading.refusal], reading.because ?? "");
  const verdict = await purge({ ...reading.purge, reason: `door ${name}` }, { by: access.name, base: origin }, ports);
  if (verdict.kind === "accepted") return reading.answer(verdict.receipt);
  if (verdict.kind !== "invalid") return door.refuse(words.unavailable, "the purge log did not answer");
  const errors = verdict.errors.map(({ path: place, message }) => (place ? `${place}: ${message}` : message));
  return door.refuse(words.invalid, errors.join("; "));
}

/** The door for a request to a page of the site, if its method and its fields are those of one. */
function doorOfPage({ method, headers }: Request, doors: Doors): string {
  if (method === "PURGE" && headers.has("fastly-key") && isOpen("fastly", doors)) return "fastly";
  return method === "PURGE" || method === "BAN" ? "varnish" : "";
}

function isOpen(name: string, doors: Doors): name is DoorName {
  return Object.hasOwn(doors, name);
}
