import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blockWith } from "./blocks.ts";
import { linesOf, works } from "./program.ts";
import { SnippetEdge } from "./snippet-edge.ts";

const hasRails = works(
  "ruby",
  "-e",
  "require 'active_record'; require 'active_job'; require 'action_controller'; require 'action_cable'; require 'sqlite3'",
);
const NOT_RUN =
  "the blocks in Ruby are SKIPPED, because this machine has no Rails (on Debian: ruby-activerecord, ruby-activejob, ruby-actionpack, ruby-actioncable, ruby-sqlite3)";
if (!hasRails) process.stdout.write(`${NOT_RUN}\n`);

describe.skipIf(!hasRails)(hasRails ? "the blocks in Ruby, with Rails" : NOT_RUN, () => {
  let edge: SnippetEdge;
  beforeAll(async () => {
    edge = await SnippetEdge.start();
    for (const [path, tags] of [
      ["/songs/42", "song:42"],
      ["/songs", "songs"],
      ["/about", "about"],
    ] as const)
      await edge.publish(path, tags);
  }, 60_000);
  afterAll(() => edge?.[Symbol.asyncDispose]());

  /** Passes purges on to the edge, and never answers them. Says by another request when one has arrived there. */
  async function hangingEdge(): Promise<AsyncDisposable & { readonly url: string }> {
    const purged = Promise.withResolvers<void>();
    const server = createServer(async (request, response) => {
      if (request.method === "POST") {
        const { authorization = "", "content-type": type = "" } = request.headers;
        const body = await text(request);
        await fetch(edge.endpoint + request.url, {
          method: "POST",
          headers: { authorization, "content-type": type },
          body,
        });
        purged.resolve();
      } else {
        await purged.promise;
        response.end();
      }
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      async [Symbol.asyncDispose]() {
        server.closeAllConnections();
        await once(server.close(), "close");
      },
    };
  }

  test("docs/purging.md: a model purges its pages after the commit, whatever the edge does then", async () => {
    await using hanging = await hangingEdge();
    const program = `
      require "active_record"
      require "active_job"
      ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
      ActiveRecord::Schema.verbose = false
      ActiveRecord::Schema.define do
        create_table(:songs) { |table| table.string :title }
        create_table(:orders)
      end
      class ApplicationRecord < ActiveRecord::Base
        self.abstract_class = true
      end
      class Order < ApplicationRecord
        after_commit { puts "order is mailed" }
      end
      class KeepingAdapter
        JOBS = []
        WAITS = []
        def enqueue(job) = JOBS << job.serialize.to_json
        def enqueue_at(job, time)
          WAITS << time - Time.now.to_f
          enqueue(job)
        end
      end
      class ApplicationJob < ActiveJob::Base
        self.queue_adapter = KeepingAdapter.new
        self.logger = nil
      end
      ${blockWith("docs/purging.md", "class PurgeJob")}
      EDGE = ENV["TIDEMARK_ENDPOINT"]
      DOWN = "http://127.0.0.1:1"
      HANGING = URI(ENV["HANGING_EDGE"])
      # The block's timeouts are short there. Without one, Net::HTTP waits for a minute.
      Net::HTTP.prepend(Module.new do
        def read_timeout=(seconds); super(port == HANGING.port ? seconds / 50.0 : seconds); end
      end)
      def pages = %w[/songs/42 /songs /about].map { |path| Net::HTTP.get_response(URI.join(EDGE, path))["x-cache"] }
      def tell(what) = puts([what, *pages, *pages].join(" "))
      # As a worker, whatever time has come.
      def work = KeepingAdapter::JOBS.shift(99).each { |job| ActiveJob::Base.execute(JSON.parse(job)) }

      song = Song.new(title: "old")
      song.id = 42
      Song.transaction { song.save!; work; tell "saved" }
      work
      tell "committed"
      Song.transaction { song.update!(title: "never"); raise ActiveRecord::Rollback }
      work
      tell "rolled back"

      ENV["TIDEMARK_ENDPOINT"] = DOWN
      ApplicationRecord.transaction { song.update!(title: "new"); Order.create! }
      work
      tell "down"
      ENV["TIDEMARK_ENDPOINT"] = EDGE
      work
      tell "up again"

      ENV["TIDEMARK_ENDPOINT"] = HANGING.to_s
      song.destroy!
      work
      Net::HTTP.get(HANGING) # waits until the purge has arrived
      tell "hangs"
      ENV["TIDEMARK_ENDPOINT"] = EDGE
      work
      tell "purged once"

      token = ENV["TIDEMARK_TOKEN"]
      ENV["TIDEMARK_TOKEN"] = "wrong"
      Song.create!(title: "another")
      work
      tell "refused"
      ENV["TIDEMARK_TOKEN"] = token
      work
      tell "allowed"

      ENV["TIDEMARK_ENDPOINT"] = DOWN
      KeepingAdapter::WAITS.clear
      Song.create!(title: "lost")
      begin
        work while KeepingAdapter::JOBS.any?
      rescue Errno::ECONNREFUSED
        puts "given up after #{KeepingAdapter::WAITS.sum.round / 60} minutes"
      end
    `;
    const settings = { ...edge.settings, HANGING_EDGE: hanging.url };
    expect(await linesOf(["ruby", "-W:no-deprecated", "-"], program, settings)).toEqual([
      "saved HIT HIT HIT HIT HIT HIT",
      "committed MISS MISS HIT HIT HIT HIT",
      "rolled back HIT HIT HIT HIT HIT HIT",
      "order is mailed",
      "down HIT HIT HIT HIT HIT HIT",
      "up again MISS MISS HIT HIT HIT HIT",
      "hangs MISS MISS HIT HIT HIT HIT",
      "purged once HIT HIT HIT HIT HIT HIT",
      "refused HIT HIT HIT HIT HIT HIT",
      "allowed HIT MISS HIT HIT HIT HIT",
      "given up after 72 minutes",
    ]);
    expect(await edge.purges()).toHaveLength(4);
  });

  test("docs/sites.md: a page is for everybody only if its visitor has no session", {
    tags: ["deep"],
  }, async () => {
    const program = `
      require "active_support"
      require "action_controller"
      require "rack/mock"
      ActionDispatch::Flash # gives requests their flash
      class SongsController < ActionController::Base
        protect_from_forgery
        def user = Struct.new(:id).new(7)
        def form = render(inline: "<%= form_tag '/songs' %>")
        def thank = redirect_to("/songs/42", notice: "Thanks, Ada")
        def default_render = render(inline: LAYOUT)
        ${blockWith("docs/sites.md", "cookies.permanent[:signed_in]")}
      end
      SESSIONS = ActiveSupport::Cache::MemoryStore.new
      LAYOUT = <<~'END'
        ${blockWith("docs/sites.md", "csrf_meta_tags unless")}
        <%= notice %>
      END
      # What a browser with these cookies gets. It keeps those that are set.
      def answer(jar, action)
        env = Rack::MockRequest.env_for("/songs/42", "HTTP_COOKIE" => jar.map { |pair| pair.join("=") }.join("; "))
        env["action_dispatch.request.path_parameters"] = { id: "42" }
        app = ActionDispatch::Session::CacheStore.new(SongsController.action(action), cache: SESSIONS, key: "_session")
        _, fields, body = ActionDispatch::Cookies.new(app).call(env)
        given = fields["Set-Cookie"].to_s.lines.to_h { |line| line[/[^;]+/].split("=", 2) }
        jar.merge!(given)
        text = []
        body.each { |part| text.concat(part.scan(/csrf-token|Thanks, Ada/)) }
        puts [action, *fields.values_at("Cache-Control", "Cache-Tag"), *given.keys, *text].compact.join(" | ")
      end
      ada = {}
      %i[show form thank show show create show].each { |action| answer(ada, action) }
      answer({}, :show)
    `;
    expect(await linesOf(["ruby", "-W:no-deprecated", "-"], program, {})).toEqual([
      "show | max-age=0, public, s-maxage=3600 | song:42",
      "form | _session",
      "thank",
      "show | song:42 | csrf-token | Thanks, Ada",
      "show | song:42 | csrf-token",
      "create | signed_in | csrf-token",
      "show | song:42 | csrf-token",
      "show | max-age=0, public, s-maxage=3600 | song:42",
    ]);
  });

  test("docs/sites.md: ActionCable accepts WebSockets of the public site, though Host is the origin's own", {
    tags: ["deep"],
  }, async () => {
    const program = `
      require "action_cable"
      require "logger"
      require "rack/mock"
      require "socket"
      HANDSHAKE = {
        "HTTP_ORIGIN" => "https://www.example.com",
        "HTTP_CONNECTION" => "Upgrade",
        "HTTP_UPGRADE" => "websocket",
        "HTTP_SEC_WEBSOCKET_VERSION" => "13",
        "HTTP_SEC_WEBSOCKET_KEY" => "dGhlIHNhbXBsZSBub25jZQ==",
        "rack.hijack?" => true,
      }
      def open_by(host)
        server = ActionCable::Server::Base.new(config: ActionCable::Server::Configuration.new)
        server.config.logger = Logger.new(nil)
        server.config.cable = { "adapter" => "async" }
        server.config.connection_class = -> { ActionCable::Connection::Base }
        yield Struct.new(:action_cable).new(server.config)
        ours, theirs = UNIXSocket.pair
        env = Rack::MockRequest.env_for("https://#{host}/cable", HANDSHAKE.merge("HTTP_HOST" => host))
        env["rack.hijack"] = -> { env["rack.hijack_io"] = theirs }
        status, = server.call(env)
        puts [host, status == 404 ? status : ours.gets.strip].join(" | ")
      end
      open_by("origin.example.com") { |config| }
      open_by("www.example.com") { |config| }
      open_by("origin.example.com") do |config|
        ${blockWith("docs/sites.md", "allowed_request_origins")}
      end
      $stdout.flush
      exit! 0 # at a plain exit Ruby at times waits for ever for the thread of ActionCable's sockets
    `;
    expect(await linesOf(["ruby", "-W:no-deprecated", "-"], program, {})).toEqual([
      "origin.example.com | 404",
      "www.example.com | HTTP/1.1 101 Switching Protocols",
      "origin.example.com | HTTP/1.1 101 Switching Protocols",
    ]);
  });
});
