import type { Explanation } from "../../wire/explanation.ts";
import { MAX_PRETENDED_BYTES, pretendedRequestSchema } from "../../wire/pretended-request.ts";
import { IN_ENGLISH } from "../../wire/text/english.ts";
import { Fields } from "../rules/fields/fields.ts";
import { errorsOf } from "./errors-of.ts";
import { problemResponse } from "./problem-response.ts";
import { readJson } from "./read-json.ts";

/** Says what the corridor would do with a request. */
export type ExplainPage = (url: string, method: string, fields: Fields) => Promise<Explanation>;

export type PretendedVerdict =
  | { readonly kind: "request"; readonly url: string; readonly method: string; readonly fields: Fields }
  | { readonly kind: "refused"; readonly response: Response };

/**
 * The request that a call of `explain` pretends. A relative URL belongs to the host that was asked; if the site has other
 * hosts alone, as where its server is asked by its address, to the first of them.
 */
export async function readPretended(
  query: Readonly<Record<string, string>>,
  call: Request,
  hosts: readonly string[] | null,
): Promise<PretendedVerdict> {
  const read = call.method === "POST" ? await readJson(call, MAX_PRETENDED_BYTES, "request") : NO_BODY;
  if (read.kind === "refused") return read;
  const checked = pretendedRequestSchema.safeParse({ ...(read.value as object), ...query }, IN_ENGLISH);
  if (!checked.success) {
    const errors = errorsOf(checked.error, pretendedRequestSchema);
    return { kind: "refused", response: problemResponse("invalid", "Correct the fields listed in errors.", errors) };
  }
  const { url, method = "GET", fields: named = {} } = checked.data;
  const fields = new Fields(Object.entries(named));
  // The edge takes the host of the URL, and its explanation would be of another page.
  if (fields.get("host") !== null) {
    return {
      kind: "refused",
      response: problemResponse("invalid", "The URL names the host: leave out the field host."),
    };
  }
  const absolute = url.startsWith("/") ? baseOf(new URL(call.url), hosts) + url : url;
  return { kind: "request", url: absolute, method, fields };
}

function baseOf({ protocol, host, origin }: URL, hosts: readonly string[] | null): string {
  return hosts === null || hosts.includes(host) ? origin : `${protocol}//${hosts[0]}`;
}

const NO_BODY = { kind: "json", value: {} } as const;
