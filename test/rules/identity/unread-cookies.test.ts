import { expect, test } from "vitest";
import { readCookies, UNREAD_COOKIES } from "../../../worker/rules/identity/cookies.ts";

test.each([
  "_ga _ga_K1ABC2DEF3 _gid _gat _gat_gtag_UA_1_2 _gat_UA-1-2 _gcl_au _gcl_aw __utma __utmz", // Google
  "_fbp _fbc _clck _clsk _uetsid _uetvid hubspotutk __hstc __hssc __hssrc __hs_opt_out",
  "_hjid _hjSession_1 _hjSessionUser_1 _hjFirstSeen _hjAbsoluteSessionInProgress _hjIncludedInSessionSample_1", // Hotjar
  "_pk_id.1.1fff _pk_ses.1.1fff _pk_ref.1.1fff ajs_anonymous_id ajs_user_id amplitude_id_1", // Matomo, Segment, Amplitude
  "__cf_bm _cfuvid __cfruid cf_clearance", // Cloudflare, whose checks for bots give one to every visitor
])("these cookies are ignored, because no origin reads them: %s", (names) => {
  expect(readCookies(names.replaceAll(" ", "=1; ").concat("=1"), UNREAD_COOKIES, []).forwarded).toBeNull();
});

// Rails names its session `_<app>_session`; a visitor of a page for HubSpot's members has `__hsmem`.
test.each([
  ..."_gateway_session _gat_session _gallery_session _gcl_session _hj_session _hjem_session _hjort_session".split(" "),
  ..."_pk_session _pk_sessions_session _uet_session _uetsids_session ajs_session amplitude_session mp_session".split(
    " ",
  ),
  ..."mp_auth_token __hsmem __session session _cf_session cf_session".split(" "),
])("%s may be a session of an application: it is not ignored", (name) => {
  expect(readCookies(`${name}=1`, UNREAD_COOKIES, []).forwarded).toBe(`${name}=1`);
});
