import { BenchFailure } from "../frame/bench-failure.ts";
import type { WireAnswer } from "../load/raw-request.ts";

/** The largest difference of second counts in two answers, because one was requested after the other. */
const MAX_SECONDS_APART = 60;

/** Fails unless two answers are the same on the wire, field by field and byte by byte, except for counted seconds. */
export function assertSameAnswer(name: string, expected: WireAnswer, actual: WireAnswer): void {
  const differences = [
    ...(expected.status === actual.status ? [] : [`status ${actual.status}, not ${expected.status}`]),
    ...(expected.body === actual.body ? [] : ["another body"]),
    ...fieldDifferences(expected.fields, actual.fields),
  ];
  if (differences.length > 0) {
    throw new BenchFailure(`${name} does not send what a memory hit sends: ${differences.join("; ")}.`);
  }
}

function fieldDifferences(expected: WireAnswer["fields"], actual: WireAnswer["fields"]): string[] {
  const [wanted, found] = [expected, actual].map((fields) => fields.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const names = (fields: WireAnswer["fields"]) => fields.map(([name]) => name).join(", ");
  if (names(wanted!) !== names(found!)) return [`fields ${names(found!)}, not ${names(wanted!)}`];
  return wanted!.flatMap(([name, value], index) => {
    const other = found![index]![1];
    return isSameValue(name, value, other) ? [] : [`${name}: ${other}, not ${value}`];
  });
}

/** `Age` and the `ttl` in `Cache-Status` count seconds. All other values have to be equal. */
function isSameValue(name: string, a: string, b: string): boolean {
  const counter = name === "age" ? /^\d+$/ : name === "cache-status" ? /(?<=ttl=)\d+/ : null;
  const [secondsA, secondsB] = [a, b].map((value) => (counter ? counter.exec(value)?.[0] : undefined));
  if (!counter || secondsA === undefined || secondsB === undefined) return a === b;
  const near = Math.abs(Number(secondsA) - Number(secondsB)) <= MAX_SECONDS_APART;
  return near && a.replace(counter, "") === b.replace(counter, "");
}
