vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "@ORIGIN_PORT@"; .max_connections = 10000; }
sub vcl_recv { unset req.http.Cookie; }
