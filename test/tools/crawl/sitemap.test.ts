import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { SiteAddress } from "../../../tools/pages/site-address.ts";
import { MAX_SITEMAP_BYTES, readSitemap } from "../../../tools/pages/sitemap.ts";

const read = (text: string) => readSitemap(Buffer.from(text));

describe("a sitemap", () => {
  test.each([
    { name: "plain", text: "<urlset><url><loc>/a</loc></url></urlset>", locations: ["/a"] },
    {
      name: "with declaration, style sheet, byte order mark and comments",
      text: '\uFEFF<?xml version="1.0"?>\n<?xml-stylesheet href="a.xsl"?><!-- <urlset> --><urlset xmlns="x">\n<!-- <loc>/no</loc> --><url><loc>\n/a\n</loc></url></urlset>',
      locations: ["/a"],
    },
    {
      name: "with entities",
      text: "<urlset><loc>/?a=1&amp;b=&#39;&#x41;&apos;</loc></urlset>",
      locations: ["/?a=1&b='A'"],
    },
    { name: "with CDATA", text: "<urlset><loc> <![CDATA[/?a&b]]> </loc></urlset>", locations: ["/?a&b"] },
    {
      name: "with brackets in CDATA",
      text: "<urlset><loc><![CDATA[/?a[]=1&b[c]=2]]></loc><loc><![CDATA[/?d[e]]]></loc></urlset>",
      locations: ["/?a[]=1&b[c]=2", "/?d[e]"],
    },
    {
      name: "with CDATA that does not end, which the next element ends",
      text: "<urlset><loc><![CDATA[/a</loc><loc><![CDATA[/b]]></loc></urlset>",
      locations: ["/b"],
    },
    { name: "with a prefix", text: "<s:urlset><s:loc>/a</s:loc><loc>/b</loc></s:urlset>", locations: ["/a"] },
    {
      name: "with images",
      text: "<urlset><url><loc>/a</loc><image:image><image:loc>/a.jpg</image:loc></image:image></url></urlset>",
      locations: ["/a"],
    },
    { name: "cut off", text: "<urlset><url><loc>/a</loc></url><url><loc>/b", locations: ["/a"] },
    { name: "with a comment that does not end", text: "<urlset><loc>/a</loc><!-- <loc>/b</loc>", locations: ["/a"] },
    { name: "empty", text: "<urlset/>", locations: [] },
  ])("$name", ({ text, locations }) => {
    expect(read(text)).toEqual({ kind: "urlset", locations });
    expect(readSitemap(gzipSync(text))).toEqual({ kind: "urlset", locations });
  });

  test("an index", () => {
    const text = "<sitemapindex><sitemap><loc>/a.xml</loc></sitemap></sitemapindex>";
    expect(read(text)).toEqual({ kind: "sitemapindex", locations: ["/a.xml"] });
  });

  test.each([
    { name: "a feed", bytes: Buffer.from("<?xml version='1.0'?><rss><loc>/a</loc></rss>") },
    { name: "a page", bytes: Buffer.from("<!doctype html><html><urlset></html>") },
    { name: "nothing", bytes: Buffer.alloc(0) },
    { name: "millions of declarations", bytes: Buffer.from(`${"<!x>".repeat(5_000_000)}<urlset/>`) },
    { name: "a broken archive", bytes: gzipSync("<urlset/>").subarray(0, 12) },
    {
      name: "an archive of more than a sitemap may hold",
      bytes: gzipSync(`<urlset>${" ".repeat(MAX_SITEMAP_BYTES)}</urlset>`),
    },
  ])("$name is none", ({ bytes }) => {
    expect(readSitemap(bytes)).toBe(null);
  });
});

describe("the pages of a site", () => {
  const pathsOf = (site: SiteAddress, ...urls: string[]) => urls.map((url) => site.pathOf(new URL(url)));

  test("are those of its host, and the edge's own host is the target of a redirect only under its scheme", () => {
    const site = new SiteAddress(new URL("http://edge.example:8080"), ["www.example.com"]);
    const urls = [
      "http://edge.example:8080/a?b#c",
      "https://www.example.com/a",
      "https://edge.example:8080/a",
      "http://edge.example/a",
      "ftp://www.example.com/a",
    ];
    expect(pathsOf(site, ...urls)).toEqual(["/a?b", "/a", "/a", null, null]);
    expect(urls.map((url) => site.targetPathOf(new URL(url)))).toEqual(["/a?b", "/a", null, null, null]);
  });

  test("are those of the one host of the first sitemap", () => {
    const site = new SiteAddress(new URL("http://localhost:8787"), []);
    site.adopt([new URL("https://a.example/"), new URL("https://b.example/")]);
    expect(site.publicHost).toBe(null);
    site.adopt([new URL("https://a.example/1"), new URL("https://a.example/2")]);
    site.adopt([new URL("https://b.example/")]);
    expect(site.publicHost).toBe("a.example");
    expect(pathsOf(site, "https://a.example/1", "https://b.example/")).toEqual(["/1", null]);
  });
});
