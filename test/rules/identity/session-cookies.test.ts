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
  ["Django under a name of the application's", "app_sessionid=3k2j5h8x9c0v1b2n4m6q7w8e9r0t1y2u"],
  ["Django with a prefix", "__Host-sessionid=3k2j5h8x9c0v1b2n4m6q7w8e9r0t1y2u"],
  ["Django with signed cookies under another name", `shop.sessionid=eyJ1IjoxfQ:1tXyZ9:${"a".repeat(43)}`],
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
  ["Starlette under a name of its own", "shop_session=eyJ1c2VyIjogImFubmEifQ==.awx9lA.o_QK4qJdH8Q6loDS4kxDpQKz5Ss"],
  [
    "Starlette with other characters",
    "shop=eyJ1c2VyIjogImFubmFiIiwgIm4iOiAiPz8/Pj4+fiJ9.awx9lA.o_QK4qJdH8Q6loDS4kxDpQKz5Ss",
  ],
  ["Starlette in quotes", 'shop="eyJ1c2VyIjogImFubmEiLCAibiI6ICI/Pz8+Pj5+In0=.awx9lA.o_QK4qJdH8Q6loDS4kxDpQKz5Ss"'],
  [
    "Flask with much in it, under a name of its own",
    "shop=.eJyrViotTi2Kz0xRslJKHAWjYBSMglEwCkbBkAdKtQDnPPqU.awv9vg.Er-LV4pqEiZyX_0UOFadjOdhCDQ",
  ],
  ["Quart-Auth", `QUART_AUTH=ImFubiI.awx9lA.${"vYB8vS9iUDzVSqydiM-uoudY-MU5MLKkm0IDG-UBDk0".repeat(2)}`],
  ["a number that itsdangerous signed", "uid=NDI.awx9lA.vYB8vS9iUDzVSqydiM-uoudY-MU5MLKkm0IDG-UBDk0"],
  ["Flask-Login that remembers a login", `remember_token=ann|${HEX_64}${HEX_64}`],
  [
    "Litestar",
    'session="54GbH7VPH4nqETZMnm7MWnWjLMAbkVN0/FrAE+DSIhDTSv7dw7jej4wGYWRkaXRpb25hbF9hdXRoZW50aWNhdGVkX2RhdGE9eyJleHBpcmVzX2F0IjoxNzk3MTkwMjkyfQ=="',
  ],
  ["Litestar with much in it", `session-0=54GbH7VPH4nqETZMnm7MWnWjLMAbkVN0${HEX_64}; session-1=fQ`],
  ["Litestar with a store", `session=${HEX_64}`],
  ["Tornado", `user=2|1:0|10:1796007854|4:user|4:YW5u|${HEX_64}`],
  ["Jupyter", `username-localhost-8888="2|1:0|10:1796007854|23:username-localhost-8888|8:YW5uPT0=|${HEX_64}"`],
  ["Gradio", "access-token-DaLKMsqgT_GIU83vP8HGBr3GoBra5pbl9c-bdPk1Eh8=-mXbPAFSA3ayT5mICKM4BQ"],
  ["Flask-Session with a signer", "session=uriTrDc3C1Kowx2nj10bXNCa7hgi2aZl7RWky1c3HBA.Tr7_HD4lRPmZAjgZQ2RwE7v7M9g"],
  ["cookie-session", "session=eyJ1IjoxfQ==; session.sig=lrOyB0sCWD1XA6ga9U02XDLpl78"],
  ["koa-session", "koa.sess=eyJ1IjoxfQ==; koa.sess.sig=VORgLANy1aBRgpv_diLZSDalTNU"],
  ["koa-session under another name", "shop:sess=eyJ1IjoxfQ==; shop:sess.sig=VORgLANy1aBRgpv_diLZSDalTNU"],
  ["WordPress", `wordpress_logged_in_${HEX_64.slice(32)}=ann%7C1767268800%7C${"x".repeat(43)}%7C${HEX_64}`],
  ["Tomcat", "JSESSIONID=0A1B2C3D4E5F60718293A4B5C6D7E8F9.node1"],
  ["Jetty", "JSESSIONID=node01xk9c3l2m8b7v6n5q4w3e2r1t0.node0"],
  ["ASP.NET Core", ".AspNetCore.Cookies=CfDJ8Kq3-x_Zq2L0kT7vB5cY1mW9hR4pG6dJ"],
  ["ASP.NET Core under a name of its own", "shop.auth=CfDJ8Kq3-x_Zq2L0kT7vB5cY1mW9hR4pG6dJ"],
  ["Spring", "SESSION=MDEyMzQ1NjctODlhYi1jZGVmLTAxMjMtNDU2Nzg5YWJjZGVm"],
  [
    "a JSON Web Token",
    `access_token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.bR_W_3XxfhzbuIUFjUG6bvyxK8U4Q57vdI6mfXQaHo4`,
  ],
  [
    "FastAPI's guide",
    'access_token="Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.bR_W_3XxfhzbuIUFjUG6bvyxK8U4Q57vdI6mfXQaHo4"',
  ],
  ["a JSON Web Token as in Authorization", `token=Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.${"s".repeat(43)}`],
  ["the same, escaped", `token=Bearer%20eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.${"s".repeat(43)}`],
  ["the same, escaped as in a form", `token=Bearer+eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.${"s".repeat(43)}`],
  ["fastapi-users", `fastapiusersauth=eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhbm4ifQ.${"s".repeat(43)}`],
  ["fastapi-users with a store", "fastapiusersauth=hXigeVLWKBhMl6fGZknMMXWVuksAX_hvn7QE3tiAlDk"],
  ["Phoenix", `_shop_key=SFMyNTY.g3QAAAABbQAAAAtfY3NyZl90b2tlbm0AAAAY.${"s".repeat(43)}`],
  [
    "iron-session, hapi and hono-sessions",
    `session=Fe26.2*1*${HEX_64}*LgdrNCSpvsolD-kIkMzn1Q*S0h5EAYnMFB2eNnRsRuLjg*1797162016050*${HEX_64}*${"s".repeat(43)}~2`,
  ],
  [
    "h3 and Nuxt",
    `h3=Fe26.2**${HEX_64}*UxJ4YWS461sRmNCjlbgpew*8bUT3_4TIGzafl8UAw9MbYzf022vTcp9*1797162016050*${HEX_64}*7rJQ1SvIGREva2ih`,
  ],
  [
    "aiohttp-session",
    'AIOHTTP_SESSION="gAAAAABrDBAgUYwPirAhlzb6V_YNE53ktK20PLm0I1MuYLrlB6qPDLvPeX4lue-bCeIVAJHrYQtwyT7SGA=="',
  ],
  [
    "aiohttp-session with libsodium",
    'AIOHTTP_SESSION="CzBVep/E6Q4zWH2ix+wRNluApcrvFDleg6jN8hc8YYar0PUaP2SJrtP4HUJnjLHW+yBFao+02f4jSG2St9wBJg=="',
  ],
  ["aiohttp-session with Redis", "AIOHTTP_SESSION=0123456789abcdef0123456789abcdef"],
  ["Supabase", "sb-abcdefghijklmnopqrst-auth-token=base64-eyJhY2Nlc3NfdG9rZW4iOiJleUpoYkdjaU9pSklVekkxTmlJ"],
  [
    "Supabase with a long token",
    "sb-abcdefghijklmnopqrst-auth-token.0=base64-eyJhY2Nlc3NfdG9rZW4iOiJleUpoYkdjaU9pSklV",
  ],
  [
    "@fastify/secure-session",
    "session=e49E9JIt8LLPPfj4cIrkL0MHpA00kMl%2BKWNgu8nWjzs9hQ52qxUvDYbtQznM%3BOcdOqNcCKigKhSMZ3y4HHfqSTlF8F4uV",
  ],
  [
    "Express under a name of its own",
    "sid=s%3ADtlNG0hC_e6F5-8ijpOMdOzRHKcqW09G.KwFsFVpumkj09ktBV3oiAx3G%2BldsgDginIuZWJC8juQ",
  ],
  [
    "Fastify under a name of its own",
    "sid=rn03mQX2wi9Jgkv4IBcRuuvDqMmscUV0.m4l6sbygjg2ryEQiK6dHHcoSD4NPCT6u2AFg/CeUNyc",
  ],
  ["React Router with a short session", `_auth=eyJ1IjoxfQ%3D%3D.${SIGNATURE}`],
  ["React Router with a store", `__session=IjAxMjM0NTY3ODlhYmNkZWYi.${SIGNATURE}`],
  [
    "better-auth",
    "better-auth.session_token=XgbIfeOXNLONFOE8e84SoQYCH4rXWWJf.ah5AIgxU0DvZvxu85PiQ8ZUz9jrgH9F00a7WeVmUBKs%3D",
  ],
  [
    "gorilla/sessions",
    "session-name=MTc5NTk1MjY3MXxEWDhFQVFMX2dBQUJFQUVRQUFBZV80QUFBUVp6ZEhKcGJtY01Bd0FCZFFaemRISnBibWNNQlFBRFlXNXV8BrPR-Xt4w03zXw9pVTTskUu7CGVZ2cPiNZW2tBwJrSM=",
  ],
  [
    "gin",
    "mysession=MTc5NTk1MjY3MXxEWDhFQVFMX2dBQUJFQUVRQUFBZV80QUFBUVp6ZEhKcGJtY01Bd0FCZFFaemRISnBibWNNQlFBRFlXNXV8vRCCEg8llyNzMZ4ENHJUO_FLeWhtAZGEWocQhRKnQGY=",
  ],
  ["scs", "session=IRR_04hqtKZi6WYTkFuKDdPbWrVSa9nR-fVsiBFhYiU"],
  ["Fiber", "session_id=c1c31c50-830c-4958-b3cd-82a679947e31"],
  ["Astro", "astro-session=beb321c4-d428-4bce-96c1-da04879d9e82"],
  ["Lucia", "auth_session=dda5f5e88c5842a465b687c22d8b5bbc"],
  ["Lucia's guide", "session_token=dda5f5e88c5842a465b687cc.22d8b5bbc5842a465b687c22"],
  ["CodeIgniter", "ci_session=0123456789abcdef0123456789abcdef"],
  [
    "Laravel that remembers a login",
    `remember_web_59ba36addc2b2f9401580f014c7f58ea4e30989d=eyJpdiI6${"Ab9".repeat(40)}%3D`,
  ],
  ["Devise that remembers a login", `remember_user_token=eyJfcmFpbHMiOnsibWVzc2FnZSI6Ilcx--${HEX_64.slice(24)}`],
  ["ASP.NET", "ASP.NET_SessionId=lk3bqz45lk3bqz45lk3bqz45"],
  [
    "ASP.NET Core without a login",
    ".AspNetCore.Session=CfDJ8H%2FG1u0bT%2BVKq3x%2FaQ%2Bp0%2F7mWzKc%2F5Yd%2BR1s%2Fo8%2B2vLh%2FqEn%2BT6",
  ],
  ["ASP.NET with forms authentication", `.ASPXAUTH=${HEX_64.toUpperCase().repeat(3)}`],
  ["OWIN", `.AspNet.ApplicationCookie=${"a1_-".repeat(60)}`],
  [
    "Spring Security that remembers a login",
    "remember-me=Ym9iOjE3OTcyMDUxMzk2MzQ6U0hBMjU2OmNlNjE4MzQ5MjU4MDMwYTIwYWM2YWUzMDgzYjU5NWJhNmY5Nzc4ODVkODAwMGE2OGNlYjRlZDhkYjA3MThlYWI",
  ],
  ["Shiro that remembers a login", `rememberMe=${"Ab9+/".repeat(80)}=`],
  ["Quarkus", `quarkus-credential=DAb9+/${"Ab9".repeat(17)}A==`],
  [
    "Mojolicious",
    "mojolicious=eyJleHBpcmVzIjoxNzk1OTk5MTcxLCJ1IjoiYW5uIn1aWlpaWlpaWlpaWlpaWlpaWlpa---6624a2b0f1818111fd81ecaf4048336fc78f00b02b6969e3aec59877d86bf2fe",
  ],
  ["Ktor", `user_session=name%3D%2523sjohn/${HEX_64}`],
  ["Ktor with an escaped slash", `SESSION=name%3D%2523sjohn%2F${HEX_64}`],
  ["tower-sessions and axum-login", "id=q9h0lYlEKuJ0S3ZbgdYkXw"],
  ["CGI::Session", "CGISESSID=0123456789abcdef0123456789abcdef"],
  ["Request Tracker", "RT_SID_example.com.443=0123456789abcdef0123456789abcdef"],
  ["Drupal", `SSESS${"0a".repeat(16)}=q9h0lYlEKuJ0S3ZbgdYkXwLRl2aTVz3mDJv%2C7yzIIAtg`],
  ["Moodle", "MoodleSession=4k2j5h8x9c0v1b2n4m6q7w8e9r"],
  ["Tiny Tiny RSS", "ttrss_sid=4k2j5h8x9c0v1b2n4m6q7w8e9r"],
  ["Icinga Web and Cacti", "Icingaweb2=4k2j5h8x9c0v1b2n4m6q7w8e9r; Cacti=4k2j5h8x9c0v1b2n4m6q7w8e9r"],
  ["actix-session", "id=i+yP4QNKNC8Ebe35O1VWYfh8bOKeJdqOuNKYTh7vAA673qs3mBil8Q%3D%3D"],
  ["actix-session, with data", "id=B8yadcqnDqMkZoXv54N8XdZbGZDA0CETcFTW8GZaVLXgJtPO%2FnzpJA%3D%3D"],
  ["Vert.x in cookies", `vertx-web.session=${"AAAAIDZjNmE3".repeat(4)}.HKrmX0yq3v1Zb9JwT5rE2cQaLkPzN8sUoVtWd4fGh1I`],
  ["ColdFusion", "CFID=14520; CFTOKEN=7a1e9b5d0e41e1-5B1E5E0A-0C4D-1B0D-6C3A9B1F2E3D4C5B"],
  ["Datasette", "ds_actor=eyJhIjp7ImlkIjoicm9vdCJ9fQ.s-4PEGs_i6lL0rTi2RQvnV4PtIg"],
  [
    "Datasette with much in it",
    "ds_actor=.eJyrVkpUsqpWykxRslIqys8vUdJRykvMTQXyKoYJUKqtBQBX-WZy.y_4w8gWrXQytOnz01wlavPwBdRA",
  ],
  ["Plone", "__ac=739yynidl3cu00Z4sUtuy5a0siZaHUmo0o%2BFWamRvSg2YjBkNjRlZWFsaWNlIQ%3D%3D"],
  ["Plone with a short user, in quotes", '__ac="739yynidl3cu00Z4sUtuy5a0siZaHUmo0o/FWamRvSg2YjBkNjRlZWEh"'],
  ["Pyramid", `auth_tkt=${HEX_64}${HEX_64}6b0d64ecYWxpY2U%3D!userid_type:b64unicode`],
  ["Pyramid with MD5, a number and tokens", `auth_tkt="${HEX_64.slice(32)}6b0d664242!admin\\054b!userid_type:int"`],
  ["Paste and mod_auth_tkt", "auth_tkt=NjJlZWQ0Yzc2MjliNzM5OWY0MjlmNGM4YzU4Yzc5ZGE2YjBkNjY0MmFubiE="],
  ["Odoo", `session_id=${"aB3_".repeat(21)}`],
  ["Odoo with a longer id", `session_id=${"aB3_".repeat(21)}-9`],
  ["Lucee", "cfid=3f1d2c4b-1111-4222-8333-0123456789ab; cftoken=0"],
];

