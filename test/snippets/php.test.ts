import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { blockWith } from "./blocks.ts";
import { linesOf, works } from "./program.ts";
import { SnippetEdge } from "./snippet-edge.ts";

const hasPhp = works("php", "-r", "exit(extension_loaded('curl') ? 0 : 1);");
const WITHOUT_PHP = "the blocks in PHP are SKIPPED, because this machine has no PHP (on Debian: php-cli and php-curl)";
if (!hasPhp) process.stdout.write(`${WITHOUT_PHP}\n`);

/** Laravel's HTTP client is Guzzle, which Debian's package only suggests. */
const LARAVEL =
  "(@include 'GuzzleHttp/autoload.php') && (@include 'Illuminate/autoload.php') && extension_loaded('pdo_sqlite')";
const hasLaravel = hasPhp && works("php", "-r", `exit(${LARAVEL} ? 0 : 1);`);
const WITHOUT_LARAVEL =
  "the block for Laravel is SKIPPED, because this machine has no Laravel (on Debian: php-laravel-framework, php-guzzlehttp-guzzle and php-sqlite3)";
if (!hasLaravel) process.stdout.write(`${WITHOUT_LARAVEL}\n`);

/** Everything but E_DEPRECATED: Debian's Laravel is older than its PHP. */
const ERRORS = "error_reporting=24575";

/** Asks the edge for pages, twice each, and prints how it answers. Each is read to its end, so that it is stored then. */
const TELL = `
function tell($what, $paths = ['/songs/42', '/lists', '/about']) {
  $seen = [];
  foreach ([...$paths, ...$paths] as $path) {
    $request = curl_init(getenv('TIDEMARK_ENDPOINT') . $path);
    curl_setopt_array($request, [CURLOPT_HEADER => true, CURLOPT_RETURNTRANSFER => true]);
    preg_match('/^x-cache: (\\w+)/im', curl_exec($request), $answer);
    $seen[] = $answer[1];
  }
  echo $what, ' ', implode(' ', $seen), "\\n";
}
`;

