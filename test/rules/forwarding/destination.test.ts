import { describe, expect, test } from "vitest";
import { Fields } from "../../../worker/rules/fields/fields.ts";
import { destinationAt } from "../../../worker/rules/forwarding/destination.ts";

const OWN = ["https://www.example.test/a", "http://localhost:8080/a"];

describe("destinationAt", () => {
  test.each<{ destination: string; expect: string | null; method?: string; connection?: string }>([
    { destination: "https://www.example.test/b?x=%2f", expect: "http://origin.test/b?x=%2f" },
    { destination: "HTTP://WWW.example.test:80/b", expect: "http://origin.test/b" },
    { destination: "http://localhost:8080/b", expect: "http://origin.test/b" },
    { destination: "https://other.test/b", expect: "https://other.test/b" },
    { destination: "https://www.example.test@other.test/b", expect: "https://www.example.test@other.test/b" },
    { destination: "https://www.example.test\\@other.test/b", expect: "https://www.example.test\\@other.test/b" },
    { destination: "https://www.example.test:8443/b", expect: "https://www.example.test:8443/b" },
    { destination: "/b", expect: "/b" },
    { destination: "https://www.example.test/b", method: "POST", expect: null },
    { destination: "https://www.example.test/b", connection: "close, Destination", expect: null },
  ])("of $method $destination, $connection, is $expect", ({ destination, method = "MOVE", connection, expect: at }) => {
    const fields = new Fields([
      ["destination", destination],
      ...(connection ? [["connection", connection] as const] : []),
    ]);
    const facts = { method, field: (name: string) => fields.get(name) };
    expect(destinationAt(() => "http://origin.test", facts, OWN)).toBe(at);
  });
});
