vcl 4.1;

import std;

backend default {
    .host = "127.0.0.1";
    .port = "8000";
}

acl purge {
    "localhost";
    "192.0.2.0"/24;
}

sub vcl_recv {
    if (req.method == "PURGE") {
        if (!client.ip ~ purge) {
            return (synth(405, "Not allowed"));
        }
        return (purge);
    }

    # Only GET and HEAD are cached.
    if (req.method != "GET" && req.method != "HEAD") {
        return (pass);
    }
    if (req.url ~ "^/(admin|login)" || req.url == "/cart") {
        return (pass);
    }
    if (req.http.Cookie ~ "(sessionid|remember_me)=") {
        return (pass);
    }
    if (req.http.Authorization) {
        return (pass);
    }
    if (req.url ~ "\.(css|js)$") {
        unset req.http.Cookie;
    }
    if (req.http.User-Agent ~ "BadBot") {
        return (synth(403));
    }
    set req.http.X-Scheme = "https";
    return (hash);
}

sub vcl_backend_response {
    if (bereq.url ~ "\.(css|js)$") {
        unset beresp.http.Set-Cookie;
        set beresp.ttl = 7d;
    }
    set beresp.grace = 6h;
}

sub vcl_deliver {
    if (obj.hits > 0) {
        set resp.http.X-Cache = "HIT";
    } else {
        set resp.http.X-Cache = "MISS";
    }
    unset resp.http.X-Powered-By;
}
