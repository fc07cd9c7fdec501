/** Escapes of printable ASCII are decoded; the others stay. */
export function withoutEscapes(text: string): string {
  if (!text.includes("%")) return text;
  return text.replace(/%(2[1-9a-f]|[3-6][\da-f]|7[\da-e])/gi, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