describe.skipIf(!hasPhp)(hasPhp ? "the blocks in PHP" : WITHOUT_PHP, () => {
  let edge: SnippetEdge;
  beforeAll(async () => {
    edge = await SnippetEdge.start();
  }, 60_000);
  afterAll(() => edge?.[Symbol.asyncDispose]());

  beforeEach(async () => {
    await edge.publish("/songs/42", "song:42, post:42");
    await edge.publish("/lists", "lists");
    await edge.publish("/about", "about");
  });

  const run = (program: string, settings: Readonly<Record<string, string>> = edge.settings) =>
    linesOf(["php", "-d", "display_errors=stderr", "-d", "log_errors=0", "-d", ERRORS], program, settings);

  describe("the plugin for WordPress in docs/sites.md", () => {
    const PLUGIN = blockWith("docs/sites.md", "wp-content/mu-plugins/tidemark.php").replace(/^<\?php.*\n/, "");
    /** The functions of WordPress that it calls. The hooks are called as WordPress does. */
    const STANDS = `<?php
      namespace site; // where these stand in for functions of PHP
      ${TELL}
      function header($field) { echo $field, "\\n"; }
      $hooks = [];
      function add_action($hook, $callback) { global $hooks; $hooks[$hook][] = $callback; }
      function do_action($hook, ...$values) { global $hooks; foreach ($hooks[$hook] as $each) $each(...$values); }
      function add_filter($hook, $callback) { add_action($hook, $callback); }
      function apply_filters($hook, $value) {
        global $hooks;
        foreach ($hooks[$hook] ?? [] as $each) $value = $each($value);
        return $value;
      }
      $shown = 'list';
      function is_page() { return $GLOBALS['shown'] === 'page'; }
      function is_singular() { return $GLOBALS['shown'] !== 'list'; }
      function get_queried_object_id() { return 42; }
      function wp_is_post_revision($id) { return $id === 43 ? 42 : false; }
      function wp_get_upload_dir() {
        return ['basedir' => '/var/www/files', 'baseurl' => 'https://www.example.com/wp-content/uploads'];
      }
      function wp_json_encode($value) { return json_encode($value); }
      function wp_remote_post($url, $options) {
        $request = curl_init($url);
        $fields = array_map(fn ($name, $value) => "$name: $value", array_keys($options['headers']), $options['headers']);
        curl_setopt_array($request, [CURLOPT_POSTFIELDS => $options['body'], CURLOPT_HTTPHEADER => $fields,
          CURLOPT_RETURNTRANSFER => true]);
        $body = curl_exec($request);
        if ($body === false) return new WP_Error(curl_error($request));
        ['accepted' => $accepted] = json_decode($body, true) + ['accepted' => null];
        if ($accepted) echo 'purged ', $accepted['tags'], ' tags, ', $accepted['prefixes'], " prefixes\\n";
        return ['code' => curl_getinfo($request, CURLINFO_RESPONSE_CODE), 'body' => $body];
      }
      class WP_Error {
        function __construct(private string $message) {}
        function get_error_message() { return $this->message; }
      }
      function is_wp_error($answer) { return $answer instanceof WP_Error; }
      function wp_remote_retrieve_response_code($answer) { return is_wp_error($answer) ? '' : $answer['code']; }
      function wp_remote_retrieve_body($answer) { return is_wp_error($answer) ? '' : $answer['body']; }
      function error_log($message) { echo 'logged: ', $message, "\\n"; }
      ${PLUGIN}
    `;

    test("tags posts, lists, and pages, which may show a list", async () => {
      const lines = await run(`${STANDS}
        foreach (['post', 'list', 'page'] as $shown) do_action('template_redirect');
      `);
      expect(lines).toEqual(["Cache-Tag: post:42", "Cache-Tag: lists", "Cache-Tag: post:42, lists"]);
    });

    test("purges once what a request has changed", async () => {
      const lines = await run(`${STANDS}
        do_action('clean_post_cache', 43); // a revision
        tell('a revision');
        do_action('clean_post_cache', 42);
        do_action('clean_post_cache', 42);
        tell('not yet');
        register_shutdown_function(fn () => tell('at the end'));
      `);
      expect(lines).toEqual([
        "a revision HIT HIT HIT HIT HIT HIT",
        "not yet HIT HIT HIT HIT HIT HIT",
        "purged 2 tags, 0 prefixes",
        "at the end MISS MISS HIT HIT HIT HIT",
      ]);
    });

    test.each([
      ["refused", { TIDEMARK_TOKEN: "wrong" }, /^logged: tidemark: \{.*token/],
      ["lost", { TIDEMARK_ENDPOINT: "http://127.0.0.1:1" }, /^logged: tidemark: .*127\.0\.0\.1 port 1/],
    ])("says in PHP's log why a purge is %s", async (_, wrong, logged) => {
      const lines = await run(`${STANDS} do_action('clean_post_cache', 42);`, { ...edge.settings, ...wrong });
      expect(lines).toEqual([expect.stringMatching(logged)]);
    });

    test("purges a deleted upload and its sizes, with any query, and no other upload", async () => {
      const uploads = ["/report.png", "/report-150x150.png", "/report.png?v=1", "/ü.png", "/report-2.png"].map(
        (file) => `/wp-content/uploads/2026/11${encodeURI(file)}`,
      );
      for (const path of uploads) await edge.publish(path, "");
      const lines = await run(`${STANDS}
        foreach (['report.png', 'report-150x150.png', 'ü.png'] as $name) {
          $file = "/var/www/files/2026/11/$name";
          if (apply_filters('wp_delete_file', $file) !== $file) echo "$file would not be deleted\\n";
        }
        apply_filters('wp_delete_file', 'C:\\\\Temp\\\\not-an-upload.zip');
        register_shutdown_function(fn () => tell('uploads', ${JSON.stringify(uploads)}));
      `);
      expect(lines).toEqual(["purged 0 tags, 3 prefixes", "uploads MISS MISS MISS MISS HIT HIT HIT HIT HIT HIT"]);
    });
  });

  test("docs/sites.md, WordPress: wp-config.php takes host, scheme and client from the edge", {
    tags: ["deep"],
  }, async () => {
    const block = blockWith("docs/sites.md", "HTTP_X_FORWARDED_HOST");
    const tell = "echo $_SERVER['HTTP_HOST'], ' ', $_SERVER['HTTPS'] ?? 'off', ' ', $_SERVER['REMOTE_ADDR'];";
    const atOrigin = "<?php $_SERVER['HTTP_HOST'] = 'origin.test'; $_SERVER['REMOTE_ADDR'] = '192.0.2.1';";
    for (const [forwarded, told] of [
      [
        "$_SERVER['HTTP_X_FORWARDED_HOST'] = 'www.example.com'; $_SERVER['HTTP_X_FORWARDED_PROTO'] = 'https';",
        "www.example.com on 192.0.2.1",
      ],
      ["$_SERVER['HTTP_X_FORWARDED_PROTO'] = 'http';", "origin.test off 192.0.2.1"],
      ["$_SERVER['HTTP_X_FORWARDED_FOR'] = '2001:db8::7';", "origin.test off 2001:db8::7"],
      ["$_SERVER['HTTP_X_FORWARDED_FOR'] = '198.51.100.7, 192.0.2.2';", "origin.test off 198.51.100.7"],
      ["", "origin.test off 192.0.2.1"],
    ]) {
      expect(await run(`${atOrigin} ${forwarded} ${block} ${tell}`)).toEqual([told]);
    }
  });

  describe.skipIf(!hasLaravel)(hasLaravel ? "with Laravel" : WITHOUT_LARAVEL, () => {
    let folder: string;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), "tidemark-laravel-"));
      writeFileSync(join(folder, "song.blade.php"), "a song: {{ $song->title }}");
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    test("docs/sites.md, Laravel: a route outside the web group is for everybody, logins are marked, and a purge reaches the edge", {
      tags: ["deep"],
    }, async () => {
      const [routes, listeners, services, purge, ...others] = blockWith("docs/sites.md", "RouteServiceProvider").split(
        "\n\n",
      );
      expect(others).toEqual([]);
      const [group, ...below] = routes!.split("\n");
      expect(group).toMatch(/^\/\/ RouteServiceProvider: .*;$/);
      const routesFile = join(folder, "public.php");
      writeFileSync(routesFile, `<?php use Illuminate\\Support\\Facades\\Route;\n${below.join("\n")}`);
      await using hanging = createServer(() => {});
      await once(hanging.listen(0, "127.0.0.1"), "listening");
      const lines = await run(
        `<?php
        use Illuminate\\Auth\\Events\\{Login, Logout};
        use Illuminate\\Routing\\Middleware\\SubstituteBindings;
        use Illuminate\\Support\\Facades\\{Cookie, DB, Event, Facade, Http, Route};
        require 'GuzzleHttp/autoload.php';
        require 'Illuminate/autoload.php';
        ${TELL}
        class Song extends Illuminate\\Database\\Eloquent\\Model { public $timestamps = false; protected $guarded = []; }
        class_alias('Song', 'App\\Models\\Song');
        class User { public function getAuthIdentifier() { return 7; } }

        $folder = ${JSON.stringify(folder)};
        $app = new Illuminate\\Foundation\\Application($folder);
        $app->instance('config', new Illuminate\\Config\\Repository([
          'view' => ['paths' => [$folder], 'compiled' => $folder],
          'services' => [
            ${services}
          ],
          'session' => ['path' => '/', 'domain' => null, 'secure' => false],
          'database' => ['default' => 'one', 'connections' => ['one' => ['driver' => 'sqlite', 'database' => ':memory:']]],
        ]));
        Facade::setFacadeApplication($app);
        foreach (['Events\\EventServiceProvider', 'Filesystem\\FilesystemServiceProvider', 'View\\ViewServiceProvider',
          'Database\\DatabaseServiceProvider', 'Cookie\\CookieServiceProvider'] as $provider)
          $app->register("Illuminate\\\\$provider");
        $app->boot();
        Route::aliasMiddleware('cache.headers', Illuminate\\Http\\Middleware\\SetCacheHeaders::class);

        DB::statement('create table songs (id integer primary key, title text)');
        $song = Song::create(['id' => 42, 'title' => 'old']);
        ${group!.replace("// RouteServiceProvider: ", "").replace("base_path('routes/public.php')", JSON.stringify(routesFile))}
        $app->instance('request', Illuminate\\Http\\Request::create('/songs/42'));
        $answer = $app['router']->dispatch($app['request']);
        echo $answer->getContent(), ' | ', $answer->headers->get('Cache-Control'), ' | ', $answer->headers->get('Cache-Tag'), "\\n";

        ${listeners}
        foreach ([new Login('web', new User, false), new Logout('web', new User)] as $event) {
          Event::dispatch($event);
          $cookie = Cookie::queued('signed_in');
          echo get_class($event), ' ', $cookie->getValue() ?? 'none', ' ', $cookie->getExpiresTime() > time() ? 'stays' : 'ends', "\\n";
        }

        tell('before');
        putenv('TIDEMARK_TOKEN'); // gone, as what only .env has is once the configuration is cached
        ${purge}
        tell('purged');
        $app->instance(Illuminate\\Contracts\\Debug\\ExceptionHandler::class, new class {
          public function report($error) { echo 'reported: ', strtok($error->getMessage(), "\\n"), "\\n"; }
        });
        config(['services.tidemark.token' => 'wrong']);
        ${purge}
        config(['services.tidemark.endpoint' => getenv('HANGING_EDGE')]);
        ${purge}
      `,
        { ...edge.settings, HANGING_EDGE: `http://127.0.0.1:${(hanging.address() as AddressInfo).port}` },
      );
      expect(lines).toEqual([
        "a song: old | max-age=0, public, s-maxage=3600 | song:42",
        "Illuminate\\Auth\\Events\\Login 1 stays",
        "Illuminate\\Auth\\Events\\Logout none ends",
        "before HIT HIT HIT HIT HIT HIT",
        "purged MISS HIT HIT HIT HIT HIT",
        expect.stringMatching(/^reported: .* 401/),
        expect.stringMatching(/^reported: .* timed out after /),
      ]);
    });
  });
});
