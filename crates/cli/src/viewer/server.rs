//! A web server that knows a few routes and no files.

use std::error::Error;

use tiny_http::{Header, Method, Request, Response, Server, StatusCode};

/// The page, by route: content type and content. The recording is added to them.
const PAGE: [(&str, &str, &[u8]); 8] = [
    ("/", "text/html; charset=utf-8", include_bytes!("page/index.html")),
    ("/viewer.css", "text/css; charset=utf-8", include_bytes!("page/viewer.css")),
    ("/viewer.js", SCRIPT, include_bytes!("page/viewer.js")),
    ("/playback.js", SCRIPT, include_bytes!("page/playback.js")),
    ("/plot.js", SCRIPT, include_bytes!("page/plot.js")),
    ("/stage.js", SCRIPT, include_bytes!("page/stage.js")),
    ("/three.js", SCRIPT, include_bytes!("page/three.js")),
    ("/icon.svg", "image/svg+xml", include_bytes!("page/icon.svg")),
];

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// What the page may do: nothing but load its own parts.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Requests answered at the same time, so that a slow one holds up no other.
const THREADS: usize = 4;

/// The page of one recording on a port of 127.0.0.1.
pub struct Viewer {
    server: Server,
    port: u16,
    playback: Vec<u8>,
}

impl Viewer {
    /// Takes `port`, or any that is free for 0. `playback` is what [`playback`](super::playback())
    /// made of the recording.
    ///
    /// # Errors
    /// What the system says when the port is not free or not allowed.
    pub fn bind(playback: Vec<u8>, port: u16) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let server = Server::http(("127.0.0.1", port))?;
        let bound = server.server_addr().to_ip().ok_or("it is not an address of the network")?;
        Ok(Self { server, port: bound.port(), playback })
    }

    /// Where the page is.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Answers requests for as long as the program runs.
    pub fn serve(&self) {
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    while let Ok(request) = self.server.recv() {
                        // a browser that left does not need its answer
                        let _ = self.answer(request);
                    }
                });
            }
        });
    }

    fn answer(&self, request: Request) -> std::io::Result<()> {
        let (status, kind, body) = self.find(&request);
        let headers = [
            ("Content-Type", kind),
            ("Content-Security-Policy", POLICY),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cache-Control", "no-store"),
        ];
        let headers = headers
            .iter()
            .filter_map(|(name, value)| Header::from_bytes(name.as_bytes(), value.as_bytes()).ok());
        let status = StatusCode(status);
        let answer = Response::new(status, headers.collect(), body, Some(body.len()), None);
        // its length is known, so that the page can show how much has come
        request.respond(answer.with_chunked_threshold(usize::MAX))
    }

    /// Status, content type and content.
    fn find(&self, request: &Request) -> (u16, &'static str, &[u8]) {
        const PLAIN: &str = "text/plain; charset=utf-8";
        if !self.is_meant(request) {
            return (421, PLAIN, b"this page is for 127.0.0.1 only\n");
        }
        if !matches!(request.method(), Method::Get | Method::Head) {
            return (405, PLAIN, b"this page can only be read\n");
        }
        let route = request.url().split(['?', '#']).next().unwrap_or_default();
        if route == "/recording" {
            return (200, "application/octet-stream", &self.playback);
        }
        match PAGE.iter().find(|(known, ..)| *known == route) {
            Some((_, kind, body)) => (200, kind, body),
            None => (404, PLAIN, b"there is no such page\n"),
        }
    }

    /// Whether the browser asked for this machine by its own name: a page from elsewhere whose name
    /// was made to lead here is not to read the recording.
    fn is_meant(&self, request: &Request) -> bool {
        let hosts = request.headers().iter().filter(|h| h.field.equiv("Host"));
        let mut hosts = hosts.map(|h| h.value.as_str());
        let own = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        matches!((hosts.next(), hosts.next()), (Some(host), None) if own.iter().any(|o| o == host))
    }
}
