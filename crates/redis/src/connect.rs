//! Ways to Redis: a server by TCP, TLS or a unix socket, what Sentinels watch, or a cluster.

use std::time::Duration;

use millpond_console::companions::ServerArgs;
use redis::cluster::{ClusterClient, ClusterConnection};
use redis::sentinel::{SentinelClient, SentinelClientBuilder, SentinelServerType};
use redis::{
    Client, Cmd, Connection, ConnectionAddr, ConnectionInfo, ConnectionLike, IntoConnectionInfo,
};
use redis::{Pipeline, RedisResult, TlsMode, Value};

/// A server that does not take a connection in this time is looked for elsewhere.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a call that waits for a command waits at the server. A bridge that ends waits no longer.
pub const BLOCK: Duration = Duration::from_secs(1);
/// A server that says nothing for so long is gone; longer than [`BLOCK`], and than a slow script.
const ANSWER: Duration = Duration::from_secs(10);
/// What a URL of a Sentinel begins with.
const SENTINEL: &str = "redis-sentinel://";
const SENTINEL_TLS: &str = "rediss-sentinel://";
/// The port of Sentinels.
const SENTINEL_PORT: u16 = 26379;

/// How to connect.
#[derive(Clone, Debug)]
pub enum Way {
    One(ConnectionInfo),
    Sentinels { sentinels: Vec<ConnectionInfo>, name: String },
    Cluster(Vec<ConnectionInfo>),
}

/// A connection.
pub enum Link {
    One(Connection),
    Cluster(Box<ClusterConnection>),
}

/// A URL that cannot be used. It is not repeated: it may have a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    #[error("no URL of a Redis was given")]
    None,
    #[error("URL {place} cannot be read: {reason}")]
    Unreadable { place: usize, reason: String },
    #[error("several URLs need `--cluster` or `--sentinel NAME`")]
    Several,
    #[error("the URL of a Sentinel needs the name of what it watches: redis-sentinel://host/NAME")]
    NoName,
}

impl Way {
    /// What the command line names. Nothing is connected yet.
    pub fn new(args: &ServerArgs) -> Result<Self, UrlError> {
        let urls: Vec<&str> =
            args.url.iter().map(|url| url.trim()).filter(|url| !url.is_empty()).collect();
        let Some(first) = urls.first() else { return Err(UrlError::None) };
        let mut name = args.sentinel.clone();
        if let Some(in_url) = sentinel_name(first) {
            name = name.or(in_url);
            if name.is_none() {
                return Err(UrlError::NoName);
            }
        }
        let read = |(at, url): (usize, &&str)| {
            let plain = match name {
                Some(_) => sentinel_url(url),
                None => (*url).to_owned(),
            };
            plain
                .into_connection_info()
                .map_err(|error| UrlError::Unreadable { place: at + 1, reason: error.to_string() })
        };
        let infos = urls.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
        match (name, infos) {
            (Some(name), sentinels) => Ok(Way::Sentinels { sentinels, name }),
            (None, infos) if args.cluster => Ok(Way::Cluster(infos)),
            (None, mut infos) if infos.len() == 1 => {
                infos.pop().map(Way::One).ok_or(UrlError::None)
            }
            (None, _) => Err(UrlError::Several),
        }
    }

    pub fn is_cluster(&self) -> bool {
        matches!(self, Way::Cluster(_))
    }

    /// The address, without who connects.
    pub fn shown(&self) -> String {
        let infos = match self {
            Way::One(info) => std::slice::from_ref(info),
            Way::Sentinels { sentinels, .. } => sentinels,
            Way::Cluster(infos) => infos,
        };
        let addresses: Vec<String> = infos.iter().map(|info| info.addr().to_string()).collect();
        match self {
            Way::Sentinels { name, .. } => format!("'{name}' of {}", addresses.join(", ")),
            _ => addresses.join(", "),
        }
    }

