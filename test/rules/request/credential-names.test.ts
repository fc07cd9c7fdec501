import { describe, expect, test } from "vitest";
import { handsOutCredentials, speaksOfCredentials } from "../../../worker/rules/request/credential-names.ts";

/** Fields in which clients send what lets them in, and who wants them. */
const SENT = {
  authorization: "HTTP",
  "x-api-key": "AWS's API gateways",
  "x-nuget-apikey": "NuGet",
  "x-jfrog-art-api": "Artifactory",
  "x-devpi-auth": "devpi",
  "private-token": "GitLab",
  "x-plex-token": "Plex",
  "x-remote-user": "servers behind a single sign-on",
};

/** Fields by which applications hand out a visitor's credentials, and who sends them. */
const HANDED_OUT = {
  authorization: "jwt-auth for Laravel, when it renews a token",
  "proxy-authorization": "a proxy that repeats what it got",
  "vendure-auth-token": "Vendure",
  "x-auth-token": "Spring Session, OpenStack",
  "x-subject-token": "OpenStack Keystone",
  "x-storage-token": "OpenStack Swift",
  "sw-context-token": "Shopware",
  "cart-token": "WooCommerce",
  "x-csrf-token": "SAP Gateway",
  "x-xsrf-token": "Angular's servers",
  requestverificationtoken: "ASP.NET Core",
  "x-access-token": "Express applications",
  "x-refresh-token": "Express applications",
  "x-amz-security-token": "AWS",
  "mcp-session-id": "servers of the Model Context Protocol",
  "x-transmission-session-id": "Transmission",
  "x-sessionid": "Java servers",
  "x-auth-request-access-token": "oauth2-proxy",
  "x-auth-request-user": "oauth2-proxy",
  "x-jwt": "API gateways",
  "x-client-secret": "OAuth servers",
};

/** Fields of CDNs, clouds, frameworks and standards that everybody may have. */
const ORDINARY = {
  CDNs: [
    ...["surrogate-key", "xkey", "x-key", "x-cache-key", "cache-tag", "x-served-by", "x-timer", "x-varnish", "cf-ray"],
    ...["cf-cache-status", "x-akamai-transformed", "x-check-cacheable", "x-true-cache-key", "akamai-grn", "x-iinfo"],
    ...["cdn-requestid", "cdn-cachedat", "x-hw", "x-edge-location", "x-amz-cf-id", "x-amz-cf-pop", "x-azure-ref"],
    ...["x-vercel-id", "x-vercel-cache", "x-nf-request-id", "fly-request-id", "x-fastly-request-id", "x-sucuri-id"],
    ...["x-cache-hits", "cache-status", "x-litespeed-cache", "x-litespeed-tag", "x-proxy-cache", "x-mod-pagespeed"],
  ],
  clouds: [
    ...["x-amz-id-2", "x-amz-request-id", "x-amz-version-id", "x-amz-server-side-encryption-aws-kms-key-id"],
    ...[
      "x-amz-server-side-encryption-customer-key-md5",
      "x-amz-checksum-sha256",
      "x-amz-meta-author",
      "x-amzn-trace-id",
    ],
    ...["x-amzn-requestid", "x-goog-hash", "x-goog-generation", "x-goog-encryption-key-sha256", "x-guploader-uploadid"],
    ...[
      "x-ms-request-id",
      "x-ms-blob-type",
      "x-ms-encryption-key-sha256",
      "x-ms-continuationtoken",
      "x-cloud-trace-context",
    ],
    ...[
      "x-ms-continuation-token",
      "x-oss-hash-crc64ecma",
      "x-github-request-id",
      "x-sha256",
      "x-contentful-request-id",
    ],
  ],
  frameworks: [
    ...["x-powered-by", "x-runtime", "x-request-id", "x-nextjs-cache", "x-nextjs-prerender", "x-drupal-cache-tags"],
    ...["x-magento-tags", "x-typo3-parsetime", "x-wp-total", "x-pingback", "x-inertia", "x-livewire", "x-debug-token"],
    ...["x-debug-token-link", "x-aspnet-version", "x-shopify-stage", "x-author", "x-keywords", "x-ausername"],
    ...["x-page-token", "x-next-page-token", "x-discourse-username", "x-hub-signature", "x-ratelimit-limit"],
    ...["x-ratelimit-remaining-tokens", "x-ratelimit-limit-tokens", "anthropic-ratelimit-input-tokens-reset"],
  ],
  standards: [
    ...["etag", "sec-websocket-key", "sec-websocket-accept", "access-control-allow-credentials", "authentication-info"],
    ...[
      "access-control-expose-headers",
      "www-authenticate",
      "proxy-authenticate",
      "content-security-policy",
      "signature",
    ],
    ...[
      "signature-input",
      "repr-digest",
      "content-digest",
      "origin-trial",
      "public-key-pins",
      "service-worker-allowed",
    ],
    ...["strict-transport-security", "cross-origin-opener-policy", "origin-agent-cluster", "clear-site-data", "date"],
    ...[
      "server-timing",
      "report-to",
      "nel",
      "permissions-policy",
      "alt-svc",
      "last-modified",
      "x-content-type-options",
    ],
  ],
};

describe("the name of an answer's field", () => {
  test.each(Object.entries(HANDED_OUT))("says that it hands out credentials: %s of %s", (name) => {
    expect(handsOutCredentials(name)).toBe(true);
  });

  test.each(Object.entries(ORDINARY))("of %s that everybody may have does not say so", (_, names) => {
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter(handsOutCredentials)).toEqual([]);
  });
});

describe("fields of requests that speak of credentials", () => {
  test.each(Object.entries(SENT))("%s does (%s)", (name) => {
    expect(speaksOfCredentials(name)).toBe(true);
  });

  test.each(["accept-language", "x-app-version", "user-agent", "npm-auth-type"])("%s does not", (name) => {
    expect(speaksOfCredentials(name)).toBe(false);
  });
});
