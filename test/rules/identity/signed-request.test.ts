import { describe, expect, test } from "vitest";
import { maySignRequest } from "../../../worker/rules/identity/signed-request.ts";

describe("which credentials may sign the request that they come with", () => {
  test.each([
    ["Basic eDp5", "RFC 7617 §2"],
    ["basic eDp5", "RFC 9110 §11.1: any case"],
    ["Bearer eyJhbGciOi.eyJzdWIi.c2ln-_~+/==", "RFC 6750 §2.1"],
    ["Bearer 17|aB3", "Laravel Sanctum"],
    ["Token 0123abcd", "Django REST framework"],
    ['Token token="abc", nonce="def"', "Rails"],
    ["Negotiate YIIZ==", "RFC 4559"],
    ["DPoP eyJhbGciOi.eyJzdWIi.c2ln", "RFC 9449 §7.1: its proof signs the method and the URI alone"],
    ["ApiKey VnVhQ2ZHY0JDZGJrU==", "Elasticsearch"],
    ["0f8fad5b-d9cb-469f-a165-70867728950e", "a key without a scheme"],
    ["FOO", "the public conformance suite"],
    ["", "nothing"],
  ])("not %s (%s)", (authorization) => {
    expect(maySignRequest(authorization === "" ? null : authorization)).toBe(false);
  });

  test.each([
    [
      "AWS4-HMAC-SHA256 Credential=AK/20261129/eu/s3/aws4_request, SignedHeaders=host;range, Signature=fe5f80",
      "S3, version 4",
    ],
    ["AWS AKIAIOSFODNN7EXAMPLE:frJIUN8DYpKDtOLCwo//yllqDzg=", "S3, version 2"],
    ["SharedKey devstoreaccount1:ctzMq410TV3wS7upTBcunJTDLEJwMAZuFPfr0mrrA08=", "Azure's storage"],
    ["HMAC-SHA256 SignedHeaders=date;host&Signature=ctzMq4", "Azure's App Configuration"],
    ["EG1-HMAC-SHA256 client_token=akab;access_token=akab;timestamp=2026;nonce=1;signature=s", "Akamai's EdgeGrid"],
    [
      'Hawk id="dh37fgj492je", ts="1353832234", nonce="j4h3g2", mac="6R4rV5iE+NPoym+WwjeHzjAGXUtLNIxmo1vpMOfQLAE="',
      "Hawk",
    ],
    ['Signature keyId="k",headers="(request-target) accept",signature="c2ln"', "draft-cavage-http-signatures"],
    ["bce-auth-v1/ak/2026-11-29T08:23:49Z/1800/host/d74a04", "Baidu's storage, without a scheme"],
    ["q-sign-algorithm=sha1&q-ak=AK&q-header-list=host&q-signature=98a5", "Tencent's storage, without a scheme"],
  ])("%s (%s)", (authorization) => {
    expect(maySignRequest(authorization)).toBe(true);
  });
});
