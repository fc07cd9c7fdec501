/**
 * Imported before undici, which fails to load on an older Node with an error that names neither. It is a separate file
 * in the package, because a file's imports run before its code.
 */

/** The version that undici needs. */
const MIN_NODE = [22, 19] as const;

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
  throw new Error(
    `this is Node ${process.versions.node}, but tidemark needs Node ${MIN_NODE.join(".")} or later, because its HTTP client ` +
      "undici does. Update Node, or send purges without the package: a purge is one POST with JSON.",
  );
}
