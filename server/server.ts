/** What `tidemark serve` runs, imported at once: each further import would be further files to load at its start. */
export { sayToOperator } from "./own-lines.ts";
export { serve, statesBefore } from "./serve.ts";
export { PidFile } from "./startup/pid-file.ts";
export { expectUsableFolders, prepare } from "./startup/prepare-server.ts";
export { handedOverTo, READY, STOPPING, tellServiceManager } from "./startup/service-manager.ts";
export { checkedText, startedText } from "./startup/started-text.ts";
export { activatedSockets } from "./supervisor/activated-sockets.ts";
export { whyNotOpened } from "./supervisor/listening-sockets.ts";
export { expectLog } from "./supervisor/open-log.ts";
export { eventInWords } from "./supervisor/supervisor-events.ts";
export { Predecessor } from "./supervisor/upgrade.ts";
export { NoWorkerStartsError } from "./supervisor/worker-process.ts";
