import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import type { Answer } from "../../../worker/ports/answer.ts";
import { until } from "../../suite/until.ts";
import { answer, startTestListener } from "./running-listener.ts";

test.each([true, false])(
  "requests of a pipeline wait for an unsafe one before them, and an unsafe one for all (fast answers: %s)",
  async (usesFastAnswers) => {
    const begun: string[] = [];
    const due: PromiseWithResolvers<Answer>[] = [];
    const answering = ({ url, request }: { readonly url: string; readonly request: { readonly method: string } }) => {
      begun.push(`${request.method} ${new URL(url).pathname}`);
      due.push(Promise.withResolvers());
      return due.at(-1)!.promise;
    };
    const { where, stop } = await startTestListener(answering, { usesFastAnswers });
    const socket = connect(where.port, where.host).setEncoding("latin1");
    let text = "";
    socket.on("data", (piece) => {
      text += piece;
    });
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`;
    const put = (path: string) => `PUT ${path} HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\n\r\nx`;
    socket.write([get("/1"), get("/2"), put("/3"), put("/4"), get("/5"), get("/6")].join(""));

    /** Answers the oldest ones, and waits until so many requests have begun. */
    const finish = async (numbers: readonly number[], nowBegun: number) => {
      for (const number of numbers) due[number - 1]!.resolve(answer(`${number};`));
      await until(() => begun.length >= nowBegun && numbers.every((number) => text.includes(`${number};`)));
      await new Promise(setImmediate);
      expect(begun).toHaveLength(nowBegun);
    };
    await until(() => begun.length === 2);
    await finish([1], 2);
    await finish([2], 3);
    await finish([3], 4);
    await finish([4], 6);
    await finish([5, 6], 6);
    expect(begun).toEqual(["GET /1", "GET /2", "PUT /3", "PUT /4", "GET /5", "GET /6"]);
    socket.end();
    await once(socket, "close");
    await stop();
  },
);
