import { UNSAFE } from "../../by-design.ts";
import type { Difference, Source } from "../../imported-site.ts";
import type { Directive } from "../files/directives.ts";
import { fieldOf } from "../origin-fields.ts";
import type { CachedLocation, LocationPart } from "./cached-location.ts";

/** Fields that the edge does not send to visitors either. */
const NEVER_PASSED_ON =
  /^(?:x-cache|surrogate-control|surrogate-key|cache-tag|xkey|cdn-tag|x-cache-tags|connection|keep-alive)$/;

/** Which of the origin's fields visitors get: `Set-Cookie` and `proxy_hide_header`. */
export function readAnswerFields(
  location: CachedLocation,
  { keepsSetCookie }: { readonly keepsSetCookie: boolean },
): LocationPart {
  const ignore = location.read("ignore_headers");
  const hidden = location.read("hide_header");
  const ignoresSetCookie = location.ignoredFields.has("set-cookie");
  const hidesSetCookie = hidden.find((line) => fieldOf(line) === "set-cookie");
  const stripSetCookie = ignoresSetCookie && hidesSetCookie !== undefined && !keepsSetCookie;
  const from: Source[] = [];
  const differences: Difference[] = [];
  if (stripSetCookie) {
    from.push(ignore[0]!.source, hidesSetCookie.source);
    const why = "Set-Cookie is removed only from answers to GET and HEAD, so that forms work.";
    const affects = { methods: UNSAFE, answerFields: ["set-cookie"] };
    differences.push({
      ...location.difference("changed", hidesSetCookie.source, why, ["response-field"], affects),
      field: "set-cookie",
    });
  } else if (ignoresSetCookie && !keepsSetCookie) {
    const why =
      "nginx stores the answer with its Set-Cookie and gives one visitor's cookie to all others. An answer with Set-Cookie is not stored. If the page is the same for all visitors, write stripSetCookie: true.";
    const affects = { answerFields: ["set-cookie"] };
    differences.push({
      ...location.difference("safer", ignore[0]!.source, why, ["stored", "answer", "response-field"], affects),
      field: "set-cookie",
    });
  }
  from.push(...hidden.filter(isNeverPassedOn).map(({ source }) => source));
  differences.push(...hiddenFieldDifferences(location, { isStripped: stripSetCookie }));
  return { rules: stripSetCookie ? { stripSetCookie } : {}, from, differences };
}

/** What nginx hid from visitors. `isStripped`: whether the edge removes `Set-Cookie`. */
export function hiddenFieldDifferences(
  location: CachedLocation,
  { isStripped }: { readonly isStripped: boolean },
): readonly Difference[] {
  return location.read("hide_header").flatMap((line) => {
    const field = fieldOf(line);
    if (isNeverPassedOn(line) || (isStripped && field === "set-cookie")) return [];
    const why = `The edge passes ${line.args[0]} on: the origin must leave it out.`;
    const affects = { answerFields: [field] };
    return [{ ...location.difference("dropped", line.source, why, ["response-field"], affects), field }];
  });
}

function isNeverPassedOn(line: Directive): boolean {
  return NEVER_PASSED_ON.test(fieldOf(line));
}
