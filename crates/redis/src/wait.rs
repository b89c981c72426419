//! Waiting for commands, without a look at what is waited for.
//!
//! What lies in the list may be 512 MiB. `BLMOVE` is the call that wakes, and it answers with the value:
//! so the server is told to skip that answer, and a script behind it on the same connection returns what
//! may be read. It runs when the wait is over, so a command needs no round trip more.

use std::sync::Arc;

use redis::{Connection, RedisError, Value};

use crate::connect::{BLOCK, Way};
use crate::keys::{Keys, Source};
use crate::scripts::{Scripts, taken};
use crate::store::{Lost, Taken};

/// A connection that waits: to one server, also of a cluster, whose lists of commands share a slot.
pub struct Bell {
    way: Arc<Way>,
    keys: Arc<Keys>,
    scripts: Scripts,
    link: Option<Connection>,
    /// Where the lists are, in a cluster.
    at: Option<(String, u16)>,
}

impl Bell {
    pub fn new(way: Arc<Way>, keys: Arc<Keys>) -> Self {
        Self { way, keys, scripts: Scripts::new(), link: None, at: None }
    }

    pub fn reconnect(&mut self) -> Result<(), Lost> {
        let at = self.at.as_ref().map(|(host, port)| (host.as_str(), *port));
        let connected = self.way.connect_to_one(at).and_then(|mut link| {
            self.scripts.load(&mut link)?;
            Ok(link)
        });
        match connected {
            Ok(link) => {
                self.link = Some(link);
                Ok(())
            }
            Err(error) => Err(self.lost(&error)),
        }
    }

    /// Waits for a command, and moves it to the processing list. Nothing after a while without any.
    pub fn wait(&mut self, source: Source) -> Result<Taken, Lost> {
        let mut skip = redis::cmd("CLIENT");
        skip.arg("REPLY").arg("SKIP");
        let mut wait = redis::cmd("BLMOVE");
        wait.arg(self.keys.commands(source)).arg(self.keys.processing(source));
        wait.arg("RIGHT").arg("LEFT").arg(BLOCK.as_secs());
        let waited = self.scripts.waited(&self.keys, source);
        let Some(link) = &mut self.link else { return Err(Lost("not connected".to_owned())) };
        let calls = [skip, wait, waited].map(|call| call.get_packed_command()).concat();
        let answer = link.send_packed_command(&calls).and_then(|()| link.recv_response());
        answer.and_then(Value::extract_error).and_then(taken).map_err(|error| self.lost(&error))
    }

    /// Gives the connection up: its next answer may belong to an abandoned wait.
    fn lost(&mut self, error: &RedisError) -> Lost {
        self.link = None;
        self.at = error.redirect_node().and_then(|(address, _)| {
            let (host, port) = address.rsplit_once(':')?;
            Some((host.to_owned(), port.parse().ok()?))
        });
        Lost(error.to_string())
    }
}
