//! Characters and colours: what a terminal can show, and what its reader can tell apart.

use millpond_overview::SegmentKind;
use ratatui::style::{Color, Modifier, Style};

/// How much colour a terminal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// None, or none are wanted.
    None,
    /// The eight that every terminal has.
    Few,
    /// 256.
    Many,
}

/// How everything is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Only ASCII characters.
    pub ascii: bool,
    pub colours: Colours,
}

/// What a part of a text or of a bar is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Strong,
    Faint,
    Good,
    Careful,
    Bad,
    Selected,
    /// A line across the screen that divides it.
    Band,
    Part(Part),
}

/// What fills a card, in as many kinds as people tell apart at a glance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Models,
    Tensors,
    Kept,
    Contexts,
    Groups,
    Others,
    Free,
}

impl Part {
    pub const ALL: [Self; 7] = [
        Self::Models,
        Self::Tensors,
        Self::Kept,
        Self::Contexts,
        Self::Groups,
        Self::Others,
        Self::Free,
    ];

    pub const fn of(kind: SegmentKind) -> Self {
        match kind {
            SegmentKind::Version | SegmentKind::SharedSlabs => Self::Models,
            SegmentKind::Tensor | SegmentKind::Tensors | SegmentKind::Ipc => Self::Tensors,
            SegmentKind::SlabRoom | SegmentKind::Recycled | SegmentKind::Unlisted => Self::Kept,
            SegmentKind::HostContext | SegmentKind::MoverContext => Self::Contexts,
            SegmentKind::Group
            | SegmentKind::Cache
            | SegmentKind::CacheIdle
            | SegmentKind::Contexts => Self::Groups,
            SegmentKind::Other => Self::Others,
            SegmentKind::Free => Self::Free,
        }
    }

    pub const fn word(self) -> &'static str {
        match self {
            Self::Models => "models",
            Self::Tensors => "tensors",
            Self::Kept => "kept",
            Self::Contexts => "contexts",
            Self::Groups => "groups",
            Self::Others => "others",
            Self::Free => "free",
        }
    }

    pub const fn describe(self) -> &'static str {
        match self {
            Self::Models => "versions of models, in the pond",
            Self::Tensors => "tensors, in the pond",
            Self::Kept => "slabs' room beside tensors, and slabs kept for their owners",
            Self::Contexts => "CUDA contexts of the pond's movers and hosts",
            Self::Groups => "programs of groups, with their caches",
            Self::Others => "programs that neither the pond nor a group knows",
            Self::Free => "nobody's",
        }
    }

    /// The letter for it, where there are no colours and no patterns.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::Models => "M",
            Self::Tensors => "T",
            Self::Kept => "k",
            Self::Contexts => "c",
            Self::Groups => "G",
            Self::Others => "o",
            Self::Free => ".",
        }
    }

    const fn pattern(self) -> &'static str {
        match self {
            Self::Models => "█",
            Self::Tensors => "▓",
            Self::Kept => "▁",
            Self::Contexts => "▪",
            Self::Groups => "▒",
            Self::Others => "░",
            Self::Free => "·",
        }
    }

    /// The colours of Okabe and Ito, which the colour-blind tell apart, as near as a terminal has them.
    const fn colour(self, many: bool) -> Color {
        match (self, many) {
            (Self::Models, true) => Color::Indexed(214),
            (Self::Tensors, true) => Color::Indexed(32),
            (Self::Kept | Self::Contexts, true) => Color::Indexed(117),
            (Self::Groups, true) => Color::Indexed(36),
            (Self::Others, true) => Color::Indexed(175),
            (Self::Free, true) => Color::Indexed(242),
            (Self::Models, false) => Color::Yellow,
            (Self::Tensors, false) => Color::Blue,
            (Self::Kept | Self::Contexts, false) => Color::Cyan,
            (Self::Groups, false) => Color::Green,
            (Self::Others, false) => Color::Magenta,
            (Self::Free, false) => Color::Reset,
        }
    }
}

impl Look {
    /// How it is drawn where there is no terminal.
    pub const PLAIN: Self = Self { ascii: false, colours: Colours::None };

    pub const fn part(&self, part: Part) -> &'static str {
        if self.ascii { part.letter() } else { part.pattern() }
    }

    /// What stands where a text was cut.
    pub const fn cut(&self) -> &'static str {
        if self.ascii { "~" } else { "…" }
    }

    pub const fn dot(&self) -> &'static str {
        if self.ascii { " | " } else { " · " }
    }

    /// Behind the column that the rows are sorted by.
    pub const fn arrow(&self, rising: bool) -> &'static str {
        match (self.ascii, rising) {
            (true, true) => "^",
            (true, false) => "v",
            (false, true) => "▲",
            (false, false) => "▼",
        }
    }

    /// Corners, sides and edges of a box.
    pub const fn frame(&self) -> [&'static str; 6] {
        if self.ascii {
            ["+", "+", "+", "+", "-", "|"]
        } else {
            ["┌", "┐", "└", "┘", "─", "│"]
        }
    }

    pub fn style(&self, tone: Tone) -> Style {
        let many = match self.colours {
            Colours::None => None,
            Colours::Few => Some(false),
            Colours::Many => Some(true),
        };
        let plain = Style::new();
        let coloured = |few: Color, index: u8| match many {
            None => plain,
            Some(false) => plain.fg(few),
            Some(true) => plain.fg(Color::Indexed(index)),
        };
        match tone {
            Tone::Plain => plain,
            Tone::Strong => plain.add_modifier(Modifier::BOLD),
            Tone::Faint => plain.add_modifier(Modifier::DIM),
            Tone::Good => coloured(Color::Cyan, 36),
            Tone::Careful => coloured(Color::Yellow, 214).add_modifier(Modifier::BOLD),
            Tone::Bad => coloured(Color::Red, 202).add_modifier(Modifier::BOLD),
            Tone::Selected | Tone::Band => plain.add_modifier(Modifier::REVERSED),
            Tone::Part(part) => many.map_or(plain, |many| plain.fg(part.colour(many))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_can_be_told_apart_without_colour() {
        for ascii in [false, true] {
            let look = Look { ascii, colours: Colours::None };
            let mut glyphs = Part::ALL.map(|part| look.part(part));
            assert!(!ascii || glyphs.iter().all(|glyph| glyph.is_ascii()));
            glyphs.sort_unstable();
            assert!(glyphs.windows(2).all(|pair| pair[0] != pair[1]), "{glyphs:?}");
        }
        for kind in SegmentKind::ALL {
            assert!(Part::ALL.contains(&Part::of(kind)));
        }
    }
}
