/**
 * Loaded into the processes of a server: each says for which requests Node has made its own objects, and is another Node if
 * `OTHER_NODE` names one.
 */
import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";
import { otherNodes } from "../../http1/other-nodes.ts";

const { OTHER_NODE } = process.env;
if (OTHER_NODE !== undefined) {
  otherNodes[OTHER_NODE as keyof typeof otherNodes].change();
  // On the Node of the tests, nothing is tried.
  const versions = { ...process.versions, node: `${process.versions.node}-other` };
  Object.defineProperty(process, "versions", { value: versions });
}

subscribe("http.server.request.start", (message) => {
  const { method, url } = (message as { readonly request: IncomingMessage }).request;
  console.error(`Node's own request: ${method} ${url}`);
});
