import { counted, ms, size, whole } from "../wire/text/numbers.ts";
import { read } from "./api.ts";
import { type Child, fill, h, table } from "./elements.ts";

interface Settings {
  readonly version: number;
  readonly routes?: readonly Readonly<Record<string, unknown>>[];
  readonly limits: Readonly<Record<string, number>>;
  readonly purge: Readonly<Record<string, number | boolean>>;
  readonly [name: string]: unknown;
}

export async function refreshRules(): Promise<void> {
  const { version: _, routes = [], limits, purge, ...rest } = await read<Settings>("site");
  const rows = routes.map(({ match, ...settings }, index) => [
    whole(index + 1),
    h("code", String(match)),
    lines(settings),
  ]);
  fill(
    "rules",
    h(
      "p",
      `${counted(routes.length, "route")}, in order: the first that matches applies. Where none matches, the origin's fields decide.`,
    ),
    rows.length > 0 && table("Routes", ["No.", "Path", "Settings"], rows),
    h("h2", "Site"),
    lines(rest),
    h("h2", "Limits and purges"),
    list(Object.entries({ ...limits, ...purge }).map(([name, value]) => [name, amount(name, value)])),
  );
}

function lines(settings: Readonly<Record<string, unknown>>): Child {
  return list(Object.entries(settings).map(([name, value]) => [name, JSON.stringify(value)]));
}

function list(rows: readonly (readonly [string, string | undefined])[]): Child {
  return h("dl", ...rows.flatMap(([name, text]) => [h("dt", name), h("dd", h("code", text))]));
}

/** A setting whose name ends in its unit, or a switch. */
function amount(name: string, value: number | boolean): string {
  if (typeof value === "boolean") return String(value);
  if (/bytes$/i.test(name)) return size(value);
  return name.endsWith("Ms") ? ms(value) : whole(value);
}
