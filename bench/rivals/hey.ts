import { join } from "node:path";
import { outputOf, type Program, RIVALS_FOLDER } from "./rival.ts";

const VERSION = "0.1.5";

/** Installs hey, a client in Go that sends 10,000 requests over 10 connections. */
export async function getHey(): Promise<Program> {
  const environment = { GOBIN: RIVALS_FOLDER, GOFLAGS: "-mod=mod" };
  await outputOf(["go", "install", `github.com/rakyll/hey@v${VERSION}`], { environment });
  return { version: VERSION, run: [join(RIVALS_FOLDER, "hey")] };
}
