import { problemResponse } from "./problem-response.ts";
import { readText } from "./read-text.ts";
import { repeatedName } from "./repeated-name.ts";

export type JsonBody =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "refused"; readonly response: Response };

/** The JSON of a call. `what` names it in a refusal. */
export async function readJson({ headers, body }: Request, maxBytes: number, what: string): Promise<JsonBody> {
  const refused = (...problem: Parameters<typeof problemResponse>): JsonBody => {
    return { kind: "refused", response: problemResponse(...problem) };
  };
  const mediaType = headers.get("content-type") ?? "no Content-Type";
  if (!/^application\/json\s*(;|$)/i.test(mediaType)) {
    return refused("unsupported-media-type", `Send the ${what} as application/json: this one is ${mediaType}.`);
  }
  const read = await readText(body, maxBytes);
  if (read.kind === "refused") return refused(read.code, `The ${what} was not read: ${read.because}.`);
  let value: unknown;
  try {
    value = JSON.parse(read.text);
  } catch (cause) {
    return refused("invalid", `The body is not JSON: ${(cause as Error).message}`);
  }
  const repeated = repeatedName(read.text);
  if (repeated !== null) return refused("invalid", `The name ${repeated} stands twice in one object: name it once.`);
  return { kind: "json", value };
}
