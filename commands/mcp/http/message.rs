//! HTTP/1.1, as much of it as one endpoint needs.

use std::io::{self, BufRead, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use crate::mcp::log::{self, Way};

/// Most bytes of a request line and headers together, and of a body.
///
/// Rule: docs/spec/mcp.md, section 12.
const HEAD_MAX: usize = 32 << 10;
pub const BODY_MAX: usize = 4 << 20;

#[derive(Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// Names in small letters.
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Whether the connection is to be used again.
    pub is_kept: bool,
}

/// Why there is no request to answer as one.
#[derive(Debug)]
pub enum Broken {
    /// The client is gone, or sends nothing more.
    Gone,
    /// To be answered with this status, and no more.
    Refused(u16),
}

impl From<io::Error> for Broken {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

impl Request {
    /// The one header of that name.
    ///
    /// # Errors
    /// If there are several: what one reads of them another may not.
    pub fn header(&self, name: &str) -> Result<Option<&str>, String> {
        let mut values = self.headers.iter().filter(|(known, _)| known == name);
        let value = values.next().map(|(_, value)| value.as_str());
        match values.next() {
            Some(_) => Err(format!("the header {name} comes twice")),
            None => Ok(value),
        }
    }

    /// The next request of a connection. `proceed` is what says that a body may be sent.
    ///
    /// # Errors
    /// [`Broken`]
    pub fn read(input: &mut impl BufRead, proceed: &mut impl Write) -> Result<Self, Broken> {
        let mut left = HEAD_MAX;
        let mut line = || -> Result<String, Broken> {
            let mut bytes = Vec::new();
            let count = input.by_ref().take(left as u64 + 1).read_until(b'\n', &mut bytes)?;
            if count == 0 {
                return Err(Broken::Gone);
            }
            left = left.checked_sub(count).ok_or(Broken::Refused(431))?;
            while bytes.last().is_some_and(|byte| matches!(byte, b'\r' | b'\n')) {
                bytes.pop();
            }
            String::from_utf8(bytes).map_err(|_| Broken::Refused(400))
        };
        let bad = || Broken::Refused(400);
        let first = line()?;
        let mut words = first.split(' ');
        let (Some(method), Some(path), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(bad());
        };
        if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
            return Err(Broken::Refused(505));
        }
        let mut headers = Vec::new();
        loop {
            let line = line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').ok_or_else(bad)?;
            if name.is_empty() || name.contains([' ', '\t']) {
                return Err(bad());
            }
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let path = path.split('?').next().unwrap_or(path).to_owned();
        let method = method.to_owned();
        let mut request = Self { method, path, headers, body: Vec::new(), is_kept: true };
        let header = |name: &str| request.header(name).map_err(|_| bad());
        let connection = header("connection")?.unwrap_or_default().to_ascii_lowercase();
        let is_kept = version == "HTTP/1.1" && connection != "close";
        let is_chunked = header("transfer-encoding")?.is_some();
        let length = header("content-length")?.map(str::parse::<usize>);
        let expects = header("expect")?.is_some();
        if is_chunked {
            return Err(Broken::Refused(411));
        }
        let length = length.transpose().map_err(|_| bad())?.unwrap_or(0);
        if length > BODY_MAX {
            return Err(Broken::Refused(413));
        }
        if expects {
            proceed.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let mut body = vec![0; length];
        input.read_exact(&mut body)?;
        (request.body, request.is_kept) = (body, is_kept);
        Ok(request)
    }
}

/// A response with a body that is whole.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

impl Response {
    pub fn new(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: String::new() }
    }

    pub fn json(status: u16, body: String) -> Self {
        let kind = ("Content-Type", "application/json".to_owned());
        Self { status, headers: vec![kind], body }
    }

    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut impl Write, is_kept: bool) -> io::Result<()> {
        let mut text = head(self.status, &self.headers);
        let connection = if is_kept { "keep-alive" } else { "close" };
        text.push_str(&format!("Connection: {connection}\r\n"));
        text.push_str(&format!("Content-Length: {}\r\n\r\n{}", self.body.len(), self.body));
        if !self.body.is_empty() {
            log::message(Way::Out, self.body.as_bytes());
        }
        out.write_all(text.as_bytes())?;
        out.flush()
    }
}

/// Most bytes of a refused request that are read for nothing, and how long they may take.
const REST_MAX: u64 = 64 << 20;
const REST_SLOW: Duration = Duration::from_secs(2);

/// Ends a connection of which not all was read: closed at once, it would be reset, and the answer lost
/// to a client that is still sending.
///
/// # Errors
/// Those of `stream`.
pub fn end(stream: &TcpStream, input: &mut impl Read) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(REST_SLOW))?;
    io::copy(&mut input.take(REST_MAX), &mut io::sink()).map(|_| ())
}

/// The head of a stream of events, which ends with the connection.
pub fn stream_head(headers: &[(&'static str, String)]) -> String {
    let mut text = head(200, headers);
    text.push_str("Content-Type: text/event-stream\r\nConnection: close\r\n\r\n");
    text
}

fn head(status: u16, headers: &[(&'static str, String)]) -> String {
    let reason = match status {
        200 => "OK",
        202 => "Accepted",
        204 => "No Content",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        411 => "Length Required",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        431 => "Request Header Fields Too Large",
        505 => "HTTP Version Not Supported",
        _ => "Service Unavailable",
    };
    let mut text = format!("HTTP/1.1 {status} {reason}\r\nCache-Control: no-store\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Request, Broken> {
        Request::read(&mut text.as_bytes(), &mut Vec::new())
    }

    #[test]
    fn a_request_is_read_to_the_end_of_its_body() {
        let text = "POST /mcp?x=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcdef";
        let request = read(text).unwrap();
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/mcp"));
        assert_eq!((request.body.as_slice(), request.is_kept), (&b"abc"[..], true));
        assert_eq!(request.header("host"), Ok(Some("a")));
        assert!(!read("GET / HTTP/1.1\r\nConnection: Close\r\n\r\n").unwrap().is_kept);
    }

    #[test]
    fn what_is_no_request_or_too_large_is_refused_with_its_status() {
        for (text, status) in [
            ("GET /\r\n\r\n".to_owned(), 400),
            ("GET / HTTP/2\r\n\r\n".to_owned(), 505),
            ("GET / HTTP/1.1\r\nno colon\r\n\r\n".to_owned(), 400),
            ("GET / HTTP/1.1\r\nA : b\r\n\r\n".to_owned(), 400),
            ("GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n".to_owned(), 400),
            ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned(), 411),
            (format!("GET / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", BODY_MAX + 1), 413),
            (format!("GET / HTTP/1.1\r\nA: {}\r\n\r\n", "x".repeat(HEAD_MAX)), 431),
        ] {
            let refused = read(&text);
            assert!(matches!(refused, Err(Broken::Refused(found)) if found == status), "{text}");
        }
        assert!(matches!(read(""), Err(Broken::Gone)));
        assert!(matches!(
            read("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nab"),
            Err(Broken::Gone)
        ));
    }
}
