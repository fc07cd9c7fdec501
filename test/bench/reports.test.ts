import { describe, expect, test } from "vitest";
import { readAb, readHey } from "../../bench/load/reports.ts";

const AB = `Server Software:        nginx/1.22.1
Document Length:        1700 bytes

Concurrency Level:      500
Time taken for tests:   0.172 seconds
Complete requests:      5000
Failed requests:        0
Keep-Alive requests:    5000
Total transferred:      10055000 bytes
Requests per second:    29048.41 [#/sec] (mean)
Time per request:       17.213 [ms] (mean)

Percentage of the requests served within a certain time (ms)
  50%     14
  66%     17
  95%     31
  98%     40
  99%     52
 100%     60 (longest request)
`;

const HEY = `
Summary:
  Total:	0.4532 secs
  Requests/sec:	22065.3112

Latency distribution:
  10%% in 0.0002 secs
  50%% in 0.0004 secs
  95%% in 0.0009 secs
  99%% in 0.0016 secs

Status code distribution:
  [200]	9990 responses
`;

describe("the report of ab", () => {
  test("has requests, their rate and percentiles", () => {
    expect(readAb(AB)).toEqual({ requests: 5000, requestsPerSecond: 29048.41, p50Ms: 14, p99Ms: 52, failures: 0 });
  });

  test("counts requests without an answer and answers that are not 2xx only as failures", () => {
    const failed = AB.replace("Failed requests:        0", "Failed requests:        408\nNon-2xx responses:      12");
    expect(readAb(failed)).toMatchObject({ requests: 4580, failures: 420 });
  });

  test("is refused without its rate", () => {
    expect(() => readAb("apr_socket_recv: Connection refused (111)")).toThrow("A client's report has no");
  });
});

describe("the report of hey", () => {
  test("has requests, their rate and percentiles, which older releases write with two signs", () => {
    const figures = { requests: 9990, requestsPerSecond: 22065.3112, p50Ms: 0.4, p99Ms: 1.6, failures: 0 };
    expect(readHey(HEY)).toEqual(figures);
    expect(readHey(HEY.replaceAll("%%", "%"))).toEqual(figures);
  });

  test("counts other answers and errors as failures", () => {
    const failed = `${HEY}  [304]	1 responses
  [502]	4 responses

Error distribution:
  [5]	Get "http://127.0.0.1:1/": EOF
`;
    expect(readHey(failed)).toMatchObject({ requests: 9990, failures: 10 });
  });
});
