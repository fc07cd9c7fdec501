/** The directives of OpenResty whose block is Lua, like `content_by_lua_block`. */
export const LUA_BLOCK = /_by_lua_block$/;

/** Comments, strings (in which braces do not count), and braces. */
const TOKEN = /--\[(=*)\[|--[^\n]*|\[(=*)\[|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[{}]/gs;

/** Where the Lua ends whose "{" is at `start`: behind its "}", found as OpenResty finds it. `null` if there is none. */
export function endOfLua(text: string, start: number): number | null {
  let depth = 0;
  let at = start;
  for (;;) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (found === null) return null;
    at = TOKEN.lastIndex;
    const equals = found[1] ?? found[2];
    if (equals !== undefined) {
      const closing = `]${equals}]`;
      const end = text.indexOf(closing, at);
      if (end === -1) return null;
      at = end + closing.length;
    } else if (found[0] === "{") {
      depth++;
    } else if (found[0] === "}") {
      depth--;
      if (depth === 0) return at;
    }
  }
}
