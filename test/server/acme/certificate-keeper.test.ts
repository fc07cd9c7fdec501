import { expect, test } from "vitest";
import { CHECKS } from "./keeper-checks.ts";
import { KeeperScene } from "./keeper-under-test.ts";

test.each(Object.entries(CHECKS))("%s", async (_, check) => {
  const scene = new KeeperScene();
  try {
    await check(scene);
  } finally {
    scene.end();
  }
  expect.hasAssertions();
});
