/**
 * A setup file: test files share a process and its modules, so after a reset two copies of a module would meet in files that
 * run later.
 */
import { vi } from "vitest";

vi.resetModules = () => {
  throw new Error(
    "Other test files share these modules: load the module in a process of its own (test/sdk/run-node.ts).",
  );
};
