//! A web server with a few fixed routes and no file access. Routes are below a random path, so that
//! other users of the machine, and pages of other origins, cannot guess them.
//!
//! It handles one request per connection, with a request head of at most 16 KiB. A malicious or
//! slow client costs a thread with a small stack for a few seconds at most.

use std::borrow::Cow;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Content security policy of a page: it may only load its own parts, and run its scripts,
/// WebAssembly and workers.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PLAIN: &str = "text/plain; charset=utf-8";

/// Maximum size of a request head, bytes; browsers send less than 2 KiB.
const MAX_HEAD: usize = 1 << 14;
/// Timeout for the request head, and for a stalled client while sending.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of simultaneous connections; further ones are closed.
const MAX_CLIENTS: usize = 1024;
/// Stack size of a connection thread, bytes.
const STACK: usize = 1 << 17;

/// The resource at one route.
#[derive(Clone, Debug)]
pub struct Part {
    /// The path below the random folder, starting with the slash.
    pub route: String,
    /// Content type.
    pub kind: &'static str,
    /// Content.
    pub body: Cow<'static, [u8]>,
}

/// A page on a port of 127.0.0.1.
pub struct Server {
    listener: TcpListener,
    port: u16,
    /// The random folder of all routes, after a slash.
    folder: String,
    parts: Vec<Part>,
}

/// A response: status with its reason, content type and content.
type Answer<'a> = (&'static str, &'static str, &'a [u8]);

impl Server {
    /// Binds `port`, or any free port for 0, to serve these parts.
    ///
    /// # Errors
    /// The system error if the port is not free or not allowed.
    pub fn bind(parts: Vec<Part>, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port))?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port, folder: format!("/{:016x}{:016x}", random(), random()), parts })
    }

    /// The address of the page.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}{}/", self.port, self.folder)
    }

    /// Serves requests for as long as the program runs.
    pub fn serve(&self) {
        let clients = AtomicUsize::new(0);
        thread::scope(|scope| {
            for stream in self.listener.incoming() {
                let Ok(stream) = stream else {
                    // for example too many open files: some will be closed soon
                    thread::sleep(Duration::from_millis(50));
                    continue;
                };
                if clients.load(Ordering::Relaxed) >= MAX_CLIENTS {
                    continue;
                }
                clients.fetch_add(1, Ordering::Relaxed);
                let handle = || {
                    // write errors only mean that the browser has left
                    let _ = self.handle_connection(stream);
                    clients.fetch_sub(1, Ordering::Relaxed);
                };
                let builder = thread::Builder::new().stack_size(STACK);
                if builder.spawn_scoped(scope, handle).is_err() {
                    clients.fetch_sub(1, Ordering::Relaxed);
                }
            }
        });
    }

    /// Reads a request and responds.
    fn handle_connection(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_write_timeout(Some(CLIENT_TIMEOUT))?;
        let head = read_head(&mut stream)?;
        let request = head.as_deref().map(Request::parse);
        let (status, kind, body) = match &request {
            None => ("431 Request Header Fields Too Large", PLAIN, &b"too many headers\n"[..]),
            Some(None) => ("400 Bad Request", PLAIN, &b"this is no request\n"[..]),
            Some(Some(request)) => self.find(request),
        };
        // the length lets the page show its progress
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
             Content-Security-Policy: {POLICY}\r\nCross-Origin-Resource-Policy: same-origin\r\n\
             X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Cache-Control: no-store\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(answer.as_bytes())?;
        let is_head = matches!(&request, Some(Some(request)) if request.method == "HEAD");
        if !is_head {
            stream.write_all(body)?;
        }
        stream.shutdown(Shutdown::Write)?;
        // closing a connection with unread data may discard the response
        stream.set_read_timeout(Some(Duration::from_millis(200)))?;
        let mut rest = [0; 4096];
        for _ in 0..16 {
            if stream.read(&mut rest)? == 0 {
                break;
            }
        }
        Ok(())
    }

    fn find(&self, request: &Request<'_>) -> Answer<'_> {
        if !self.is_for_this_host(request) {
            let body = &b"this page is for 127.0.0.1 only\n"[..];
            return ("421 Misdirected Request", PLAIN, body);
        }
        if !matches!(request.method, "GET" | "HEAD") {
            return ("405 Method Not Allowed", PLAIN, b"this page can only be read\n");
        }
        let route = request.target.split(['?', '#']).next().unwrap_or_default();
        let route = route.strip_prefix(&self.folder);
        match self.parts.iter().find(|part| Some(part.route.as_str()) == route) {
            Some(part) => ("200 OK", part.kind, &part.body),
            None => ("404 Not Found", PLAIN, b"there is no such page\n"),
        }
    }

    /// Whether the request's host is this machine: prevents DNS rebinding, by which other pages
    /// could read the recording.
    fn is_for_this_host(&self, request: &Request<'_>) -> bool {
        let own = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        matches!(request.hosts[..], [host] if own.iter().any(|own| own == host))
    }
}

/// An unguessable number: hash map keys come from the system's random number generator.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// The relevant parts of a request head.
struct Request<'a> {
    method: &'a str,
    target: &'a str,
    hosts: Vec<&'a str>,
}

impl<'a> Request<'a> {
    /// `None` if it is not an HTTP/1 head.
    fn parse(head: &'a [u8]) -> Option<Self> {
        let mut lines = str::from_utf8(head).ok()?.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if !version.starts_with("HTTP/1.") || words.next().is_some() {
            return None;
        }
        let mut hosts = Vec::new();
        for line in lines {
            let (name, value) = line.split_once(':')?;
            if name.eq_ignore_ascii_case("host") {
                hosts.push(value.trim());
            }
        }
        Some(Self { method, target, hosts })
    }
}

/// The head of a request without the empty line that ends it; `None` if it is too long.
fn read_head(stream: &mut TcpStream) -> io::Result<Option<Vec<u8>>> {
    const END: &[u8] = b"\r\n\r\n";
    let start = Instant::now();
    let mut head = Vec::new();
    let mut buffer = [0; 2048];
    while head.len() < MAX_HEAD {
        let left = CLIENT_TIMEOUT.checked_sub(start.elapsed()).filter(|left| !left.is_zero());
        stream.set_read_timeout(Some(left.ok_or(io::ErrorKind::TimedOut)?))?;
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // the end may span two reads
        let from = head.len().saturating_sub(END.len());
        head.extend_from_slice(&buffer[..count]);
        if let Some(end) = head[from..].windows(END.len()).position(|window| window == END) {
            head.truncate(from + end);
            return Ok(Some(head));
        }
    }
    Ok(None)
}
