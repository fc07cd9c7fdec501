/**
 * Imported before undici, which fails to load on an older Node with an error that names neither of the two. It is a file of
 * its own in the package, because the imports of one file run before its code.
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
