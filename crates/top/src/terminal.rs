//! The terminal: taken for as long as this program has the screen, and given back on every way out.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::backend::{Backend, ClearType, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::layout::Rect;

/// Whether the screen is this program's. The hook for panics has no other way to know.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// What the runtime of Rust ends with after a panic.
const PANICKED: i32 = 101;

/// The screen, taken until it is dropped.
///
/// Ratatui's `Terminal` was refused: to clear itself it asks the terminal where its cursor is, and the answer
/// would go to the thread that reads keys.
#[derive(Debug)]
pub struct Screen {
    backend: CrosstermBackend<BufWriter<Stdout>>,
    /// What is on it; nothing where others may have drawn.
    shown: Option<Buffer>,
}

impl Screen {
    /// Takes the terminal of standard output.
    ///
    /// # Errors
    /// What the terminal says.
    pub fn take() -> io::Result<Self> {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            previous(panic);
            // Whichever thread it was: without it the screen would show what is not so.
            std::process::exit(PANICKED);
        }));
        // From here on every way out gives back what was taken so far.
        let backend = CrosstermBackend::new(BufWriter::new(io::stdout()));
        let screen = Self { backend, shown: None };
        enter()?;
        Ok(screen)
    }

    /// Draws what differs from what is there.
    ///
    /// # Errors
    /// What the terminal says.
    pub fn draw(
        &mut self,
        (width, height): (u16, u16),
        fill: impl FnOnce(&mut Buffer),
    ) -> io::Result<()> {
        let area = Rect { x: 0, y: 0, width, height };
        let mut next = Buffer::empty(area);
        fill(&mut next);
        let shown = match self.shown.take().filter(|shown| shown.area == area) {
            Some(shown) => shown,
            None => {
                self.backend.clear_region(ClearType::All)?;
                Buffer::empty(area)
            }
        };
        self.backend.draw(shown.diff(&next).into_iter())?;
        Backend::flush(&mut self.backend)?;
        self.shown = Some(next);
        Ok(())
    }

    /// Gives the terminal to the shell, stops this process until it is continued, and takes the terminal
    /// again.
    ///
    /// # Errors
    /// What the terminal or the system says.
    pub fn suspend(&mut self) -> io::Result<()> {
        give_back();
        signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP)?;
        self.resume()
    }

    /// Takes the terminal again after this process was stopped by others, who may have drawn on it.
    ///
    /// # Errors
    /// What the terminal says.
    pub fn resume(&mut self) -> io::Result<()> {
        self.shown = None;
        enter()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Whether this program has a terminal to read keys from and to draw on.
pub fn is_there() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Whether the terminal has not gone away meanwhile.
pub fn is_still_there() -> bool {
    rustix::termios::tcgetattr(io::stdout()).is_ok()
}

/// Columns and rows.
///
/// # Errors
/// What the terminal says.
pub fn size() -> io::Result<(u16, u16)> {
    ratatui::crossterm::terminal::size()
}

fn enter() -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, Hide)
}

/// Gives back what was taken. There is nobody to tell what goes wrong here: the terminal is gone.
fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
        let _ = io::stdout().flush();
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, OpenOptions};
    use std::io::Read;
    use std::os::fd::OwnedFd;
    use std::process::{Command, Stdio};

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{LocalModes, tcgetattr};

    use super::*;

    /// Names the test that is to take the terminal and panic.
    const CHILD: &str = "MILLPOND_TOP_TEST_PANICS";

    #[test]
    fn a_panic_of_any_thread_gives_the_terminal_back_first() {
        if std::env::var_os(CHILD).is_some() {
            let _screen = Screen::take().unwrap();
            let _ = std::thread::spawn(|| panic!("on purpose")).join();
            unreachable!("the process has ended");
        }
        let pty = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&pty).unwrap();
        unlockpt(&pty).unwrap();
        let name = ptsname(&pty, Vec::new()).unwrap().into_string().unwrap();
        let open = || OpenOptions::new().read(true).write(true).open(&name).unwrap();
        let terminal = open();
        let before = tcgetattr(&terminal).unwrap();
        assert!(before.local_modes.contains(LocalModes::ICANON | LocalModes::ECHO));
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "terminal::tests::a_panic_of_any_thread_gives_the_terminal_back_first",
            ])
            .arg("--nocapture")
            .env(CHILD, "1")
            .stdin(Stdio::from(open()))
            .stdout(Stdio::from(open()))
            .stderr(Stdio::from(open()))
            .spawn()
            .unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(PANICKED));
        let after = tcgetattr(&terminal).unwrap();
        assert_eq!(after.local_modes, before.local_modes);
        assert_eq!(after.input_modes, before.input_modes);
        let said = said(pty, terminal);
        let place = |text: &str| said.find(text).unwrap_or_else(|| panic!("no {text:?}: {said:?}"));
        assert!(place("\u{1b}[?1049h") < place("\u{1b}[?1049l"));
        assert!(place("\u{1b}[?1049l") < place("on purpose"), "people read why");
    }

    /// All that was written to the terminal.
    fn said(pty: OwnedFd, mut terminal: File) -> String {
        const END: &str = "that is all";
        write!(terminal, "{END}").unwrap();
        let (mut pty, mut said) = (File::from(pty), Vec::new());
        let mut bytes = [0; 4096];
        while !said.ends_with(END.as_bytes()) {
            let count = pty.read(&mut bytes).unwrap();
            said.extend_from_slice(&bytes[..count]);
        }
        String::from_utf8_lossy(&said).into_owned()
    }
}
