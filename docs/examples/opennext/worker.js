import { behindEdge } from "tidemark/opennext";
import app from "./.open-next/worker.js";

export { TidemarkPurge } from "tidemark/opennext";
export { DOQueueHandler } from "./.open-next/worker.js";
export default behindEdge(app);
