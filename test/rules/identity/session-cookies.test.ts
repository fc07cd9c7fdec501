import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { carriesSession } from "../../../worker/rules/identity/session-cookies.ts";
import { anyText } from "../fields/any-text.ts";

const HEX_64 = "0123456789abcdef".repeat(4);
const SIGNATURE = "N5bX%2FmZ0tW1".padEnd(45, "q"); // 43 characters, one of them escaped
const SESSIONS: readonly (readonly [framework: string, cookie: string])[] = [
  ["Django", "sessionid=3k2j5h8x9c0v1b2n4m6q7w8e9r0t1y2u"],
  [
    "Django with signed cookies",
    `sessionid=.eJxVjMsOwiAQRf-FtSFAeQwu3fcbCMwMUjWQlHZl_HdD0oVu7zn3vEVMx17j0XmLK4mr0OLyu-WET24D0CO1-yKxtXpbsxyKPGmXy0L8up3uX6CmXsfbAwAEa3DO:1tXyZ9:${"a".repeat(43)}`,
  ],
  ["Rails", "_shop_session=kT0b%2FbJcY2QxN2E5ZTk3ZA%3D%3D--q1w2e3r4t5y6u7i8--Zm9vYmFyYmF6cXV4cXV1eA%3D%3D"],
  ["Rails with a store of its own", "_shop_session=0123456789abcdef0123456789abcdef"],
  ["Rack", `rack.session=${HEX_64}`],
  ["Rack without a store", `rack.session=BAh7CEkiD3Nlc3Npb25faWQGOgZFVG86HVJhY2s6OlNlc3Npb246OlNlc3Npb25J--${HEX_64}`],
  ["Auth.js", `__Secure-authjs.session-token=eyJhbGciOiJkaXIifQ..${"a1_-".repeat(8)}.${"b".repeat(90)}.c2_-`],
  ["Auth.js with a long token", `next-auth.session-token.0=eyJhbGciOiJkaXIifQ..${"a1_-".repeat(8)}.${"b".repeat(90)}`],
  ["Auth.js with a database", "authjs.session-token=0b9f1c2d-1111-4222-8333-0123456789ab"],
  ["Payload", `payload-token=eyJhbGciOiJIUzI1NiJ9.eyJpZCI6MX0.${"s".repeat(43)}`],
  ["Clerk", `__session=eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOjF9.${"s".repeat(342)}`],
  ["React Router", `__session=eyJ1c2VySWQiOiIxIn0%3D.${SIGNATURE}`],
  ["PHP", "PHPSESSID=4qk3g5p8c2n1r7v6t9b0m3x5z1"],
  ["PHP with 6 bits per character", "PHPSESSID=4qk3g5p8c2n-1r7v6t%2C9bZ"],
  ["Laravel", `laravel_session=eyJpdiI6${"Ab9".repeat(40)}%3D`],
  ["Laravel under the name of its application", `my-shop_session=eyJpdiI6${"Ab9".repeat(40)}%3D`],
  ["Express", `connect.sid=s%3A8fN3-x_Zq2L0kT7vB5cY1mW9hR4pG6dJ.${SIGNATURE}`],
  ["Fastify", "sessionId=rn03mQX2wi9Jgkv4IBcRuuvDqMmscUV0.m4l6sbygjg2ryEQiK6dHHcoSD4NPCT6u2AFg/CeUNyc"],
  ["Flask", "session=eyJ1c2VyX2lkIjoxfQ.awv9vg.9NAHr-ezSbBu4bzwTMBE5O6Xh1o"],
  [
    "Flask with much in it",
    "session=.eJyrViotTi2Kz0xRslJKHAWjYBSMglEwCkbBkAdKtQDnPPqU.awv9vg.Er-LV4pqEiZyX_0UOFadjOdhCDQ",
  ],
  ["Starlette", "session=eyJ1c2VyIjogImFubj8/Pj5+fiJ9.awv9vw.-WrqbuoFDQAQraterFmYXo-u35k"],
  ["cookie-session", "session=eyJ1IjoxfQ==; session.sig=lrOyB0sCWD1XA6ga9U02XDLpl78"],
  ["koa-session", "koa.sess=eyJ1IjoxfQ==; koa.sess.sig=VORgLANy1aBRgpv_diLZSDalTNU"],
  ["WordPress", `wordpress_logged_in_${HEX_64.slice(32)}=ann%7C1767268800%7C${"x".repeat(43)}%7C${HEX_64}`],
  ["Tomcat", "JSESSIONID=0A1B2C3D4E5F60718293A4B5C6D7E8F9.node1"],
  ["Jetty", "JSESSIONID=node01xk9c3l2m8b7v6n5q4w3e2r1t0.node0"],
  ["ASP.NET Core", ".AspNetCore.Cookies=CfDJ8Kq3-x_Zq2L0kT7vB5cY1mW9hR4pG6dJ"],
  ["ASP.NET", "ASP.NET_SessionId=lk3bqz45lk3bqz45lk3bqz45"],
];

const OTHERS: readonly string[] = [
  "sessionid=1",
  "sessionid=3K2J5H8X9C0V1B2N4M6Q7W8E9R0T1Y2U",
  "Sessionid=3k2j5h8x9c0v1b2n4m6q7w8e9r0t1y2u",
  "_shop_session=1",
  "_shop_session=a--b",
  "rack.session=1",
  "__session=1",
  "__session=eyJ1c2VySWQiOiIxIn0.short",
  "payload-token=x",
  "authjs.session-token=eyJhbGciOiJkaXIifQ",
  "PHPSESSID=",
  "PHPSESSID=short",
  "PHPSESSID=4qk3g5p8c2n1r7v6t9b0m!",
  "PHPSESSID=%2C%2C%2C%2C%2C%2C%2C%2C",
  "PHPSESSID=4qk3g5p8c2n1r7v6t9b0m%2B",
  "laravel_session=eyJpdiI6",
  `laravel_session=${"x".repeat(200)}`,
  "connect.sid=s%3A8fN3.abc",
  "sessionId=8fN3-x_Zq2L0kT7vB5cY1mW9hR4pG6dJ",
  "session=1",
  "session=eyJ1IjoxfQ==",
  "session=eyJ1c2VyX2lkIjoxfQ.9NAHr-ezSbBu4bzwTMBE5O6Xh1o",
  "session.sig=short",
  "theme.sig=lrOyB0sCWD1XA6ga9U02XDLpl78",
  `wordpress_logged_in_x=ann%7C1767268800%7C${"x".repeat(43)}%7C${HEX_64}`,
  `wordpress_logged_in_${HEX_64.slice(32)}=ann`,
  "JSESSIONID=1",
  ".AspNetCore.Culture=c%3Den%7Cuic%3Den",
  ".AspNetCore.Cookies=CfDJ8",
  "ASP.NET_SessionId=1",
  "theme=dark; csrftoken=3k2j5h8x9c0v1b2n4m6q7w8e9r0t1y2u",
];

describe("carriesSession", () => {
  test.each(SESSIONS)("a session of %s", (_, cookie) => {
    expect(carriesSession(cookie)).toBe(true);
    expect(carriesSession(`theme=dark;${cookie}; _ga=1`)).toBe(true);
    expect(carriesSession(`theme=dark,${cookie}`)).toBe(true);
  });

  test.each(OTHERS)("no session: %s", (cookie) => {
    expect(carriesSession(cookie)).toBe(false);
  });

  test("without cookies there is no session, and no text makes it throw", () => {
    expect(carriesSession(null)).toBe(false);
    fc.assert(fc.property(anyText, (text) => void carriesSession(text)));
  });
});
