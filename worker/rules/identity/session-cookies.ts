import { cookiesIn } from "./cookies.ts";

/** A cookie by which a framework knows a session, and how the values look that it makes. */
interface SessionCookie {
  readonly name: RegExp;
  readonly value: RegExp;
}

/** A character of base64 as `encodeURIComponent` leaves it or escapes it. */
const BASE64 = "(?:[A-Za-z0-9+/=]|%2[BF]|%3D)";

/**
 * The session cookies of well-known frameworks, by the names that they have unless somebody changes them. A value has
 * to look as the framework makes it, so that no name alone is a way past the cache.
 */
const SESSION_COOKIES: readonly SessionCookie[] = [
  // Django: 32 small letters and digits (`django/contrib/sessions/backends/base.py`), or text, time and signature
  // (`signed_cookies.py`).
  { name: /^sessionid$/, value: /^(?:[a-z0-9]{32}|\.?[\w-]+:[A-Za-z0-9]{6}:[\w-]{43})$/ },
  // Rails: `_<app>_session`: data, nonce and tag of `ActiveSupport::MessageEncryptor`, data and digest of
  // `MessageVerifier`, or the 32 hexadecimal digits of `Rack::Session::Abstract::ID`.
  { name: /^_\w+_session$/, value: new RegExp(`^(?:[0-9a-f]{32,64}|${BASE64}{16,}(?:--${BASE64}{16,}){1,2})$`) },
  // Rack: 64 hexadecimal digits of `Rack::Session::SessionId`, or encrypted or signed data of `Rack::Session::Cookie`.
  { name: /^rack\.session$/, value: new RegExp(`^(?:[0-9a-f]{64}|(?:${BASE64}|[_-]){64,})$`) },
  // Auth.js, Payload, Clerk: a JSON Web Token, or the UUID of `next-auth` with a database.
  {
    name: /^(?:(?:__Secure-)?(?:next-auth|authjs)\.session-token(?:\.\d)?|payload-token|__session)$/,
    value: /^(?:ey[\w-]{8,}(?:\.[\w-]*){2,4}|[0-9a-f]{8}(?:-[0-9a-f]{4,12}){4})$/,
  },
  // PHP: `session.sid_length`, 22 to 256 characters of `session.sid_bits_per_character`; 6 adds `-` and an escaped comma.
  { name: /^PHPSESSID$/, value: /^(?:[A-Za-z0-9-]|%2C){22,256}$/ },
  // Laravel: `<app>_session`: base64 of JSON that begins with `{"iv":` (`Illuminate\Encryption\Encrypter`).
  { name: /^[\w-]+[_-]session$/, value: new RegExp(`^eyJpdiI6${BASE64}{64,}$`) },
  // `express-session` (with `s:`), `@fastify/session` and React Router: the id or base64 of JSON, and 43 characters of
  // HMAC-SHA256.
  {
    name: /^(?:connect\.sid|sessionId|__session)$/,
    value: new RegExp(`^(?:s(?:%3A|:))?(?:${BASE64}|[_-]){4,}\\.${BASE64}{43}$`),
  },
  // Flask and Starlette: data, time and 27 characters of HMAC-SHA1 (`itsdangerous`); `cookie-session` and `koa-session` have
  // them in a cookie of their own.
  {
    name: /^(?:session|(?:session|koa\.sess)\.sig)$/,
    value: new RegExp(`^(?:\\.?(?:${BASE64}|[_-])+\\.[\\w-]{6}\\.)?[\\w-]{27}$`),
  },
  // WordPress: user, end, token and HMAC (`wp_generate_auth_cookie`).
  {
    name: /^wordpress_logged_in_[0-9a-f]{32}$/,
    value: /^[^|]+(?:%7C|\|)\d{9,11}(?:%7C|\|)[A-Za-z0-9]{43}(?:%7C|\|)[0-9a-f]{32,64}$/,
  },
  // Java: Tomcat, Jetty, Undertow, WebSphere and WebLogic, with the name of the node behind the id.
  { name: /^JSESSIONID$/, value: /^[\w-]{20,128}(?:[.:!][\w.:!-]{1,128})?$/ },
  // ASP.NET Core: texts of its data protection begin with this magic header. ASP.NET: `SessionIDManager`.
  { name: /^\.AspNetCore\./, value: /^CfDJ8[\w-]{20,}$/ },
  { name: /^ASP\.NET_SessionId$/, value: /^[a-z0-5]{24}$/ },
];

/** Whether a request carries a session of a well-known framework: the origin may have a page of the visitor's own. */
export function carriesSession(cookieField: string | null): boolean {
  if (cookieField === null) return false;
  return cookiesIn(cookieField).some(([name, value]) =>
    SESSION_COOKIES.some((known) => known.name.test(name) && known.value.test(value)),
  );
}
