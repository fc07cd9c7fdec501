/** A configuration of a well-known project. None is copied into this one. */
export interface PublicConfiguration {
  readonly repository: string;
  readonly revision: string;
  readonly path: string;
  /** The folder of the repository that stands for `/` in includes. */
  readonly root?: string;
  readonly server?: string;
  /** What its owner has around the file, with `@` for the file. */
  readonly within?: string;
  /** Of the locations that nginx caches; `refused` if the import says that there is nothing to import. */
  readonly expected: { readonly store: number; readonly pass: number } | "refused";
  /** The words for which locations pass. */
  readonly because?: readonly string[];
}

export const CORPUS: readonly PublicConfiguration[] = [
  {
    repository: "spinupwp/wordpress-nginx",
    revision: "b5f439c9cdac6514e31a6e8932ebeaba5e5c921b",
    path: "sites-available/single-site-with-caching.com",
    root: ".",
    expected: { store: 3, pass: 0 },
  },
  {
    repository: "A5hleyRich/wordpress-nginx",
    revision: "587de90c9c80d69c083cb8147c88d7bd334b0533",
    path: "sites-available/single-site-with-caching.com",
    root: ".",
    expected: { store: 3, pass: 0 },
  },
  {
    repository: "LemmyNet/lemmy-ansible",
    revision: "03f27fd587b83f019e6335c11df725d67174380e",
    path: "templates/nginx.conf",
    expected: { store: 1, pass: 0 },
  },
  {
    repository: "LemmyNet/lemmy",
    revision: "439734dd638a2c06a2f907beab7dcf4646e88f86",
    path: "docker/nginx.conf",
    expected: "refused",
  },
  {
    repository: "ckan/ckan-docker",
    revision: "fc90a89227f432f58e7dcc80311dbeb1151ff90f",
    path: "nginx/setup/default.conf",
    expected: "refused",
  },
  {
    repository: "nystudio107/nginx-craft",
    revision: "0b52f31f8b3d83038c4b9354a5e6be2256594ad8",
    path: "forge-templates/NginxFastCGICacheTemplate.conf",
    expected: { store: 5, pass: 0 },
  },
  {
    repository: "WordOps/WordOps",
    revision: "804e909053c0eebc9af0e33eb898eb379350757c",
    path: "wo/cli/templates/wpfc.mustache",
    within: "include map-wp.mustache; server { server_name www.example.com; @ include locations.mustache; }",
    expected: { store: 2, pass: 0 },
  },
  {
    repository: "engintron/engintron",
    revision: "185774fbc4ba7f6ea1e06dd5c97985dd59ed3daa",
    path: "nginx/proxy_params_dynamic",
    within: "server { server_name www.example.com; location / { @ proxy_pass http://10.0.0.1; } }",
    expected: { store: 1, pass: 0 },
  },
  {
    repository: "engintron/engintron",
    revision: "185774fbc4ba7f6ea1e06dd5c97985dd59ed3daa",
    path: "nginx/proxy_params_static",
    within: "server { server_name www.example.com; location ~* \\.(css|js|jpg)$ { @ proxy_pass http://10.0.0.1; } }",
    expected: { store: 1, pass: 0 },
  },
  {
    repository: "engintron/engintron",
    revision: "185774fbc4ba7f6ea1e06dd5c97985dd59ed3daa",
    path: "nginx/common_http.conf",
    within: "server { server_name www.example.com; @ }",
    expected: { store: 7, pass: 0 },
  },
  {
    repository: "perusio/drupal-with-nginx",
    revision: "747fc306b86ff772829265ab475de7b9825aff7e",
    path: "sites-available/example.com.conf",
    root: ".",
    within:
      "include ../blacklist.conf; include ../apps/drupal/map_cache.conf; include ../fastcgi_microcache_zone.conf; include ../map_block_http_methods.conf; @",
    server: "example.com",
    expected: { store: 8, pass: 0 },
  },
  {
    repository: "nginxinc/nginx-s3-gateway",
    revision: "ea82f3b1b09e103fe5e9db647303efb3d1e6ecbb",
    path: "common/etc/nginx/templates/default.conf.template",
    expected: { store: 0, pass: 1 },
    because: ["proxy_pass_request_headers off", "js_header_filter s3gateway.editHeaders", "proxy_intercept_errors on"],
  },
  {
    repository: "rpardini/docker-registry-proxy",
    revision: "7515d698a10157e34acc3e4e4cd6957fab76729d",
    path: "nginx.conf",
    expected: "refused",
  },
  {
    repository: "matomo-org/matomo-nginx",
    revision: "5b232af8ec1fd9d033f1c4ab9343f4073df64644",
    path: "sites-available/matomo.conf",
    expected: "refused",
  },
  {
    repository: "gitlabhq/gitlab-recipes",
    revision: "f8174e624a5ac107504dd7935c85f9b8873efe74",
    path: "web-server/nginx/gitlab-omnibus-nginx.conf",
    expected: "refused",
  },
  {
    repository: "pixelfed/pixelfed",
    revision: "8aae92d75b4881e5cd6a4e2c83ca52046e5b3d66",
    path: "docker/nginx/root/docker/templates/etc/nginx/conf.d/default.conf",
    expected: "refused",
  },
  {
    repository: "nextcloud/docker",
    revision: "4de1eed65a44c61ecce601ef1d27abd2059b52e6",
    path: ".examples/docker-compose/insecure/mariadb/fpm/web/nginx.conf",
    expected: "refused",
  },
  {
    repository: "pothi/wordpress-nginx",
    revision: "0fa347058eb09e95422e8222b14d9c340e09537d",
    path: "sites-available/catchall.conf",
    root: ".",
    expected: "refused",
  },
  {
    repository: "h5bp/server-configs-nginx",
    revision: "663057006870d0a9802d6dd02f3e09c98b11b04a",
    path: "conf.d/templates/example.com.conf",
    root: ".",
    expected: "refused",
  },
  {
    repository: "mastodon/mastodon",
    revision: "0061c555b721831a26b3dd95e7ed8742acc9c7df",
    path: "dist/nginx.conf",
    expected: { store: 1, pass: 0 },
  },
  {
    repository: "discourse/discourse",
    revision: "00d445c4bcdecd11fb16816451401b5ebab0a6ab",
    path: "config/nginx.sample.conf",
    expected: { store: 1, pass: 1 },
    because: [
      "proxy_method GET",
      "proxy_pass_request_headers off",
      "proxy_pass_request_body off",
      "proxy_pass https://avatars.discourse.org/",
    ],
  },
  {
    repository: "Chocobozzz/PeerTube",
    revision: "0136889c6062490704bbb2208566abda7492274c",
    path: "support/nginx/peertube",
    expected: "refused",
  },
];
