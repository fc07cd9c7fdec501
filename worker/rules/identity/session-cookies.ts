import { matchesAnyName } from "../key/name-pattern.ts";
import { cookiesIn } from "./cookies.ts";

/**
 * The session cookies of well-known frameworks, as name and value. A value has to look as the framework makes it, so that no
 * name alone is a way past the cache; where applications name the cookie, the value gives it away. `%` is for base64 that
 * `encodeURIComponent` has escaped.
 */
const SESSION_COOKIES: readonly RegExp[] = [
  // JSON Web Tokens (RFC 7515, RFC 7516): Auth.js, Payload, Clerk, fastapi-users, Play, FastAPI's guide (`Bearer`, in quotes)
  // and much of one's own. Phoenix: `HS256` in base64 in place of a header (`Plug.Crypto.MessageVerifier`).
  /^[^=]*="?(?:Bearer(?:\W|%20))?(?:eyJ[\w-]{8,}|SFMyNTY)(?:\.[\w-]*){2,4}"?$/,
  // Flask, Starlette, Quart and Quart-Auth (`itsdangerous`): data, 32 bits of time, and HMAC with SHA-1, SHA-256 or SHA-512.
  /^[^=]*="?\.?[\w%+/=-]+\.[\w-]{5}[AQgw]\.[\w-]{27,86}"?$/,
  // Data by how it begins: iron-session, h3, Nuxt, hapi and hono-sessions (`Fe26.2*`, iron), aiohttp-session (`gAAAAA`,
  // Fernet, in quotes), ASP.NET Core (`CfDJ8`, the magic header of its data protection), Supabase (base64 of JSON),
  // gorilla/sessions, gin and echo (base64 of a time until 2033 and `|`: `gorilla/securecookie`), Tornado and Jupyter
  // (`create_signed_value`: version, key and time).
  /^[^=]*="?(?:Fe26\.2\*|gAAAAA|CfDJ8|base64-eyJ|MT[cgk][\w-]{10}[HXn3][wx]|2\|1:\d+\|10:)[\w%*~=|:+/.-]{20,}"?$/,
  // Express (`s:`), React Router (base64 of JSON), better-auth and `@fastify/session` (an id of 32 characters or a UUID):
  // data and 43 characters of HMAC-SHA256. `@fastify/secure-session`: data, `;` and a nonce.
  /^[^=]*=(?:(?:(?:s:|s%3A|eyJ|I[j-n])[\w%+/=-]{8,}|[\w-]{32,36})\.(?:[\w+/=-]|%[23]\w){43,44}|[\w%+/=-]{24,}%3B(?:[\w+/=-]|%2\w){32})$/,
  // Ids, some of them UUIDs: Astro, Fiber, scs, Auth.js with a database, Rails with a store of its own, CodeIgniter, Lucia
  // (its guide: id and secret); Vert.x (data and HMAC in its cookie store); Flask-Session (id and HMAC-SHA1, if signed);
  // aiohttp-session and fastapi-users with a store; ASP.NET, iris, beego, ColdFusion, Lucee. Odoo: 84 or 86 characters.
  /^(?:(?:[^=]*[-_.])?session(?:[-_](?:id|token))?|asp\.net_sessionid|cf(?:id|token)|fastapiusersauth)=(?:[\w-]{24,}\.)?[\w-]{24,86}$/i,
  // Django: 32 small letters and digits (`django/contrib/sessions/backends/base.py`), or text, time and signature
  // (`signed_cookies.py`), also under other names that end so.
  /^(?:[^=]*[-_.])?sessionid=(?:[a-z0-9]{32}|\.?[\w-]+:\w{6}:[\w-]{43})$/,
  // Rack: 64 hexadecimal digits of `Rack::Session::SessionId`, or encrypted or signed data of `Rack::Session::Cookie`.
  // Encrypted data of Litestar, divided if it is long, and of aiohttp-session, in quotes. Logins that Spring Security and
  // Shiro remember; ASP.NET's forms authentication and OWIN. Plone: HMAC-SHA256, time and user in base64.
  /^(?:(?:rack\.|aiohttp_)?session(?:-\d+)?|remember-?me|quarkus-credential|\.asp(?:net\.\w+|xauth)|__ac)="?[\w%+/=-]{56,}"?$/i,
  // Rails: data, nonce and tag of `ActiveSupport::MessageEncryptor`, or data and digest of `MessageVerifier`. Laravel:
  // base64 of JSON that begins with `{"iv":` (`Illuminate\Encryption\Encrypter`). Both remember logins, too, as Flask-Login
  // does: user and HMAC-SHA512. Mojolicious: as Rails, with `-` for the padding of base64. Ktor: data and HMAC-SHA256.
  /^(?:[\w-]*session|remember_\w+|mojolicious)=(?:eyJpdiI6[\w%+/=-]{64,}|[\w%+/=]{16,}(?:-{2,4}[\w%+/=]{16,})+|[^|]+(?:\/|%2F|\|[0-9a-f]{64})[0-9a-f]{64}"?)$/i,
  // PHP: `session.sid_length`, 22 to 256 characters of `session.sid_bits_per_character`; 6 adds `-` and an escaped comma.
  // Some applications name it: Drupal, Moodle, Tiny Tiny RSS, Icinga Web, Cacti. Perl: CGI::Session, Request Tracker.
  /^(?:(?:PHP|CGI)SESSID|S?SESS[0-9a-f]{32}|MoodleSession\w*|ttrss_sid|Icingaweb2|Cacti|RT_SID_[^=]+)=(?:[\w-]|%2C){22,}$/,
  // tower-sessions, axum-login and Gradio: 128 bits. actix-session: nonce, data and tag in base64.
  /^(?:id|access-token-[\w%-]+={0,2})=(?:[\w-]{22}|(?![0-9a-f]+$)[\w%+/=]{40,})$/,
  // `cookie-session` and `koa-session`: 27 characters of HMAC-SHA1, in a cookie beside that of the session, whose name ends
  // so by default. Datasette: behind data.
  /^(?:[^=]*sess(?:ion)?\.sig=|ds_actor=[\w.-]+\.)[\w-]{27}$/,
  // WordPress: user, end, token and HMAC (`wp_generate_auth_cookie`).
  /^wordpress_logged_in_\w{32}=.+(?:%7C|\|)\w{43}(?:%7C|\|)[0-9a-f]{32,64}$/,
  // Java: Tomcat, Jetty, Undertow, WebSphere and WebLogic, with the name of the node behind the id; Spring Session.
  // Pyramid, repoze.who and Paste: a digest, then time and user.
  /^(?:JSESSIONID|SESSION|auth_tkt)="?[\w-]{20}/,
];

/**
 * Whether a request carries a session of a well-known framework, in a cookie that is not ignored: the origin may have a page
 * of the visitor's own.
 */
export function carriesSession(cookieField: string | null, ignored: readonly string[] = []): boolean {
  if (cookieField === null) return false;
  return cookiesIn(cookieField).some(([name, value]) => {
    const cookie = `${name}=${value}`;
    return SESSION_COOKIES.some((known) => known.test(cookie)) && !matchesAnyName(name, ignored);
  });
}
