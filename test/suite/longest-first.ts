import { BaseSequencer, type TestSpecification } from "vitest/node";
import { LONG } from "./long-tests.ts";

/** Begins with the slowest files, so that at the end no worker waits for the last file of another one. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = await super.sort(files);
    const place = ({ moduleId }: TestSpecification) => {
      const index = LONG.findIndex((file) => moduleId.endsWith(file));
      return index === -1 ? LONG.length : index;
    };
    return others.toSorted((one, other) => place(one) - place(other));
  }
}
