import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

/** Each of its tests needs a site that takes Next half a minute to build. `opennext.test.ts` has the gate's share. */
const MAY_BE_WHOLLY_DEEP = ["test/backends/next.test.ts"];

/** Fails a run if one of its files has only tests that are tagged as deep: each file leaves some to the gate. */
export class NoneWhollyDeep implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const found = whollyDeep(modules);
    if (found.length === 0) return;
    process.exitCode = 1;
    console.error(`All tests of a file are tagged as deep, and the gate would run none of it: ${found.join(", ")}`);
  }
}

/** A test and a file, as far as the question goes. */
interface File {
  readonly moduleId: string;
  readonly children: { allTests(): Iterable<{ readonly tags: readonly string[] }> };
}

export function whollyDeep(modules: readonly File[]): string[] {
  return modules.flatMap(({ moduleId, children }) => {
    const file = relative(".", moduleId);
    const tests = [...children.allTests()];
    const isDeep = tests.length > 0 && tests.every(({ tags }) => tags.includes("deep"));
    return isDeep && !MAY_BE_WHOLLY_DEEP.includes(file) ? [file] : [];
  });
}
