import fc from "fast-check";

const anyUnit = fc.oneof(
  fc.constantFrom(..." \t\r\n,;:=\"'\\()*/-%?@0129aqAW"),
  fc.nat({ max: 0xffff }).map((unit) => String.fromCharCode(unit)),
);

/** Any text that a peer might send as a field, with HTTP's separators and with unpaired surrogates. */
export const anyText = fc.string({ unit: anyUnit, maxLength: 40 });
