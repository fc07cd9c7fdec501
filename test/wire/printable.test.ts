import { expect, test } from "vitest";
import { printable } from "../../wire/text/printable.ts";

test.for([
  { name: "escape sequences", text: "a\u001b[2Jb", expect: "a\ufffd[2Jb" },
  { name: "line ends and tabs", text: "a\r\n\tb", expect: "a\ufffd\ufffd\ufffdb" },
  { name: "NUL, the bell and DEL", text: "\u0000\u0007\u007f", expect: "\ufffd\ufffd\ufffd" },
  { name: "the control characters above ASCII", text: "\u0080\u0085\u009b31m", expect: "\ufffd\ufffd\ufffd31m" },
  { name: "marks of direction", text: "\u061c\u200e\u200f", expect: "\ufffd\ufffd\ufffd" },
  { name: "embeddings and overrides of direction", text: "\u202a\u202e\u202c", expect: "\ufffd\ufffd\ufffd" },
  { name: "isolates of direction", text: "\u2066\u2068\u2069", expect: "\ufffd\ufffd\ufffd" },
  { name: "characters without a width", text: "a\u200bb\u00adc\ufeff", expect: "a\ufffdb\ufffdc\ufffd" },
  { name: "separators of lines and paragraphs", text: "a\u2028b\u2029c", expect: "a\ufffdb\ufffdc" },
  { name: "invisible tags beyond 16 bits, as one character each", text: "a\u{e0041}b", expect: "a\ufffdb" },
  { name: "everything else as it is", text: "/café?q=日本 — עברית €🙂", expect: "/café?q=日本 — עברית €🙂" },
])("What a terminal is shown of $name", ({ text, expect: expected }) => {
  expect(printable(text)).toBe(expected);
});
