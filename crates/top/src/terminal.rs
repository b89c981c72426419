//! The terminal: taken for as long as this program has the screen, and given back on every way out.

use std::io::{self, IsTerminal, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

/// Whether the screen is this program's. The hook for panics has no other way to know.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The screen, taken until it is dropped.
#[derive(Debug)]
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
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
        }));
        // From here on every way out gives back what was taken so far.
        let screen = Self { terminal: Terminal::new(CrosstermBackend::new(io::stdout()))? };
        enter()?;
        Ok(screen)
    }

    /// The terminal to draw on.
    pub fn terminal(&mut self) -> &mut Terminal<CrosstermBackend<Stdout>> {
        &mut self.terminal
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
        enter()?;
        self.terminal.clear()
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
