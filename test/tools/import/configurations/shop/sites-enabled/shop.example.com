server {
    listen 80;
    server_name shop.example.com;
    client_max_body_size 20m;

    location / {
        include snippets/cached.conf;
    }

	#The cart is for one visitor.
    location ^~ /cart { proxy_pass http://shop_app; proxy_cache off; }
    location = /checkout { proxy_pass http://shop_app; }

    location ~* \.(?:css|js|svg)$ {
        include snippets/cached.conf;
	#A level with one proxy_cache_valid inherits none;	{
        proxy_cache_valid 200 404 1d;
        expires 7d;
    }

    location ~ ^/(?:de|fr)/account {
        proxy_pass http://shop_app;
    }

    location /catalog/ {
        include snippets/cached.conf;
        proxy_cache_valid 200 30m;

        location ~ /preview$ {
            proxy_pass http://shop_app;
        }
    }
}