    /// A connection to one server: of a cluster to the one at `at`, as it says itself, or to any.
    pub fn connect_to_one(&self, at: Option<(&str, u16)>) -> RedisResult<Connection> {
        match self {
            Way::One(info) => one(&Client::open(info.clone())?),
            Way::Sentinels { sentinels, name } => one(&sentinel(sentinels, name)?.get_client()?),
            Way::Cluster(infos) => {
                let mut refused = redis::RedisError::from((redis::ErrorKind::Io, "no URL"));
                for info in infos {
                    let info = match at {
                        Some((host, port)) => moved(info, host, port),
                        None => info.clone(),
                    };
                    match Client::open(info).and_then(|client| one(&client)) {
                        Err(error) => refused = error,
                        connected => return connected,
                    }
                }
                Err(refused)
            }
        }
    }

    pub fn connect(&self) -> RedisResult<Link> {
        match self {
            Way::One(_) | Way::Sentinels { .. } => self.connect_to_one(None).map(Link::One),
            Way::Cluster(infos) => {
                let builder = ClusterClient::builder(infos.clone())
                    .connection_timeout(CONNECT)
                    .response_timeout(ANSWER)
                    .retries(2);
                let connection = builder.build()?.get_connection()?;
                connection.set_read_timeout(Some(ANSWER))?;
                connection.set_write_timeout(Some(ANSWER))?;
                Ok(Link::Cluster(Box::new(connection)))
            }
        }
    }
}

fn one(client: &Client) -> RedisResult<Connection> {
    let connection = client.get_connection_with_timeout(CONNECT)?;
    connection.set_read_timeout(Some(ANSWER))?;
    connection.set_write_timeout(Some(ANSWER))?;
    Ok(connection)
}

/// The same way to another server of a cluster.
fn moved(info: &ConnectionInfo, host: &str, port: u16) -> ConnectionInfo {
    let mut addr = info.addr().clone();
    if let ConnectionAddr::Tcp(at, number) | ConnectionAddr::TcpTls { host: at, port: number, .. } =
        &mut addr
    {
        *number = port;
        // A server that does not know its own name means the one that was asked.
        if !host.is_empty() {
            host.clone_into(at);
        }
    }
    info.clone().set_addr(addr)
}

/// Whoever may speak to the Sentinels may speak to what they watch.
fn sentinel(infos: &[ConnectionInfo], name: &str) -> RedisResult<SentinelClient> {
    let addresses = infos.iter().map(|info| info.addr().clone());
    let mut builder = SentinelClientBuilder::new(addresses, name, SentinelServerType::Master)?;
    if let Some(first) = infos.first() {
        let settings = first.redis_settings();
        builder = builder.set_client_to_redis_db(settings.db());
        if let Some(user) = settings.username() {
            builder = builder.set_client_to_redis_username(user);
            builder = builder.set_client_to_sentinel_username(user);
        }
        if let Some(password) = settings.password() {
            builder = builder.set_client_to_redis_password(password);
            builder = builder.set_client_to_sentinel_password(password);
        }
        if matches!(first.addr(), redis::ConnectionAddr::TcpTls { .. }) {
            builder = builder.set_client_to_redis_tls_mode(TlsMode::Secure);
            builder = builder.set_client_to_sentinel_tls_mode(TlsMode::Secure);
        }
    }
    builder.build()
}

/// The name at the end of a Sentinel's URL; the inner one is none where the URL has none.
#[expect(clippy::option_option, reason = "no URL of a Sentinel, or one without a name")]
fn sentinel_name(url: &str) -> Option<Option<String>> {
    let rest = url.strip_prefix(SENTINEL).or_else(|| url.strip_prefix(SENTINEL_TLS))?;
    let name = rest.split_once('/').map(|(_, path)| path.split('/').next().unwrap_or_default());
    Some(name.filter(|name| !name.is_empty()).map(str::to_owned))
}

