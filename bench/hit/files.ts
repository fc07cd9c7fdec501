import { Agent, request } from "undici";
import { BenchFailure } from "../frame/bench-failure.ts";
import { FILES, type Row } from "./hit-rows.ts";

const AT_A_TIME = 20;

/** Requests each further page until it is stored. */
export async function storeFiles({ name, page }: Row, files: number): Promise<void> {
  const agent = new Agent({ connections: AT_A_TIME });
  let next = 0;
  const work = async () => {
    while (next < files) {
      const path = `${FILES}${String(next++).padStart(5, "0")}.html`;
      const { statusCode, body } = await request(new URL(path, page), { dispatcher: agent });
      await body.dump({ limit: Number.MAX_SAFE_INTEGER });
      if (statusCode !== 200) throw new BenchFailure(`${name}: ${path} is answered with ${statusCode}.`);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_A_TIME }, work));
  } finally {
    await agent.close();
  }
}
