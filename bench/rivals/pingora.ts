import { build, type Rival } from "./rival.ts";

const VERSION = "0.9.1";

const MANIFEST = `[package]
name = "site"
version = "0.0.0"
edition = "2021"

[dependencies]
async-trait = "0.1"
http = "1"
pingora = { version = "=${VERSION}", default-features = false, features = ["proxy", "cache"] }
`;

/** Pingora is a library. This is the least program around its proxy and its memory: `site ADDRESS ORIGIN THREADS`. */
const MAIN = `use pingora::cache::cache_control::CacheControl;
use pingora::cache::eviction::lru::Manager;
use pingora::cache::filters::resp_cacheable;
use pingora::cache::lock::{CacheKeyLockImpl, CacheLock};
use pingora::cache::{CacheKey, CacheMetaDefaults, CachePhase, MemCache, RespCacheable};
use pingora::prelude::*;
use pingora::server::configuration::ServerConf;
use std::{env, sync::LazyLock, time::Duration};

static PAGES: LazyLock<MemCache> = LazyLock::new(MemCache::new);
static EVICTION: LazyLock<Manager<16>> = LazyLock::new(|| Manager::with_capacity(3 << 30, 1024));
static LOCKS: LazyLock<Box<CacheKeyLockImpl>> = LazyLock::new(|| CacheLock::new_boxed(Duration::from_secs(5)));
const LIFETIMES: CacheMetaDefaults = CacheMetaDefaults::new(|_| None, 0, 0);

struct Site {
    origin: String,
}

#[async_trait::async_trait]
impl ProxyHttp for Site {
    type CTX = ();

    fn new_ctx(&self) {}

    async fn upstream_peer(&self, _: &mut Session, _: &mut ()) -> Result<Box<HttpPeer>> {
        Ok(Box::new(HttpPeer::new(&self.origin, false, String::new())))
    }

    fn request_cache_filter(&self, session: &mut Session, _: &mut ()) -> Result<()> {
        if session.req_header().method == http::Method::GET {
            session.cache.enable(&*PAGES, Some(&*EVICTION), None, Some(LOCKS.as_ref()), None);
        }
        Ok(())
    }

    fn cache_key_callback(&self, session: &Session, _: &mut ()) -> Result<CacheKey> {
        Ok(CacheKey::new(session.req_header().uri.to_string().into_bytes(), ""))
    }

    fn response_cache_filter(&self, _: &Session, head: &ResponseHeader, _: &mut ()) -> Result<RespCacheable> {
        Ok(resp_cacheable(CacheControl::from_resp_headers(head).as_ref(), head.clone(), false, &LIFETIMES))
    }

    async fn response_filter(&self, session: &mut Session, head: &mut ResponseHeader, _: &mut ()) -> Result<()> {
        let from = if session.cache.phase() == CachePhase::Hit { "HIT" } else { "MISS" };
        head.insert_header("x-cache", from)
    }
}

fn main() {
    let [address, origin, threads]: [String; 3] = env::args().skip(1).collect::<Vec<_>>().try_into().unwrap();
    let settings = ServerConf { threads: threads.parse().unwrap(), ..ServerConf::default() };
    let mut server = Server::new_with_opt_and_conf(None, settings);
    server.bootstrap();
    let mut proxy = http_proxy_service(&server.configuration, Site { origin });
    proxy.add_tcp(&address);
    server.add_service(proxy);
    server.run_forever();
}
`;

/** Pingora's proxy with its cache in memory. */
export const pingora: Rival = {
  name: "Pingora",
  async get() {
    const files = { "Cargo.toml": MANIFEST, "src/main.rs": MAIN };
    const commands = ["cargo", "build", "--quiet", "--release"] as const;
    const program = await build("pingora", files, "target/release/site", commands);
    return { run: [program], version: VERSION };
  },
  settings: {
    plain: (run) => ({
      speaksTls: false, // with none of its TLS libraries
      isHit: (field) => field("x-cache") === "HIT",
      commandLine: async ({ origin, workers = 1 }, { port }) => [
        ...run,
        `127.0.0.1:${port}`,
        origin.host,
        `${workers}`,
      ],
    }),
  },
};