/// The URL of a Sentinel as the library reads one, without the name and with its port.
fn sentinel_url(url: &str) -> String {
    let (scheme, rest) = if let Some(rest) = url.strip_prefix(SENTINEL) {
        ("redis", rest)
    } else if let Some(rest) = url.strip_prefix(SENTINEL_TLS) {
        ("rediss", rest)
    } else {
        return url.to_owned();
    };
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = if has_port { String::new() } else { format!(":{SENTINEL_PORT}") };
    let db = path.split_once('/').map(|(_, db)| format!("/{db}")).unwrap_or_default();
    format!("{scheme}://{authority}{port}{db}")
}

impl Link {
    pub fn as_connection(&mut self) -> &mut dyn ConnectionLike {
        match self {
            Link::One(connection) => connection,
            Link::Cluster(connection) => connection.as_mut(),
        }
    }

    /// Makes the calls; what each of them gave, errors of the server among them.
    pub fn all(&mut self, commands: Vec<Cmd>) -> RedisResult<Vec<Value>> {
        match self {
            Link::One(connection) => {
                let mut pipeline = Pipeline::with_capacity(commands.len());
                pipeline.ignore_errors();
                for command in commands {
                    pipeline.add_command(command);
                }
                pipeline.query(connection)
            }
            Link::Cluster(connection) => {
                let mut values = Vec::with_capacity(commands.len());
                for command in commands {
                    values.push(one_of_cluster(connection, &command)?);
                }
                Ok(values)
            }
        }
    }
}

/// An answer of the server that says no is a value; a connection that is gone is an error.
fn one_of_cluster(connection: &mut ClusterConnection, command: &Cmd) -> RedisResult<Value> {
    match connection.req_command(command) {
        Err(error) => match error.clone().into_server_errors() {
            Some(errors) => match errors.first() {
                Some((_, error)) => Ok(Value::ServerError(error.clone())),
                None => Err(error),
            },
            None => Err(error),
        },
        value => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(url: &[&str], cluster: bool, sentinel: Option<&str>) -> Result<Way, UrlError> {
        let url = url.iter().map(|url| (*url).to_owned()).collect();
        let sentinel = sentinel.map(str::to_owned);
        Way::new(&ServerArgs { url, sentinel, cluster, prefix: String::new() })
    }

    #[test]
    fn every_kind_of_server_can_be_named() {
        assert!(matches!(way(&["redis://h:1"], false, None), Ok(Way::One(_))));
        assert!(matches!(way(&["unix:///tmp/x.sock"], false, None), Ok(Way::One(_))));
        assert!(matches!(way(&["rediss://u:p@h"], false, None), Ok(Way::One(_))));
        let two = ["redis://h:1", "redis://h:2"];
        assert!(matches!(way(&two, true, None), Ok(Way::Cluster(all)) if all.len() == 2));
        assert!(matches!(way(&two, false, Some("m")), Ok(Way::Sentinels { .. })));
        let Ok(Way::Sentinels { sentinels, name }) =
            way(&["redis-sentinel://u:p@h/main/2"], false, None)
        else {
            panic!("no Sentinels");
        };
        assert_eq!(name, "main");
        assert_eq!(sentinels[0].addr().to_string(), "h:26379");
        assert_eq!(sentinels[0].redis_settings().db(), 2);
        assert_eq!(way(&two, false, None).unwrap_err(), UrlError::Several);
        assert_eq!(way(&[], false, None).unwrap_err(), UrlError::None);
        assert_eq!(way(&["redis-sentinel://h"], false, None).unwrap_err(), UrlError::NoName);
    }

    #[test]
    fn no_password_is_ever_shown() {
        let shown = way(&["redis://user:secret@h:1"], false, None).unwrap().shown();
        assert!(!shown.contains("secret") && shown.contains("h:1"), "{shown}");
        let error = way(&["http://user:secret@h:1"], false, None).unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    }
}