const OTHERS: readonly string[] = [
  "id=356a192b7913b04c54574d18c28d46e6395428ab",
  `id=${"0a".repeat(32)}`,
  "sessionid=1",
  "sessionid=3K2J5H8X9C0V1B2N4M6Q7W8E9R0T1Y2U",
  "Sessionid=3k2j5h8x9c0v1b2n4m6q7w8e9r0t1y2u",
  "app_sessionid=1",
  "app_sessionid=3K2J5H8X9C0V1B2N4M6Q7W8E9R0T1Y2U",
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
  "shop=eyJ1c2VyX2lkIjoxfQ==.9NAHr-ezSbBu4bzwTMBE5O6Xh1o",
  "shop=ImFubiI.1700000000.9NAHr-ezSbBu4bzwTMBE5O6Xh1o", // a time in decimal digits
  "shop=ImFubiI.awx9lB.9NAHr-ezSbBu4bzwTMBE5O6Xh1o", // 36 bits, not the 32 of a time
  "shop=ImFubiI.awx9lA.short",
  "session.sig=short",
  "theme.sig=lrOyB0sCWD1XA6ga9U02XDLpl78",
  `wordpress_logged_in_x=ann%7C1767268800%7C${"x".repeat(43)}%7C${HEX_64}`,
  `wordpress_logged_in_${HEX_64.slice(32)}=ann`,
  "JSESSIONID=1",
  "SESSION=short!node1.example.test",
  ".AspNetCore.Culture=c%3Den%7Cuic%3Den",
  ".AspNetCore.Cookies=CfDJ8",
  "ASP.NET_SessionId=1",
  ".AspNet.Consent=yes",
  "remember-me=on",
  "rememberMe=deleteMe",
  `locale=eyJfcmFpbHMi--${HEX_64.slice(24)}`, // signed by Rails
  `theme=dark/${HEX_64}`,
  "user_session=dark/0123456789abcdef",
  "id=1",
  "id=3f1d2c4b-1111-4222-8333-0123456789ab",
  "CFID=14520",
  "session=MTc5NTk1MjY3MXxE",
  `session-id=${"Ab9+".repeat(20)}`,
  'session="54GbH7VPH4nqETZMnm7MWnWjLMAbkVN0/FrAE+DSIhDT="',
  "AIOHTTP_SESSION=1",
  "fastapiusersauth=1",
  `remember_token=ann|${HEX_64}`,
  "access_token=Bearer",
  "access_token=Bearer eyJhbGciOiJIUzI1NiJ9",
  `access_token="Basic ${"Ab9".repeat(20)}"`,
  "session_id=1",
  `session_id=${"aB3_".repeat(22)}`,
  "ds_actor=root",
  "ds_actor=eyJhIjp7ImlkIjoicm9vdCJ9fQ.short",
  "ds_messages=W1siQSByb3cgd2FzIGFkZGVkIiwgMV1d.s-4PEGs_i6lL0rTi2RQvnV4PtIg",
  "__ac=deleted",
  `__ac_name=${"Ab9+".repeat(20)}`,
  "auth_tkt=INVALID",
  "session-name=MTc5NTk1MjY3MQ==",
  "token=eyJhbGciOiJIUzI1NiJ9",
  "token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ",
  "sid=Fe26.2*1*short",
  "sb-abcdefghijklmnopqrst-auth-token-code-verifier=base64-IjEyMzQ1Njc4OTBhYmNkZWYxMjM0NTY3ODkwYWJjZGVmIg",
  `theme=s%3Adark.${SIGNATURE}`, // signed by cookie-parser
  `theme=ImRhcmsi.${SIGNATURE}`, // signed by React Router
  "sid=dda5f5e88c5842a465b687c22d8b5bbc",
  // Laravel encrypts every cookie.
  `XSRF-TOKEN=eyJpdiI6${"Ab9".repeat(40)}%3D`,
  `locale=eyJpdiI6${"Ab9".repeat(40)}%3D`,
  // Analytics, consent, chats and defences, which all visitors of a site may have.
  "_ga=GA1.1.1234567890.1700000000; _ga_K1ABC2DEF3=GS2.1.s1700000000$o1$g1$t1700000000$j60$l0$h0",
  "_hjSession_123456=eyJpZCI6IjNmMWQyYzRiLTExMTEtNDIyMi04MzMzLTAxMjM0NTY3ODlhYiIsImMiOjE3MDAwMDAwMDB9",
  "intercom-id-abc123=3f1d2c4b-1111-4222-8333-0123456789ab",
  `intercom-session-abc123=${HEX_64}--${HEX_64.slice(24)}`,
  "crisp-client%2Fsession%2F3f1d2c4b-1111=session_3f1d2c4b-1111-4222-8333-0123456789ab",
  "ai_session=q1w2e3r4t5y6u7i8o9p0a1|1700000000000|1700000000000",
  `rl_session=RS_ENC_v3_eyJhdXRvVHJhY2siOnRydWUsInRpbWVvdXQiOjE4MDAwMDAsImV4cGlyZXNBdCI6MTcwMDAwMDAwMDAwMH0%3D`,
  `__cf_bm=${"a1_-".repeat(10)}abc-1700000000-1.0.1.1-${"b".repeat(86)}`,
  `cf_clearance=${"a1_-".repeat(10)}abc-1700000000-1.2.1.1-${"b".repeat(43)}`,
  `euconsent-v2=CP${"a1_-".repeat(20)}.${"I".repeat(43)}.YAAAAAAAAAAA`,
  `euconsent-v2=CP${"a1_-".repeat(20)}.${"I".repeat(43)}`,
  `AWSALB=${"Ab9+/".repeat(25)}Ab9=`,
  `aws-waf-token=3f1d2c4b-1111-4222-8333-0123456789ab:AQoA${"b".repeat(9)}:${"Ab9+".repeat(22)}`,
  "_dd_s=rum=2&id=3f1d2c4b-1111-4222-8333-0123456789ab&created=1700000000000",
  "__kla_id=eyJjaWQiOiJNMk0yIiwiJHJlZmVycmVyIjp7InRzIjoxfX0=",
  `__hstc=1.${HEX_64.slice(32)}.1700000000000.1700000000000.1700000000000.1`,
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

  test("the longest cookie is read once, and not again for each of its characters", () => {
    expect(carriesSession(`access-token-a${"=".repeat(200_000)}!`)).toBe(false);
  });

  test("without cookies there is no session, and no text makes it throw", () => {
    expect(carriesSession(null)).toBe(false);
    fc.assert(fc.property(anyText, (text) => void carriesSession(text)));
  });
});
