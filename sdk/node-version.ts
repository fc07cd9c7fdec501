import { isSupportedNode, SUPPORTED_NODE } from "./supported-node.ts";

/**
 * Imported before undici, which fails to load on an older Node with an error that names neither. It is a separate file
 * in the package, because a file's imports run before its code.
 */
if (!isSupportedNode(process.versions.node)) {
  throw new Error(
    `this is Node ${process.versions.node}, but tidemark needs Node ${SUPPORTED_NODE}, because its HTTP client ` +
      "undici does. Update Node, or send purges without the package: a purge is one POST with JSON.",
  );
}
